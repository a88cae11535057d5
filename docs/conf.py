"""How the site is made: what Sphinx needs to know, and where each page stands (`site_sections`)."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from setveil.base.version import __version__

project = "setveil"
author = "The setveil developers"
copyright = author  # noqa: A001  (Sphinx calls it so)
version = release = __version__
root_doc = "index"
exclude_patterns = ["examples", "templates", "extensions", "sql"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "extensions.gallery",
    "extensions.sections",
    "extensions.moved",
    "extensions.outside",
    "extensions.commands",
    "extensions.names",
    "extensions.keys",
    "extensions.screen_readers",
]
templates_path = ["templates"]
smartquotes = False  # two dashes are an option

# Pages: Markdown that reads well where it lies. Anchors of headings are those that GitHub makes.
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 5
suppress_warnings = ["myst.header"]  # pages made by setveil's own tests may begin anywhere

# Which page stands under which. A page that is in no list, or a list that names no page, is an error.
site_sections = {
    "index": [
        "Start <start>",
        "Guides <guides>",
        "Studio <studio>",
        "Understand <understand>",
        "Reference <reference>",
        "Research <research>",
        "Develop <develop>",
    ],
    "start": ["ten_minutes", "which_promise"],
    "guides": [
        "howto/read_your_file", "hierarchies", "tables", "howto/check_a_release", "query", "series", "scale",
        "cases/baskets", "cases/patients",
    ],
    "tables": ["facts"],
    "query": ["reconstruct"],
    "studio": ["report"],
    "understand": ["risk", "inference", "counts", "why", "gallery/index"],
    "reference": [
        "cli", "commands/index", "python", "api/index", "formats", "record", "verify", "measures", "glossary",
        "genindex", "project/changes",
    ],
    "research": [
        "algorithms", "exact", "exact_proof", "compare", "results", "own_method",
    ],
    "algorithms": ["searches", "classes", "policies", "suppression", "groups", "table_methods"],
    "develop": ["project/contributing", "project/security"],
}  # fmt: skip

site_moved = "moved.toml"  # where the words of former pages are now

# Pages that describe a command, besides those that name its options.
site_commands = {
    "demo": ["start"],
    "read": ["howto/read_your_file"],
    "anonymize": ["ten_minutes", "algorithms", "cli", "tables", "facts"],
    "apply": ["series"],
    "verify": ["verify", "howto/check_a_release"],
    "checker": ["howto/check_a_release"],
    "certify": ["exact"],
    "warm": ["cli"],
    "measure": ["measures"],
    "query": ["query"],
    "why": ["why"],
    "trace": ["own_method"],
    "moles": ["suppression"],
    "risk": ["risk"],
    "attack": ["risk"],
    "evidence": ["report"],
    "explore": ["which_promise"],
    "compare": ["compare"],
    "recommend": ["algorithms"],
    "reconstruct": ["reconstruct"],
    "studio": ["studio"],
    "convert": ["formats"],
    "algorithms": ["algorithms"],
    "hierarchy": ["hierarchies"],
    "policy": ["policies"],
    "series": ["series"],
}

# Sections that describe the keys of a file: each key gets an anchor (page, title of the section, prefix).
site_keys = [
    ("record", "about.json", "about"),
    ("record", "report.json", "report"),
    ("studio", "project.toml", "project"),
    ("compare", "The study file", "study"),
    ("compare", "The parameters", "parameter"),
]

# The API, from docstrings as numpydoc has them.
autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"  # the section Parameters says more
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "setveil"
nitpick_ignore_regex = [
    ("py:class", ".*")
]  # types of parameters are prose; names that lead somewhere are py:obj

# The gallery: one script, one question. What fails, or warns, fails the build.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("setveil",),
    "reference_url": {"setveil": None},
    "reset_modules": ("matplotlib", "extensions.gallery.alone"),
    "reset_modules_order": "both",
    "only_warn_on_example_error": False,
    "write_computation_times": False,  # that page would load scripts from elsewhere
    "show_memory": False,
    "download_all_examples": False,
    "show_signature": False,
    "notebook_extensions": set(),
    "min_reported_time": 0,
    "remove_config_comments": True,
}

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "setveil"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # it would be fetched, which no browser does from a file
html_show_sourcelink = False
html_theme_options = {
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "collapse_navigation": True,
    "show_prev_next": True,
    "show_toc_level": 2,
    "use_edit_page_button": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}

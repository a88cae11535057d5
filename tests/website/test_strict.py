"""Each defect of a page, an option, a key or an example fails the build of a small project."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from setveil.studio.projects import _KEPT

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = f"""
import sys
sys.path.insert(0, {str(ROOT / "docs")!r})
from conf import *
html_static_path, html_css_files, templates_path = [], [], []
site_sections, site_commands, site_keys = {{}}, {{}}, []
site_project = site_names = False
site_moved = ""
extensions = [one for one in extensions if one not in {{"sphinx_gallery.gen_gallery", "extensions.gallery"}}]
"""
GALLERY = SETTINGS.replace('{"sphinx_gallery.gen_gallery", "extensions.gallery"}', "set()") + (
    'sphinx_gallery_conf = sphinx_gallery_conf | {"backreferences_dir": None}\n'
)
EXAMPLE = '"""\nA question\n==========\n\nText.\n"""\n\n{}\n'

pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif("SETVEIL_SITE" not in os.environ, reason="SETVEIL_SITE names no built site"),
]


def built(folder: Path, pages: dict[str, str], settings: str = SETTINGS) -> tuple[int, str]:
    """Build a project of these pages, as docs/build does; return the exit code and the output."""
    docs = folder / "docs"
    for name, text in {"conf.py": settings, **pages}.items():
        (docs / name).parent.mkdir(parents=True, exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")
    script = (ROOT / "docs" / "build").read_text("utf-8")
    line = next(line for line in script.splitlines() if " -m sphinx " in line)
    words = line.removesuffix(' "$@"').replace("docs site", f"{docs} {folder / 'out'}").split()
    assert {"-W", "-n", "-E"} <= {*words}
    done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def test_a_project_without_defects_is_built(tmp_path: Path) -> None:
    pages = {
        "index.md": "# One\n\n[two](two.md#a-heading)\n\n```{toctree}\ntwo\n```\n",
        "two.md": "# Two\n\n## A heading\n\nText.\n",
    }
    code, said = built(tmp_path, pages)
    assert (code, said) == (0, "")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[x](none.md)", "none.md"),
        ("[x](index.md#none)", "'none'"),
        ("[x](#none)", "'none'"),
        ("![x](none.png)", "image file not readable: none.png"),
        ("```{eval-rst}\n:doc:`none`\n```", "unknown document: 'none'"),
        ("```{eval-rst}\n`setveil.anonymize`\n```", "setveil.anonymize"),  # a name without a page
    ],
)
def test_a_broken_link_fails(tmp_path: Path, more: str, said: str) -> None:
    code, output = built(tmp_path, {"index.md": f"# One\n\n{more}\n"})
    assert code == 1
    assert said in output


def test_a_page_in_no_list_fails(tmp_path: Path) -> None:
    code, said = built(tmp_path, {"index.md": "# One\n", "lost.md": "# Lost\n"})
    assert code == 1
    assert "lost.md: WARNING: document isn't included in any toctree" in said


def test_an_option_that_no_page_names_fails(tmp_path: Path) -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    from extensions.commands import commands  # type: ignore[import-not-found,unused-ignore]

    words = {
        word for one in commands() for option in one.made.get_params(one.context)
        for word in [*option.opts, *option.secondary_opts] if option.param_type_name == "option"
    }  # fmt: skip
    listed = {one.name.split()[0]: ["index"] for one in commands()}
    settings = SETTINGS + f"site_commands = {listed}\n"
    for options in (words, words - {"--rho"}):
        text = "# One\n\n" + "\n".join(f"- `{word}`" for word in sorted(options))
        pages = {"index.md": f"{text}\n\n```{{toctree}}\ncli\ncommands/index\n```\n", "cli.md": "# All\n"}
        code, said = built(tmp_path, pages, settings)
        assert code == int(options != words), said
    assert "setveil verify --rho: no page says what it is for" in said
    code, said = built(tmp_path, pages, SETTINGS + 'site_commands = {"verify": ["index"]}\n')
    assert code == 1
    assert "setveil risk: site_commands names no page for it" in said


def test_a_key_without_an_entry_fails(tmp_path: Path) -> None:
    settings = SETTINGS + 'site_keys = [("index", "project.toml", "project")]\n'
    rows = "".join(f"| `{key}` | what |\n" for key in _KEPT)
    page = f"# One\n\n## project.toml\n\n| key | meaning |\n|---|---|\n{rows}"
    assert built(tmp_path, {"index.md": page}, settings) == (0, "")
    assert 'id="project-tour"' in (tmp_path / "out" / "index.html").read_text("utf-8")
    code, said = built(tmp_path, {"index.md": page.replace("`tour`", "`tours`")}, settings)
    assert code == 1
    assert "project.toml: no entry for the key tour" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("print(1)", ""),
        ("open('left.txt', 'w').close()", ""),
        ("raise ValueError('wrong')", "ValueError: wrong"),
        ("import warnings; warnings.warn('doubtful')", "UserWarning: doubtful"),
    ],
)
def test_an_example_that_fails_or_warns_fails(tmp_path: Path, line: str, said: str) -> None:
    pages = {
        "index.md": "# One\n\n```{toctree}\ngallery/index\n```\n",
        "examples/GALLERY_HEADER.rst": "Gallery\n=======\n",
        "examples/plot_one.py": EXAMPLE.format(line),
    }
    code, output = built(tmp_path, pages, GALLERY)
    assert code == (2 if said else 0), output
    assert said in output
    assert not (tmp_path / "docs" / "examples" / "left.txt").exists()

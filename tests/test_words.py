"""Plain English: phrases that read as translated are in no page, and in ever fewer docstrings and messages.

``python tests/test_words.py [ROOM or FOLDER ...]`` lists the phrases that it finds; ``--shares`` counts them.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from test_docs import ROOT, TABLE, WRITTEN, blocks_of

SOURCE = ROOT / "src" / "setveil"
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")] + sorted(WRITTEN)

# The gallery, notebooks, drawings and studies, which are read as a whole.
PATTERNS = (
    "docs/examples/*.py",
    "docs/examples/*.rst",
    "docs/*.ipynb",
    "docs/pictures/*.svg",
    "docs/pictures/shapes/*.svg",
    "studies/*.toml",
)
SHOWN = [path for pattern in PATTERNS for path in sorted(ROOT.glob(pattern))]

# Phrases to avoid, and what to write instead.
BANNED = {
    r"(?:is|are|was|be|been) told(?! apart)": "is published, reported; reveals",
    r"told of": "published",
    r"what (?:is|was) told": "what is published",
    r"stays? inside|stayed inside": "is internal: do not share it",
    r"in vain": "unnecessarily",
    r"anew": "again",
    r"besides?": "next to, with; in addition to",
    r"as people have": "the usual formats",
    r"so many": "N, this many",
    r"(?:hand(?:s|ed|ing)?|gives?|given|giving|gave) (?:it |them )?(?:out|away)": "share, publish; reveal",
    r"somebody(?:'s)?|anybody(?:'s)?": "someone, anyone, an attacker",
    r"who(?:m)?ever": "anyone who, an attacker who",
    r"of wh(?:ich|om)(?! (?:items?|were|chapters|columns?|size|of)\b)": "a new sentence, or whose",
    r"(?:stand|stands|stood|standing) (?:for|beside|in(?! (?:the|its) way))": "represent; be next to; be in",
    r"left out|leaves? out|leaving out|leave .{1,12} out": "suppress (items), omit (options), skip",
    r"held back|holds? back": "suppressed; withheld (people)",
    r"(?:is|are|be) refused": "setveil stops with an error; is not supported",
    r"what (?:was|is|has been|they|it) lost": "information loss",
    r"what is asked|what stays open": "the request; limits",
    r"(?:keep|keeps|kept|lose|loses|lost) (?:its|their|a) (?:own )?names?": "unchanged; generalized",
    r"officer's file": "compliance record",
    r"found alone|singles? out .{0,20}alone": "unique",
    r"\d+ at least": "at least N",
    r"from \d+ on": "N or more",
    r"everybody(?:'s)?|each and every": "everyone",
    r"(?:to|is) blamed?": "the cause",
    r"undo(?:es|ing)? the protection": "reverses the anonymization",
    r"has not(?! \w+ed\b| been\b| \w+en\b)": "does not have",
}
PHRASE = re.compile(rf"\b(?:{'|'.join(BANNED)})(?!\w)", re.I)

# How many are left in each room: docstrings; messages, help and templates. They only become fewer.
LEFT: dict[str, tuple[int, int]] = {
    "base": (3, 0),
    "methods/algorithms": (4, 0),
    "cli": (6, 0),
    "commands": (13, 0),
    "methods/constraints": (1, 0),
    "rows/data": (1, 0),
    "rows/engine": (2, 0),
    "rows/hierarchy": (1, 0),
    "methods/histories": (4, 0),
    "work/past": (3, 0),
    "report": (0, 3),
    "runs": (9, 0),
    "work/series": (0, 2),
    "spark": (2, 0),
    "work/studies": (4, 0),
    "rows/tables": (4, 0),
    "base/values": (1, 0),
}

NESTED = {"work", "methods", "judges", "releases", "rows", "base"}  # rooms of rooms

# Rooms whose docstrings begin with a verb or a noun.
PLAIN = ("releases/published", "releases/recipients", "report", "rows/data", "studio", "work/series")
QUESTION = re.compile(r"(?:What|Who|Whose|Whom|Which|Whether|Where|How|Tell)\b")

# Tests and benchmarks, whose docstrings and comments are read.
CHECKS = [*sorted((ROOT / "tests").rglob("*.py")), *sorted((ROOT / "benchmarks").glob("*.py"))]
DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)
COMMENT = re.compile(r"^[ \t]*#.*(?:\n[ \t]*#.*)*|(?<=  )#.*", re.M)


def phrases(text: str) -> list[str]:
    """List the phrases of a text, whose lines may be broken anywhere."""
    return PHRASE.findall(re.sub(r"\s+", " ", text))


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Give the lines of a page that are neither output nor code, without what is in backquotes."""
    text = page.read_text("utf-8")
    fenced = {i for block in blocks_of(text) for i in range(block.start - 1, block.end + 1)}
    if made := TABLE.search(text):  # of the declarations
        fenced |= {*range(text[: made.start()].count("\n"), text[: made.end()].count("\n"))}
    for i, line in enumerate(text.split("\n")):
        if i not in fenced and line.strip() and not line.startswith("<!--"):
            yield i + 1, re.sub(r"`[^`]*`|\]\([^)]*\)", "``", line)


def found_in(page: Path) -> list[tuple[int, str]]:
    """List the phrases of a page, each with the line that it begins in."""
    lines = [*prose(page)]
    out = []
    for (number, line), (after, next_line) in zip(lines, [*lines[1:], (0, "")], strict=True):
        joined = f"{line} {next_line.lstrip('> -')}" if after == number + 1 else line
        out += [(number, hit[0]) for hit in PHRASE.finditer(joined) if hit.start() < len(line)]
    return out


def texts(file: Path) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """List the docstrings of a module, and its other texts, with their lines."""
    tree = ast.parse(file.read_text("utf-8"))
    docs = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            docs.add(id(body[0].value))
    said: tuple[list[tuple[int, str]], list[tuple[int, str]]] = ([], [])
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            said[id(node) not in docs].append((node.lineno, node.value))
    return said


def rooms() -> dict[str, list[Path]]:
    """Return the files of each room of the source."""
    out: dict[str, list[Path]] = {}
    for file in sorted(SOURCE.rglob("*")):
        if file.suffix in {".py", ".html", ".js"}:
            folder = file.relative_to(SOURCE).parts[:-1]
            depth = 2 if folder[:1] and folder[0] in NESTED else 1
            out.setdefault("/".join(folder[:depth]) or "setveil", []).append(file)
    return out


def read(file: Path) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """List docstrings and other texts of a file; a template is one text for each line."""
    if file.suffix == ".py":
        return texts(file)
    return [], [*enumerate(file.read_text("utf-8").split("\n"), 1)]


def counted(files: list[Path]) -> tuple[int, int]:
    """Count the phrases in docstrings, and in other texts."""
    both = [read(file) for file in files]
    docs, others = (sum(len(phrases(text)) for one in both for _, text in one[at]) for at in (0, 1))
    return docs, others


def comments(text: str) -> Iterator[tuple[int, str]]:
    """Give the comments of a module, lines that follow each other together, with their first lines."""
    begin, last, words = 0, 0, ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            number = token.start[0]
            if number != last + 1 or token.line[: token.start[1]].strip():
                yield begin, words
                begin, words = number, ""
            last, words = number, f"{words} {token.string.lstrip('#').strip()}"
    yield begin, words


def violations(file: Path) -> list[tuple[int, str, str]]:
    """List the phrases, and the question words at the beginning of docstrings, of a test or benchmark.

    Parsing is slow, so only files with a phrase in triple quotes or after a number sign are parsed.
    """
    text = file.read_text("utf-8")
    quoted = [hit[1] for hit in DOCSTRING.finditer(text)]
    out = []
    if any(phrases(one) or QUESTION.match(one) for one in quoted):
        docs = texts(file)[0]
        out += [(line, "docstring", phrase) for line, doc in docs for phrase in phrases(doc)]
        out += [(line, "docstring", hit[0]) for line, doc in docs if (hit := QUESTION.match(doc))]
    if any(phrases(re.sub(r"\n\s*#", " ", hit[0])) for hit in COMMENT.finditer(text)):
        out += [(line, "comment", phrase) for line, words in comments(text) for phrase in phrases(words)]
    return out


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_are_plain(page: Path) -> None:
    assert found_in(page) == [], "see BANNED for what to write"


@pytest.mark.parametrize("file", SHOWN, ids=lambda file: file.relative_to(ROOT).as_posix())
def test_other_files_that_readers_see_are_plain(file: Path) -> None:
    assert phrases(file.read_text("utf-8")) == [], "see BANNED for what to write"


@pytest.mark.parametrize("room", rooms())
def test_code_becomes_plainer(room: str) -> None:
    docs, others = counted(rooms()[room])
    assert docs <= LEFT.get(room, (0, 0))[0], f"docstrings: python tests/test_words.py {room} lists them"
    assert others <= LEFT.get(room, (0, 0))[1], f"messages: python tests/test_words.py {room} lists them"


@pytest.mark.parametrize("room", PLAIN)
def test_docstrings_are_no_questions(room: str) -> None:
    docs = [(file.name, *doc) for file in rooms()[room] for doc in read(file)[0]]
    assert [doc for doc in docs if QUESTION.match(doc[-1])] == [], "begin with a verb or a noun"


def test_docstrings_and_comments_of_tests_are_plain() -> None:
    assert [(file.name, *one) for file in CHECKS for one in violations(file)] == [], "see BANNED"


def shares() -> Iterator[str]:
    """Say how many lines of pages, docstrings and texts of three words or more have a phrase."""
    lines = [(page, *line) for page in PAGES for line in prose(page)]
    hits = {(page, number) for page in PAGES for number, _ in found_in(page)}
    yield f"page lines {len(hits)} of {len(lines)} ({len(hits) / len(lines):.1%})"
    everything = [read(file) for files in rooms().values() for file in files]
    for at, name in enumerate(("docstrings", "texts")):
        all_texts = [text for one in everything for _, text in one[at] if len(text.split()) > 2]
        number = sum(bool(phrases(text)) for text in all_texts)
        yield f"{name} {number} of {len(all_texts)} ({number / len(all_texts):.1%})"


def listed(names: list[str]) -> Iterator[str]:
    """Say which phrases are in pages and rooms, by their names, or how many in each room."""
    for page in PAGES:
        name = page.relative_to(ROOT).as_posix()
        if not names or any(name.startswith(one) for one in names):
            yield from (f"{name}:{number}: {phrase}" for number, phrase in found_in(page))
    for file in (file for room in names for file in rooms().get(room, [])):
        for kind, part in zip(("docstring", "text"), read(file), strict=True):
            for line, text in part:
                yield from (f"{file.relative_to(ROOT)}:{line}: {kind}: {phrase}" for phrase in phrases(text))
    for file in CHECKS:
        name = file.relative_to(ROOT).as_posix()
        if not names or any(name.startswith(one) for one in names):
            yield from (f"{name}:{line}: {kind}: {phrase}" for line, kind, phrase in violations(file))
    if not names:
        yield str({room: counted(files) for room, files in rooms().items()})


if __name__ == "__main__":
    words = shares() if "--shares" in sys.argv else listed(sys.argv[1:])
    sys.stdout.writelines(f"{line}\n" for line in words)

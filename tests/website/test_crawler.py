"""The crawler finds each kind of defect, and nothing on a good site."""

from __future__ import annotations

from pathlib import Path

import pytest

from crawler import content, findings

FINE = """<html><head><link rel="stylesheet" href="_static/a.css"><link rel="canonical" href="https://a.org/x">
<script src="_static/a.js?v=1"></script></head><body><article id="top"><h1 id="one">One</h1>
<a href="#one">here</a> <a href="below/b.html#two">there</a> <a href="https://elsewhere.org/x#y">out</a>
<a href="mailto:a@b.org">mail</a> <img src="_static/a.png" alt="A picture"> {}</article></body></html>"""


def site(folder: Path, more: str = "", style: str = "p {color: red}") -> Path:
    (folder / "_static").mkdir()
    (folder / "below").mkdir()
    (folder / "index.html").write_text(FINE.format(more), "utf-8")
    (folder / "below" / "b.html").write_text(
        '<h1 id="two">Two</h1><a href="../index.html#top">up</a>', "utf-8"
    )
    (folder / "_static" / "a.css").write_text(style, "utf-8")
    for name in ("a.js", "a.png"):
        (folder / "_static" / name).write_bytes(b"")
    return folder


def test_nothing_is_found_where_nothing_is_wrong(tmp_path: Path) -> None:
    assert list(findings(site(tmp_path, "word " * 50))) == []
    assert [path.name for path in content(tmp_path)] == ["index.html"]


@pytest.mark.parametrize(
    ("more", "found"),
    [
        ('<a href="none.html">x</a>', "index.html: dead link: none.html"),
        ('<a href="below/">x</a>', "index.html: dead link: below/"),
        ('<a href="#none">x</a>', "index.html: dead fragment: #none"),
        ('<a href="below/b.html#none">x</a>', "index.html: dead fragment: below/b.html#none"),
        ('<img src="none.png" alt="x">', "index.html: dead link: none.png"),
        ('<img src="_static/a.png">', "index.html: no text for the picture _static/a.png"),
        ('<img src="_static/a.png" alt=" ">', "index.html: no text for the picture _static/a.png"),
        ('<script src="//cdn.org/x.js"></script>', "index.html: loaded from elsewhere: //cdn.org/x.js"),
        ('<img src="https://a.org/x.png" alt="x">', "index.html: loaded from elsewhere: https://a.org/x.png"),
        ('<link rel="preconnect" href="https://f.org">', "index.html: loaded from elsewhere: https://f.org"),
        ('<iframe src="http://a.org/"></iframe>', "index.html: loaded from elsewhere: http://a.org/"),
        (
            "<style>@import 'https://a.org/f.css'</style>",
            "index.html: loaded from elsewhere: https://a.org/f.css",
        ),
        ('<p style="background: url(//a.org/x.png)">', "index.html: loaded from elsewhere: //a.org/x.png"),
    ],
)
def test_each_defect_is_found(tmp_path: Path, more: str, found: str) -> None:
    assert list(findings(site(tmp_path, more))) == [found]


def test_what_a_style_sheet_loads_is_found(tmp_path: Path) -> None:
    style = "/* see https://a.org */ @font-face {src: url('https://fonts.org/f.woff2')}"
    assert list(findings(site(tmp_path, style=style))) == [
        "_static/a.css: loaded from elsewhere: https://fonts.org/f.woff2"
    ]

"""A crawler over the files of a site: dead links, pages without text, and files loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

_MADE = {"genindex.html", "search.html", "py-modindex.html"}  # lists, no pages
_LOADED = {
    "stylesheet",
    "icon",
    "shortcut",
    "preload",
    "prefetch",
    "modulepreload",
    "preconnect",
    "dns-prefetch",
}
_SOURCES = {"script", "img", "iframe", "source", "embed", "video", "audio", "track", "input"}
_IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""")


@dataclass
class Page(HTMLParser):
    """The contents and requests of an HTML file."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    images: list[tuple[str, str | None]] = field(default_factory=list)  # source, text
    loaded: list[str] = field(default_factory=list)
    words: int = 0  # in its article
    styles: str = ""
    _inside: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := attributes.get(name))}
        if tag == "a" and attributes.get("href"):
            self.links.append(str(attributes["href"]))
        if tag == "img":
            self.images.append((str(attributes.get("src")), attributes.get("alt")))
        if tag in _SOURCES and attributes.get("src"):
            self.loaded.append(str(attributes["src"]))
        if tag == "object" and attributes.get("data"):
            self.loaded.append(str(attributes["data"]))
        if attributes.get("srcset"):
            self.loaded += [one.split()[0] for one in str(attributes["srcset"]).split(",")]
        if tag == "link" and _LOADED & set(str(attributes.get("rel")).split()):
            self.loaded.append(str(attributes.get("href")))
        self.styles += attributes.get("style") or ""
        if tag in {"article", "style"}:
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._inside[-1:] == [tag]:
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self._inside:
            self.styles += data
        elif "article" in self._inside:
            self.words += len(data.split())


@cache
def read(path: Path) -> Page:
    """Read a page."""
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    return page


def pages(site: Path) -> list[Path]:
    """List the pages of a site."""
    found = (path for path in site.rglob("*.html") if "_static" not in path.relative_to(site).parts)
    return sorted(path for path in found if "<title>Moved</title>" not in path.read_text(encoding="utf-8"))


def content(site: Path, least: int = 40) -> list[Path]:
    """List the pages with text: at least `least` words, without generated lists."""
    return [path for path in pages(site) if path.name not in _MADE and read(path).words >= least]


def findings(site: Path) -> Iterator[str]:
    """List the defects of a site."""
    for path in pages(site):
        name = path.relative_to(site).as_posix()
        page = read(path)
        yield from (f"{name}: {found}" for link in page.links if (found := _dead(site, path, link)))
        for source, text in page.images:
            if not (text or "").strip():
                yield f"{name}: no text for the picture {source}"
        for source in page.loaded:
            if urlsplit(source).netloc or urlsplit(source).scheme not in {"", "data"}:
                yield f"{name}: loaded from elsewhere: {source}"
            elif found := _dead(site, path, source):
                yield f"{name}: {found}"
        yield from (f"{name}: loaded from elsewhere: {found}" for found in _IN_STYLE.findall(page.styles))
    for path in {*site.rglob("*.html")} - {*pages(site)}:  # those of former addresses
        for link in read(path).links:
            if found := _dead(site, path, link):
                yield f"{path.relative_to(site).as_posix()}: {found}"
    for path in sorted(site.rglob("*.css")):
        name = path.relative_to(site).as_posix()
        text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        yield from (f"{name}: loaded from elsewhere: {found}" for found in _IN_STYLE.findall(text))


def _dead(site: Path, path: Path, link: str) -> str:
    """Return the defect of a link inside the site, if any."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return ""
    where, fragment = urldefrag(link)
    where = unquote(urlsplit(where).path)
    target = path if not where else (path.parent / where).resolve()
    if not target.is_file():
        return f"dead link: {link}"
    if not target.is_relative_to(site.resolve()) and where:
        return f"leads out of the site: {link}"
    if fragment and target.suffix == ".html" and unquote(fragment) not in read(target).ids:
        return f"dead fragment: {link}"
    return ""

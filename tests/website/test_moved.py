"""Every former address of a page or a heading has a home: itself, or what docs/moved.toml says."""

from __future__ import annotations

import tomllib
from pathlib import Path

from test_docs import ROOT, slugs

MOVED = tomllib.loads((ROOT / "docs" / "moved.toml").read_text("utf-8"))
FORMER = Path(__file__).with_name("former_addresses.txt").read_text("utf-8").split()


def there(address: str) -> bool:
    """Return whether a page, and the heading that the address names, exist."""
    page, _, heading = address.partition("#")
    path = ROOT / "docs" / page
    return path.is_file() and (not heading or heading in slugs(path.read_text("utf-8")))


def home(address: str) -> str:
    """Return the target of an address, as the site leads a reader."""
    page, _, heading = address.partition("#")
    return MOVED.get(address) or (f"{MOVED[page].partition('#')[0]}#{heading}" if page in MOVED else address)


def test_every_former_address_has_a_home() -> None:
    assert [one for one in FORMER if not there(home(one))] == [], "name their new homes in docs/moved.toml"


def test_what_has_moved_is_where_it_is_said_to_be() -> None:
    assert [one for one, to in MOVED.items() if not there(to)] == []
    assert [one for one in MOVED if there(one)] == [], "these have not moved"

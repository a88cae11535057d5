"""Hierarchies of prefixes: values that begin alike, such as zip codes, are grouped by how they begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from setveil.base.errors import RequestError
from setveil.rows.tables.quasi_identifiers import ANY, MISSING


def prefixes(texts: Iterable[str], lengths: Sequence[int] = ()) -> dict[str, str | None]:
    """Build a hierarchy of prefixes: the parent of each node.

    "" is a missing value, below the root. `lengths`: how many characters the groups share, by default all
    from one less than the longest value has down to 1; a value that is not longer is unchanged. A group is
    its prefix with a ``*`` for every further character, one alone if values differ in length; the root is
    ``*``, or ``**`` if that is a value.

    >>> tree = prefixes(["10115", "10117", "80331"], [3, 1])
    >>> tree["10115"], tree["101**"], tree["1****"]
    ('101**', '1****', '*')
    """
    values = set(texts)
    missing = MISSING in values
    values.discard(MISSING)
    longest = max(map(len, values), default=0)
    cuts = sorted(set(lengths) or range(1, longest), reverse=True)
    if any(cut < 1 for cut in cuts):
        raise RequestError(
            f"The lengths of prefixes must be at least 1, got {', '.join(map(str, lengths))}.",
            hint="3,2 groups 10115 under 101** and 10***.",
        )
    even = len(set(map(len, values))) < 2
    shared = {value[:cut] for value in values for cut in cuts if cut < len(value)}
    labels: dict[str, str] = {}
    root = ANY
    while root in values:
        root += "*"
    taken = {*values, root}
    for prefix in sorted(shared):
        label = prefix + "*" * (longest - len(prefix) if even else 1)
        while label in taken:
            label += "*"
        taken.add(label)
        labels[prefix] = label
    parents: dict[str, str | None] = {root: None}
    if missing:
        parents[MISSING] = root
    for value in values:
        node = value
        for cut in cuts:
            if cut < len(value) or (cut == len(value) and value in shared):
                parents[node] = node = labels[value[:cut]]
        parents[node] = root
    return parents

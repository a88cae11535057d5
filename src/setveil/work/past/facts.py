"""The facts of a run, read again as its record says, and the boxes that it published them as."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError
from setveil.base.values.per_column import column_of, item_of
from setveil.judges.guarantees import least_rows
from setveil.releases.published.recoding import ReadBoxes
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.facts.facts import ANY, Facts
from setveil.rows.facts.generalizing import Generalizing
from setveil.rows.facts.read import read_rows_of_facts
from setveil.rows.hierarchy.boxes import Box, Space
from setveil.rows.hierarchy.columns import joined
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.fact_parts import part_label
from setveil.runs.options.columns import Columns, split_hierarchies
from setveil.runs.options.facts import FactOptions as Words
from setveil.runs.options.reading import Reading
from setveil.runs.orders import trees_of
from setveil.work.past.inputs import require_same_file, rows_of_run
from setveil.work.past.recorded import options_in, texts_in
from setveil.work.past.run import PastRun, past_run

Positions = NDArray[np.int64]


def has_facts(run: PastRun) -> bool:
    """Whether a run published rows of facts."""
    return run.report["recoding"] == "facts"


def find_facts(run: PastRun, source: object = None) -> Facts:
    """Find the facts that a run was made from: in its file, in another one that is given, or as given."""
    if source is not None and not isinstance(source, str | PathLike):
        return facts_of_run(run, source)
    options: Mapping[str, Any] = run.report.get("options") or {}
    if not options:
        raise DataError(
            "This run was made in Python, and its record does not say how the facts were read.",
            hint="In Python, give them: sv.why(release, ..., data=facts).",
        )
    files = texts_in(options, "input") if source is None else [str(source)]
    if len(files) != 1 or files[0] == "-":
        raise DataError(
            "The record of this run does not say which file its facts came from.",
            hint="Name it: --data FILE, or --original FILE of verify.",
        )
    words, columns = options_in(Words, options), options_in(Columns, options)
    request, how = words.as_request(columns), columns.as_how(options_in(Reading, options))
    data = read_rows_of_facts(files[0], request, how, fewest=int(options.get("k") or 0))
    require_same_file(run, data)
    if words.most_facts is not None:
        data = data.at_most(words.most_facts, run.report["seed"])
    return facts_of_run(run, data)


def facts_of_run(run: PastRun, data: Any) -> Facts:
    """Take from facts those that a run was made from, and refuse others."""
    if not getattr(data, "only_facts", False):
        raise DataError(
            "This is the run of facts, and its data were read as rows of items.",
            hint="Read them as the run did, by setveil.read_facts.",
        )
    found: Facts = rows_of_run(run, data).facts
    return found


def facts_before(
    folder: str | PathLike[str], source: object = None
) -> tuple[Facts, Mapping[str, str | None]]:
    """Find the facts that a run was made from (see `find_facts`), and the label of each."""
    run = past_run(folder)
    if not has_facts(run):
        raise RequestError(f"{folder} is no run of facts, and only these guarantee whole codes.")
    return find_facts(run, source), run.image


def find_code_trees(run: PastRun, data: Facts, hierarchy: Hierarchy | None) -> list[Hierarchy]:
    """Find the hierarchy of each column of codes: as given, in the files of the run, or made as it was."""
    recorded = run.report.get("hierarchy")
    if hierarchy is None and recorded is not None and recorded["source"] != "co-occurrence":
        options: Mapping[str, Any] = run.report.get("options") or {}
        plain, named = split_hierarchies(texts_in(options, "hierarchy"))
        if plain is None and not named:
            raise DataError(
                "The hierarchy of this run was made in Python, and is in no file.",
                hint="Give it, or its file: --hierarchy FILE.",
            )
        encoding = options_in(Reading, options).text_encoding
        files = {data.columns[0].name: plain} if plain is not None else named
        trees = {name: read_hierarchy(file, encoding=encoding) for name, file in files.items()}
        hierarchy = joined(trees) if len(data.columns) > 1 else next(iter(trees.values()))
    least = least_rows(run.report["guarantee"])
    names = {} if recorded is None else recorded.get("renamed", {})
    several = len(data.columns) > 1
    return [
        tree.relabelled({item_of(old): item_of(new) for old, new in names.items() if column_of(old) == name})
        if several
        else tree.relabelled(names)
        for name, tree in trees_of(data, hierarchy, least).items()
    ]


@dataclass(frozen=True, eq=False)
class FactBoxes:
    """The boxes that facts may be published as, each a node of the tree of each part."""

    spaces: tuple[Space, ...]  # of each column of codes
    column: NDArray[np.int32]  # int32 (items,): the column of each fact, in the order of the run's recoding
    leaves: NDArray[np.int32]  # int32 (items, most parts): its parts, as leaves of their trees

    @classmethod
    def of(cls, data: Facts, codes: list[Hierarchy], items: Vocabulary) -> FactBoxes:
        """Put the trees of all parts together, for facts in the order of a vocabulary that has them all."""
        spaces = Generalizing().spaces(data, codes)
        place = [items.ids[label] for label in data.vocabulary.labels]
        column = np.full(len(items), -1, np.int32)
        column[place] = data.column
        leaves = np.full((len(items), data.parts.shape[1]), -1, np.int32)
        for at, space in enumerate(spaces):
            leaves[np.array(place)[data.items_of(at)], : len(space.trees)] = space.leaves
        return cls(tuple(spaces), column, leaves)

    def read(self, label: str) -> tuple[int, Box] | None:
        """Take a box apart: its column and its parts, of which those at the end may be omitted (any)."""
        several = len(self.spaces) > 1
        for at, space in enumerate(self.spaces):
            if several and column_of(label) != space.column:
                continue
            texts = (item_of(label) if several else label).split(space.sign)
            if len(texts) > len(space.trees):
                return None
            texts += [ANY] * (len(space.trees) - len(texts))
            parts = list(zip(space.trees, texts, strict=True))
            if any(text != ANY and text not in tree for tree, text in parts):
                return None
            return at, tuple(tree.root if text == ANY else tree.id(text) for tree, text in parts)
        return None

    def label(self, column: int, box: Box) -> str:
        """Write a box as it is published."""
        return self.spaces[column].label(box)

    def inside(self, column: int, box: Box) -> Positions:
        """Find the facts of a box that occur, as positions."""
        found = self.column == column
        for at, (tree, v) in enumerate(zip(self.spaces[column].trees, box, strict=True)):
            found &= (tree.low[v] <= self.leaves[:, at]) & (self.leaves[:, at] < tree.high[v])
        return np.flatnonzero(found)

    def holds(self, column: int, box: Box, inner: Box) -> bool:
        """Tell whether a box holds another one of its column."""
        parts = zip(self.spaces[column].trees, box, inner, strict=True)
        return all(tree.low[v] <= tree.low[w] and tree.high[w] <= tree.high[v] for tree, v, w in parts)

    def meet(self, column: int, box: Box, other: Box) -> bool:
        """Tell whether two boxes of a column have a fact in common, whether or not it occurs."""
        parts = zip(self.spaces[column].trees, box, other, strict=True)
        return all(tree.low[v] < tree.high[w] and tree.low[w] < tree.high[v] for tree, v, w in parts)

    def parts(self, column: int) -> list[str]:
        """Name the parts of the facts of a column."""
        space = self.spaces[column]
        return [part_label(name, space) if at else name for at, name in enumerate(space.names)]

    def split(self, column: int, box: Box, at: int) -> list[Box]:
        """Split a box along one of its parts; nothing if that is a single value."""
        tree, v = self.spaces[column].trees[at], box[at]
        while len(tree.children(v)) == 1:
            v = tree.children(v)[0]
        return [(*box[:at], child, *box[at + 1 :]) for child in tree.children(v)]

    def above(self, column: int, box: Box) -> Iterator[Box]:
        """Go through the boxes that hold another one, those of the fewest facts first."""
        space = self.spaces[column]
        chains = [(v, *tree.ancestors(v)) for tree, v in zip(space.trees, box, strict=True)]
        boxes = sorted(product(*chains), key=space.size)
        return iter(one for one in boxes if one != box)

    def recoding(self, items: Vocabulary, published: Vocabulary, image: NDArray[np.int32]) -> ReadBoxes:
        """Make a recoding of facts to boxes."""
        found = [self.read(label) for label in published.labels]
        boxes = [one for one in found if one is not None]
        assert len(boxes) == len(found)  # noqa: S101  (labels are published ones, or made here)
        sizes = np.array([self.spaces[at].size(box) for at, box in boxes], np.int64)
        domains = np.array([self.spaces[at].number for at, _ in boxes], np.int64)
        domain = sum(space.number for space in self.spaces)
        return ReadBoxes(items, published, image, domain, sizes, domains)

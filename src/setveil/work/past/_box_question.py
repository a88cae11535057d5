"""What a name is of a run of facts: a fact, a published box, or any other box of facts."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.base.errors import DataError
from setveil.base.values.per_column import labelled
from setveil.rows.hierarchy.boxes import Box
from setveil.work.past._naming import Naming, Positions
from setveil.work.past._question import Answer, ItemQuestion
from setveil.work.past.facts import FactBoxes
from setveil.work.past.run import PastRun

_TRIED = 10  # boxes above what is left out that are tried at most

Parts = dict[str, Positions]


class BoxQuestion(ItemQuestion):
    """One box of facts, and what the run made of it; a code alone means all facts of it."""

    def __init__(self, run: PastRun, now: Naming, name: str, show: int) -> None:
        super().__init__(run, now, name, show)
        boxes = now.terms.boxes
        assert boxes is not None  # noqa: S101  (of a run of facts)
        self.boxes: FactBoxes = boxes
        box = boxes.read(name)
        if box is None:
            raise self._unknown_box()
        self.column, self.box = box
        if name not in now.position:  # a code alone, or a root by another name
            self.name = boxes.label(*box)

    def _unknown_box(self) -> DataError:
        nodes = [
            labelled(space.column, label) if space.column else label
            for space in self.boxes.spaces
            for label in space.trees[0].labels
        ]
        return self._unknown("fact", nodes)

    def _named(self) -> Positions:
        """Find the facts of a box that was not published, as positions."""
        return self.boxes.inside(self.column, self.box)

    def _box_of(self, label: str) -> Box:
        found = self.boxes.read(label)
        assert found is not None  # noqa: S101  (a label of this run)
        return found[1]

    def _above(self, inside: Positions) -> str | None:
        """Find the box that was published for what was asked for and more; None if there is none."""
        images = set(self.now.image[inside].tolist())
        if len(images) != 1 or -1 in images:
            return None
        label: str = self.now.labels[images.pop()]
        return label if self.boxes.holds(self.column, self._box_of(label), self.box) else None

    def _parts_of(self, boxes: Sequence[Box]) -> Parts:
        """List the boxes in which anything occurs, with their facts."""
        found = {self.boxes.label(self.column, box): self.boxes.inside(self.column, box) for box in boxes}
        return {label: items for label, items in found.items() if items.size}

    def _split(self, inside: Positions) -> list[Answer]:
        """Split a box along each of its parts, and down to its facts."""
        splits: list[tuple[str, str | None, Parts]] = []
        for at, name in enumerate(self.boxes.parts(self.column)):
            parts = self._parts_of(self.boxes.split(self.column, self.box, at))
            if len(parts) > 1:
                splits.append(("children", name, parts))
        if all(len(parts) < inside.size for _, _, parts in splits):
            splits.append(("items", None, self._alone(inside)))
        return [
            {**self.attempts.attempt(kind, parts, allowed=parts), "along": along}
            for kind, along, parts in splits
        ]

    def _free(self, inside: Positions) -> list[Answer]:
        """Split the box above as far as it takes, along its parts in their order and the other way round."""
        above = self._box_of(str(self._above(inside)))
        places = range(len(above))
        found: list[Parts] = []
        for order in (places, reversed(places)):
            rest: list[Box] = []
            at_last = above
            for at in order:
                while at_last[at] != self.box[at]:
                    children = self.boxes.split(self.column, at_last, at)
                    inner = next(
                        (one for one in children if self.boxes.holds(self.column, one, self.box)), None
                    )
                    if inner is None:  # the same facts by another node
                        break
                    rest += [one for one in children if one != inner]
                    at_last = inner
            parts = {self.name: inside} | self._parts_of(rest)
            if parts.keys() not in [one.keys() for one in found]:
                found.append(parts)
        return [self.attempts.attempt("free", parts, allowed=parts, refused={self.name}) for parts in found]

    def _back(self, inside: Positions) -> list[Answer]:
        """Publish what is omitted: as itself, or else each of its facts, and as boxes above it."""
        shown = [self._box_of(label) for label in self._labels_shown()]
        own = {self.name: inside}
        if self._meets(self.box, shown):
            own = self._alone(inside)
        tries = [self.attempts.attempt("back", own, refused=set(own))]
        seen = {tuple(inside.tolist())}
        for box in self.boxes.above(self.column, self.box):
            if tries[-1]["holds"] or len(tries) > _TRIED:
                break
            items = self.boxes.inside(self.column, box)
            if tuple(items.tolist()) in seen or self._meets(box, shown):
                continue
            seen.add(tuple(items.tolist()))
            label = self.boxes.label(self.column, box)
            tries.append(self.attempts.attempt("ancestor", {label: items}, brief=True))
        return tries

    def _labels_shown(self) -> list[str]:
        """List the published boxes of the column."""
        known = [(label, self.boxes.read(label)) for label in self.now.labels]
        return [label for label, box in known if box is not None and box[0] == self.column]

    def _meets(self, box: Box, shown: Sequence[Box]) -> bool:
        """Tell whether a box has a fact in common with a published one."""
        return any(self.boxes.meet(self.column, box, other) for other in shown)

"""Answers about facts and parts of facts: how many rows contain some fact of each requested part.

A part of facts is a set of values of each part, such as a code with any period. Boxes of a row are taken as
independent, and the facts of a box as in `setveil.judges.utility.estimates`. docs/query.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.judges.utility._label_shares import LabelPlaces
from setveil.judges.utility.estimates import Answers, Estimator
from setveil.judges.utility.estimators._fact_bounds import BoxRows, Term, bounds_of
from setveil.releases.published.boxes import ANY, CODES, NOTHING, UNLISTED, Boxes
from setveil.releases.published.shared import SharedFacts
from setveil.rows.facts.inside import values_meeting

MANY = 1e9  # facts of a box that does not list all of its facts; more than there are rows
MOST_PARTS = 8  # that a query may name beside each other, all combinations of which are looked at


class FactEstimator(Estimator):
    """Answer queries about facts and parts of facts (see `Estimator`).

    A name in a query is a fact, ``I50@2024-01``, or a part: ``I50@*`` or ``I50``, ``*@2024``, in which each
    part is a value, a label of several, a longer period, or ``*`` (as are parts omitted at the end). A row
    contains a part if it contains some fact of it. With several columns of codes, a name begins with its
    column: ``drug=C07@*``.
    """

    unit: ClassVar[str] = "fact"
    by_label: ClassVar[bool] = False
    answers_groups: ClassVar[bool] = False
    names: ClassVar[str] = "neither a fact nor a part of facts"
    lacking: ClassVar[str] = (
        "Ask for a code, a label or a fact that the release names. A group of codes between a code and its "
        "label is not answered as one: ask for each of its codes."
    )
    places: _FactPlaces

    def __init__(self, shared: SharedFacts, *, unlisted: int = 0) -> None:
        super().__init__(shared, unlisted=unlisted)
        self.boxes = shared.rows.stands_for
        self._counts, self._unlisted = shared.counts, unlisted
        self.places = _FactPlaces(**vars(self.places), boxes=self.boxes)
        lines = [] if shared.counts is None else shared.counts.lines()
        parsed = [(self.boxes.fact(fact), rows) for fact, _, rows in lines]
        counted = [(fact, rows) for fact, rows in parsed if fact is not None]
        # Values that are named anywhere: those of boxes first, then those of facts that were left out.
        self._values = [dict(known) for known in self.boxes.known]
        for fact, _ in counted:
            for known, value in zip(self._values, fact, strict=True):
                known.setdefault(value, len(known))
        self._lines = np.array(
            [[known[value] for known, value in zip(self._values, fact, strict=True)] for fact, _ in counted],
            np.int64,
        ).reshape(len(counted), len(self._values))
        self._line_box = np.array([self.boxes.around(fact) for fact, _ in counted], np.int64)
        self._line_rows = np.array([rows for _, rows in counted], np.int64)
        n = len(self.boxes.boxes)
        # Values that represent members of labels that are not listed, of which there may be any number.
        self._unlisted_values = [
            np.array([value.startswith(UNLISTED) for value in known], bool) for known in self._values
        ]
        self._more = np.where([self.boxes.has_others(box) for box in self.boxes.boxes], MANY, 0.0)
        self._sizes = np.array([self.boxes.size(box) for box in self.boxes.boxes], np.float64)
        self._box_rows = self.places.sizes[:n]
        self._listed = np.bincount(self._line_box[self._line_box >= 0], minlength=n)
        self._listed_rows = np.bincount(
            self._line_box[self._line_box >= 0], self._line_rows[self._line_box >= 0], n
        )
        top = (1 << 62) if shared.counts is None else shared.counts.least - 1
        self._most = np.minimum(top, self._box_rows)  # rows of a fact without a count
        self._each = self._shares_of_others()
        self._distinct = BoxRows(*shared.rows.distinct)

    def _shares_of_others(self) -> NDArray[np.float64]:
        """Find the share of each box's rows that each of its facts without a count is thought to be in."""
        if self._counts is None:
            return 0.5 / (1 - 0.5**self._sizes)
        lacking = np.maximum(self._sizes - self._listed, 1)
        each = np.maximum(
            (self._box_rows - self._listed_rows) / lacking, np.minimum(self._unlisted, self._most)
        )
        return np.asarray(each / np.maximum(self._box_rows, 1), np.float64)

    def __contains__(self, name: object) -> bool:
        """Return whether a name is a fact or a part of facts whose values the release names."""
        return isinstance(name, str) and (name in self.places.of or self._selected(name) is not None)

    def may_hide(self, name: str) -> bool:
        """Return whether a name may be a fact, or a part of facts, whose code the release does not list."""
        if not self.others or name in self or self.begins(name):
            return False
        return self._selected(name, known=False) is not None

    @property
    def listed(self) -> tuple[str, ...]:
        """The codes that the release lists."""
        kinds = self.boxes.kinds or (CODES,) * len(self._values)
        return tuple(
            value for kind, known in zip(kinds, self._values, strict=True) if kind == CODES for value in known
        )

    @property
    def labels(self) -> tuple[str, ...]:
        """Names for several facts; these are not listed, any part may be named."""
        return tuple(self.boxes.text(box) for box in self.boxes.boxes if self.is_part(self.boxes.text(box)))

    def is_part(self, name: str) -> bool:
        """Return whether a name represents several facts."""
        split = self.boxes.split(name)
        if split is None:
            return False
        places, texts = split
        width = places.stop - places.start
        of_parts = zip(range(places.start, places.stop), texts, strict=False)
        return len(texts) < width or not all(self._is_value(at, text) for at, text in of_parts)

    def _is_value(self, at: int, text: str) -> bool:
        """Say whether a text is one value of a part, neither a label nor a longer period or wider band."""
        return text != ANY and text in self._values[at] and text not in self.boxes.meaning[at]

    def answers(self, queries: Sequence[Sequence[str]]) -> Answers:  # type: ignore[override]
        """Answer many queries at once (see `Estimator.answers`)."""
        itemsets = [tuple(dict.fromkeys(query)) for query in queries]
        plain = [at for at, query in enumerate(itemsets) if not any(map(self.is_part, query))]
        found = Answers(np.zeros(len(itemsets)), *np.zeros((2, len(itemsets)), np.int64))
        if plain:
            for to, values in zip(found, super().answers([itemsets[at] for at in plain]), strict=True):
                to[plain] = values
        for at in sorted({*range(len(itemsets))} - set(plain)):
            found.estimate[at], found.least[at], found.greatest[at] = self.of_parts(itemsets[at])
        return found

    def of_parts(self, names: Sequence[str]) -> tuple[float, int, int]:
        """Estimate, and bound, the rows that contain some fact of each of several parts."""
        if not names:
            raise RequestError("A query has no item, expected at least one.")
        if len(names) > MOST_PARTS:
            raise RequestError(
                f"A query may name up to {MOST_PARTS} facts if one of them represents several, got "
                f"{len(names)}.",
                hint="Ask for fewer together.",
            )
        chosen = [self._selected(name, known=False) for name in names]
        parts = [part if part is not None else self._nothing() for part in chosen]
        common = {
            some: reduce(_Part.both, [parts[at] for at in some])
            for size in range(1, len(parts) + 1)
            for some in combinations(range(len(parts)), size)
        }
        inside = {some: self._inside(part) for some, part in common.items()}
        estimate = self._estimate(parts, common, inside)
        terms = [self._term(part, inside[(at,)]) for at, part in enumerate(parts)]
        apart = [
            [not (inside[(min(a, b), max(a, b))] > 0).any() if a != b else False for b in range(len(parts))]
            for a in range(len(parts))
        ]
        others = self._sizes + self._more - self._listed
        room = self._listed_rows + others * self._most - self._box_rows
        least, greatest = bounds_of(self._distinct, terms, apart, room)
        return min(max(estimate, least), greatest), least, greatest

    # --- parts

    def _selected(self, name: str, *, known: bool = True) -> _Part | None:
        """Find the values that a name represents; None if the release does not name one of them.

        Unless they must be `known`, a code that the release does not name may be one that it does not list.
        """
        split = self.boxes.split(name)
        if split is None:
            return None
        places, texts = split
        width = places.stop - places.start
        if len(texts) > width or not all(texts):
            return None
        masks, free, whole = [], [], True
        for at, text in enumerate(self.boxes.within(places, texts + [ANY] * (width - len(texts)))):
            found = self._values_of(at, text)
            if found is None and not known and self._is_unlisted(at, text):
                found = self._unlisted_values[at].copy(), True, False
            if found is None:
                return None
            masks.append(found[0])
            free.append(found[1])
            whole &= found[2]
        return _Part(tuple(masks), tuple(free), whole)

    def _values_of(self, at: int, text: str) -> tuple[NDArray[np.bool_], bool, bool] | None:
        """Find the values of a part that a text represents, if there may be others, and if all are meant."""
        known = self._values[at]
        mask = np.zeros(len(known), bool)
        more = not self.boxes.sizes or len(known) < self.boxes.sizes[at]
        if text == ANY:
            mask[:] = [value != NOTHING for value in known]
            return mask, more, True
        if text in self.boxes.meaning[at] or text in known:
            mask[[known[value] for value in self.boxes.values(at, text)]] = True
            return mask, False, True
        if not self.boxes.kinds or self.boxes.kinds[at] == CODES:
            return None
        found = values_meeting(text, [value for value in known if value != NOTHING])
        if found is None or not found[0]:
            return None
        mask[[known[value] for value in found[0]]] = True
        return mask, more, found[1]

    def _is_unlisted(self, at: int, text: str) -> bool:
        """Return whether a text may be a code that the release does not list."""
        codes = not self.boxes.kinds or self.boxes.kinds[at] == CODES
        return codes and text != NOTHING and bool(self._unlisted_values[at].any())

    def _nothing(self) -> _Part:
        """Represent a fact whose values nobody names."""
        none = tuple(np.zeros(len(known), bool) for known in self._values)
        return _Part(none, (True,) * len(self._values))

    def _inside(self, part: _Part) -> NDArray[np.float64]:
        """Count the facts of each box that are of a part: float64 (boxes,)."""
        found = np.ones(len(self._sizes))
        for at, mask in enumerate(part.masks):
            found *= self.boxes.count_in(at, mask[: len(self.boxes.known[at])])
        return found

    def _of(self, part: _Part) -> NDArray[np.bool_]:
        """Find the counted facts that are of a part: bool (lines,)."""
        found = np.ones(len(self._lines), bool)
        for at, mask in enumerate(part.masks):
            found &= mask[self._lines[:, at]]
        return found

    def _beyond(self, part: _Part, inside: NDArray[np.float64]) -> float:
        """Count the facts of a part that no box holds; infinity if that is not known."""
        number = 1.0
        for at, (mask, free) in enumerate(zip(part.masks, part.free, strict=True)):
            if free and not self.boxes.sizes:
                return np.inf
            number *= mask.sum() + (self.boxes.sizes[at] - mask.size if free else 0)
        beyond = max(number - float(inside.sum()), 0.0)
        return np.inf if beyond and self._names_others(part) else beyond

    def _names_others(self, part: _Part) -> bool:
        """Return whether some facts of a part are not listed."""
        return any((mask & own).any() for mask, own in zip(part.masks, self._unlisted_values, strict=True))

    def _others_inside(self, part: _Part) -> NDArray[np.bool_]:
        """Find the boxes that may hold facts of a part that are not listed: bool (boxes,)."""
        found = np.zeros(len(self._sizes), bool)
        for at, (mask, own) in enumerate(zip(part.masks, self._unlisted_values, strict=True)):
            if (mask & own).any():
                some = [*part.masks[:at], mask & own, *part.masks[at + 1 :]]
                found |= self._inside(_Part(tuple(some), part.free)) > 0
        return found

    # --- estimates

    def _estimate(
        self,
        parts: Sequence[_Part],
        common: dict[tuple[int, ...], _Part],
        inside: dict[tuple[int, ...], NDArray[np.float64]],
    ) -> float:
        """Add up the chance of each row to contain some fact of each part, by the chances of lacking some."""
        of = [self._of(part) for part in parts]
        chance = np.zeros(self._distinct.weights.size)
        for size in range(len(parts) + 1):
            for some in combinations(range(len(parts)), size):
                lines = reduce(np.logical_or, [of[at] for at in some], np.zeros(len(self._lines), bool))
                union = np.zeros(len(self._sizes))
                beyond = 0.0
                for part in (sub for n in range(1, size + 1) for sub in combinations(some, n)):
                    sign = 1 if len(part) % 2 else -1
                    union += sign * inside[part]
                    beyond += sign * self._guessed_beyond(common[part], inside[part])
                chance += (-1) ** size * self._none_of(union, lines, beyond)
        return float(self._distinct.weights @ np.clip(chance, 0, 1))

    def _guessed_beyond(self, part: _Part, inside: NDArray[np.float64]) -> float:
        """Count the facts that were suppressed and have no count, where they are thought to be anywhere."""
        if self._counts is None or not self._unlisted:
            return 0.0
        beyond = self._beyond(part, inside)
        return 0.0 if beyond == np.inf else beyond - float((self._of(part) & (self._line_box < 0)).sum())

    def _none_of(
        self, union: NDArray[np.float64], lines: NDArray[np.bool_], beyond: float
    ) -> NDArray[np.float64]:
        """Find the chance of each row to contain none of some facts: float64 (distinct rows,).

        `union`: float64 (boxes,), facts in each box; `lines`: those with a count; `beyond`: others,
        suppressed, that are thought to be somewhere.
        """
        n = union.size
        q = self.places.chances[:n]
        shown = lines & (self._line_box >= 0)
        box = self._line_box[shown]
        share = self._line_rows[shown] / np.maximum(self._box_rows[box], 1)
        others = union - np.bincount(box, minlength=n)
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.bincount(box, np.log1p(-q[box] * share), n)
            log = log + np.where(others > 0, others * np.log1p(-q * self._each), 0.0)
            some = np.where(q > 0, -np.expm1(log) / np.where(q > 0, q, 1.0), 0.0)
        some = np.where(q > 0, some, np.bincount(box, share, n) + others * self._each)
        some = np.where(union >= self._sizes, 1.0, np.clip(some, 0.0, 1.0))
        gone = lines & (self._line_box < 0)
        outside = float(np.prod(1 - self._line_rows[gone] / max(self.n_rows, 1)))
        if beyond > 0:
            outside *= (1 - min(self._unlisted, self._hidden) / max(self.n_rows, 1)) ** beyond
        return outside * self._distinct.product(1 - some)

    @property
    def _hidden(self) -> int:
        """The most rows of a fact that was suppressed and has no count."""
        known = self._counts is not None and self._counts.suppressed
        return min(self._counts.least - 1, self.n_rows) if known else self.n_rows

    def _term(self, part: _Part, inside: NDArray[np.float64]) -> Term:
        """Say what bounds the rows that contain some fact of a part."""
        n, of = inside.size, self._of(part)
        shown = of & (self._line_box >= 0)
        box, rows = self._line_box[shown], self._line_rows[shown]
        number = np.bincount(box, minlength=n)
        more = np.where(self._others_inside(part), self._more, 0.0)
        total = np.bincount(box, rows, n) + (inside - number + more) * self._most
        others = self._sizes - self._listed - inside + number + self._more - more
        rest = self._listed_rows - np.bincount(box, rows, n) + others * self._most
        least = np.zeros(n, np.int64)
        np.maximum.at(least, box, rows)
        least = np.maximum(least, self._box_rows - np.minimum(rest, self._box_rows)).astype(np.int64)
        gone = self._line_rows[of & (self._line_box < 0)]
        beyond = self._beyond(part, inside)
        if beyond == 0:
            most_gone = 0
        elif self._counts is None or not self._counts.suppressed or beyond == np.inf:
            most_gone = self.n_rows
        else:
            uncounted = (beyond - gone.size) * self._hidden
            most_gone = int(min(self.n_rows, float(gone.sum()) + uncounted))
        return Term(
            inside > 0,
            (inside >= self._sizes) & part.whole,
            np.where((inside > 0) & part.whole, least, 0),
            np.minimum(np.where(inside > 0, total, 0), self._box_rows).astype(np.int64),
            int(gone.max(initial=0)) if part.whole else 0,
            most_gone,
        )


@dataclass(frozen=True, eq=False)
class _Part:
    """Values of each part: those that are named, and whether further ones, too."""

    masks: tuple[NDArray[np.bool_], ...]
    free: tuple[bool, ...]
    whole: bool = True  # whether all facts of these values are meant, and not some that are in them

    def both(self, other: _Part) -> _Part:
        """Take the facts that are of both."""
        masks = tuple(one & two for one, two in zip(self.masks, other.masks, strict=True))
        free = tuple(one and two for one, two in zip(self.free, other.free, strict=True))
        return _Part(masks, free, self.whole and other.whole)


@dataclass(eq=False)
class _FactPlaces(LabelPlaces):
    """Places of facts: one that is not named stands with the others of its box."""

    boxes: Boxes = field(default_factory=lambda: Boxes((), (), (), ""))

    def standing(self, name: str) -> tuple[int, ...]:
        """List the place of a fact."""
        found = self.of.get(name)
        if found is not None:
            return found
        fact = self.boxes.fact(name)
        box = -1 if fact is None else self.boxes.around(fact)
        return (self.rest.get(box, self.label.size - 1),)

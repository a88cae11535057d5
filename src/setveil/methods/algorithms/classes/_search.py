"""Find classes: cut, solve, take back what does not make answers better, and choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, listed
from setveil.base.progress import Progress
from setveil.kernels.content import content_order
from setveil.kernels.rows import Ids, frozen, places_of
from setveil.methods.algorithms._content_order import in_content_order
from setveil.methods.algorithms._public_part import PublicPart
from setveil.methods.algorithms.classes._parameters import Classes
from setveil.methods.algorithms.classes._solving import Solver
from setveil.methods.algorithms.classes._splitting import Cuts, Piece, Splitting
from setveil.methods.algorithms.classes._worth import Floats, Look, Looks, Worth
from setveil.methods.algorithms.exact._losses import how_far
from setveil.releases.published.class_recoding import ClassRecoding
from setveil.releases.published.recoding import LocalRecoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

SIZE, TIMES = 100, 20  # fewest rows of a class, where none are named: so many, and so many times k
WHOLE = 0.5  # share of the time that is left that the proof of all rows may take before that of classes
# Answers that are off by less than this share of what they are by a draft of all rows are better than by
# their proven recoding, too: proofs made that error up to 27% smaller.
CLEARLY = 0.5


@dataclass(frozen=True, eq=False)
class _FoundClasses:
    """Classes that were found, and how far answers are off with them."""

    size: int
    pieces: list[Piece]
    published: set[Cuts]  # classes that suppress more, so that all of them may be published
    error: float
    tried: int
    undone: int

    def as_dict(self) -> dict[str, Any]:
        """Say how these classes came about, for the record."""
        return {
            "class_size": self.size,
            "cuts": self.tried,
            "undone": self.undone,
            "classes": len(self.pieces),
            "error": self.error,
        }


class _Alone:
    """All rows as one class; `error` is that of the answers, by all labels found so far."""

    def __init__(self, whole: Piece, solver: Solver, worth: Worth) -> None:
        self.whole, self.solver, self.worth = whole, solver, worth
        self.error = self._error()

    def prove(self, share: float = 1.0) -> None:
        """Look for the least loss, in a share of the time that is left, unless that was done."""
        if self.solver.is_draft(self.whole):
            self.solver.prove([self.whole], "all rows", share)
            self.error = self._error()

    def _error(self) -> float:
        solved = self.solver.known[self.whole.cuts]
        assert solved is not None  # noqa: S101  (what cannot be kept in all rows was refused)
        return self.worth.error([self.worth.look(self.whole, solved)])


class ClassSearch:
    """The search for classes (see `setveil.methods.algorithms.classes.classes.anonymize`)."""

    def __init__(
        self,
        data: Transactions,
        hierarchy: Hierarchy,
        guarantee: Any,
        parameters: Classes,
        progress: Progress,
    ) -> None:
        self.original, self.tree, self.guarantee = data, hierarchy, guarantee
        self.parameters, self.progress = parameters, progress
        self.order = content_order(data.indptr, data.items)
        self.data, self.places = in_content_order(data)
        _require_items(parameters.not_split, data)
        self.sizes = self._sizes()
        self.least = min(
            max(guarantee.k, 2), data.n_rows + 1
        )  # rows that are told of; k may be beyond 64 bits
        self.solver = Solver(self.data, hierarchy, guarantee, parameters, progress, self.least)

    def _sizes(self) -> list[int]:
        """List the fewest rows of a class that are tried; refuse what cannot be."""
        k, n, wanted = self.guarantee.k, self.data.n_rows, self.parameters.class_size
        least, most = max(2 * k, 2), n // 2
        rho = getattr(self.guarantee, "rho", None)
        if rho is not None:
            least = max(least, -(-k * rho.denominator // rho.numerator))
        if wanted is not None:
            if wanted < least or (wanted > most >= least):
                reason = f"2 k = {2 * k}" if rho is None else "2 k, and k / rho"
                raise RequestError(
                    f"--class-size {wanted:,}: a class needs at least {least:,} rows ({reason}), and no more "
                    f"than half of the {n:,} rows.",
                    hint=f"From {least:,} to {most:,}." if most >= least else "Omit it: one class.",
                )
            return [wanted] if wanted <= most else []
        usual = max(TIMES * k, SIZE, least)
        return [min(usual, most)] if least <= most else []

    def run(self) -> tuple[ClassRecoding, dict[str, Any]]:
        """Find classes and recode them."""
        self.progress("all rows")
        whole = Piece(frozen(np.arange(self.data.n_rows), np.int64), ())
        self.solver.draft([whole], "all rows")
        worth = Worth(self.data, self.tree, self.guarantee.secrets, self.least)
        alone = _Alone(whole, self.solver, worth)
        ways = [self._way(size, worth, alone) for size in self.sizes]
        best = min(ways, key=lambda way: way.error, default=None)
        pieces = [whole]
        if best is not None and len(best.pieces) > 1 and best.error < alone.error:
            pieces = best.pieces
        else:
            alone.prove()
        return self._made(pieces, ways, best, alone.error)

    def _way(self, size: int, worth: Worth, alone: _Alone) -> _FoundClasses:
        """Cut with one size, undo cuts that do not improve answers, and prove the remaining classes.

        Cuts are judged by drafts of the classes, since few classes stay as they are. One class of all rows is
        judged by its proven recoding, unless the answer is clear; if it is better, the classes are not
        proven.
        """
        self.progress(f"cutting into classes of {size:,} rows")
        splitting = self._splitting()
        wanted = self.parameters.classes
        most = None if wanted is None or wanted is True else int(wanted)
        root = splitting.split(size, most, float(self.parameters.class_gain))
        tried = sum(1 for _ in root.cut_pieces())
        self.solver.draft(list(root.classes()), f"classes of {size:,} rows")
        self._mend_impossible(root)
        low = [piece for piece in root.cut_pieces() if not any(half.halves for half in piece.halves)]
        self.solver.draft(low, "larger classes")
        looks = self._looks(root, worth)
        published = self._tell(root, worth, looks)
        undone = self._undo(root, worth, looks)
        self.solver.forget(but=[alone.whole, *root.classes()])
        error = worth.error(list(looks.values()))
        if error > CLEARLY * alone.error:
            alone.prove(WHOLE)
        if error < alone.error:
            self.solver.prove(list(root.classes()), "proving classes")
            looks = self._looks(root, worth)
            published = self._tell(root, worth, looks)
            error = worth.error(list(looks.values()))
        return _FoundClasses(size, list(root.classes()), published, error, tried, undone)

    def _looks(self, root: Piece, worth: Worth) -> dict[Cuts, Look]:
        """See all classes as a reader does."""
        known = self.solver.known
        return {
            piece.cuts: worth.look(piece, solved)
            for piece in root.classes()
            if (solved := known[piece.cuts]) is not None
        }

    def _tell(self, root: Piece, worth: Worth, looks: dict[Cuts, Look]) -> set[Cuts]:
        """Suppress more in classes that are not published whole, where that improves answers; list them."""
        known, published = self.solver.known, dict[Cuts, Look]()
        for piece in root.classes():
            solved = known[piece.cuts]
            if solved is not None and solved.published is not None:
                published[piece.cuts] = worth.look(piece, solved.published)
        before = worth.error(list(looks.values()))
        error = worth.error(list((looks | published).values()))
        if not published or error >= before:
            return set()
        plain = {cuts: looks[cuts] for cuts in published}
        looks |= published
        for cuts, look in plain.items():
            now = worth.error(list((looks | {cuts: look}).values()))
            if now <= error:
                error, looks[cuts] = now, look
                del published[cuts]
        return {*published}

    def _undo(self, root: Piece, worth: Worth, looks: dict[Cuts, Look]) -> int:
        """Take cuts back, halves before wholes, where answers do not get worse; how many there were.

        What totals leave is dealt again whenever a cut was taken back.
        """
        pace, parts, expected = _parts(looks, worth)
        error, undone = worth.off(expected), 0
        for piece in list(root.cut_pieces()):
            if any(half.halves for half in piece.halves):
                continue
            self.solver.draft([piece], "larger classes")
            solved = self.solver.known[piece.cuts]
            if solved is None:
                continue
            look = worth.look(piece, solved)
            instead = worth.expected(Looks([look]), pace)[0]
            now = expected + instead - sum(parts[half.cuts] for half in piece.halves)
            if worth.off(now) > error:
                continue
            for half in piece.halves:
                del looks[half.cuts]
            looks[piece.cuts] = look
            piece.mend()
            undone += 1
            pace, parts, expected = _parts(looks, worth)
            error = worth.off(expected)
        return undone

    def _mend_impossible(self, root: Piece) -> None:
        """Take back cuts after which what is to be kept cannot be kept."""
        known = self.solver.known
        for piece in list(root.cut_pieces()):
            if any(not half.halves and known[half.cuts] is None for half in piece.halves):
                piece.mend()
                self.solver.draft([piece], "larger classes")

    def _splitting(self) -> Splitting:
        names = self.data.vocabulary.labels
        secret, barred = set(self.guarantee.secrets), set(self.parameters.not_split)
        hidden = np.array([name in secret for name in names], bool)
        held = hidden | np.array([name in barred for name in names], bool)
        return Splitting(self.data, held, ~hidden, self.guarantee.k, self.least)

    # --- what comes of it

    def _made(
        self, pieces: Sequence[Piece], ways: Sequence[_FoundClasses], best: _FoundClasses | None, alone: float
    ) -> tuple[ClassRecoding, dict[str, Any]]:
        """Put together the recoding of the rows as they were given, and what there is to say."""
        data, names = self.data, self.data.vocabulary.labels
        published = best.published if best is not None else set()
        solved = [
            one.published if piece.cuts in published and one.published is not None else one
            for piece in pieces
            if (one := self.solver.known[piece.cuts]) is not None
        ]
        class_of = np.zeros(data.n_rows, np.int64)
        nodes = np.full(data.n_occurrences, -1, np.int32)
        hidden = np.zeros(data.n_occurrences, bool)
        image = np.full(data.n_items, -1, np.int32)
        kept = np.zeros(data.n_items, bool)
        records = []
        for number, piece in enumerate(pieces):
            class_of[piece.rows] = number
        places = places_of(np.repeat(class_of, data.row_lengths()), len(pieces))
        for inside, one in zip(places, solved, strict=True):
            image[one.items] = one.nodes
            nodes[inside] = np.where(one.hidden, -1, image[data.items[inside]])
            hidden[inside] = one.hidden | (nodes[inside] < 0)
            kept[one.items[one.nodes >= 0]] = True
            records.append(one.record(int(np.unique(one.nodes[one.nodes >= 0]).size)))
        cuts = tuple(tuple((names[item], holds) for item, holds in piece.cuts) for piece in pieces)
        for record, path in zip(records, cuts, strict=True):
            record["cuts"] = [{"item": item, "holds": holds} for item, holds in path]
        order = np.empty(data.n_rows, np.int64)
        order[self.order] = class_of
        made = self._recoding(nodes, hidden)
        recoding = ClassRecoding.of(made, order, cuts, tuple(self.guarantee.secrets))
        cost, lower = sum(one.cost for one in solved), sum(one.lower for one in solved)
        details: dict[str, Any] = {
            "optimality": {
                "objective": self.parameters.objective or self.solver.usual,
                "model": "cut with suppression in each class",
                **how_far(cost, lower, self.solver.whole),
                "weighted": bool(self.parameters.weights),
                "limited": bool(self.parameters.keep) or self.parameters.max_suppressed is not None,
            },
            "classes": records,
            "split": {
                "class_size": best.size if best is not None and len(pieces) > 1 else None,
                "tried": [way.as_dict() for way in ways],
                "one_class_error": alone,
                "too_few_rows": not self.sizes,
            },
            "suppressed": [
                name for name, n, there in zip(names, data.supports().tolist(), kept.tolist(), strict=True)
                if n and not there
            ],
        }  # fmt: skip
        return recoding, details

    def _recoding(self, nodes: Ids, hidden: NDArray[np.bool_]) -> LocalRecoding:
        """Make the recoding of the rows as they were given."""
        node_of = np.empty(nodes.size, np.int32)
        node_of[self.places] = nodes
        if not self.guarantee.secrets:
            return LocalRecoding.from_nodes(self.tree, node_of)
        gone = np.empty(nodes.size, bool)
        gone[self.places] = hidden
        part = PublicPart(self.original, self.tree, self.guarantee.sensitive)
        back = np.full(self.tree.n_nodes + 1, -1, np.int32)
        back[part.node[:-1]] = np.arange(part.node.size - 1)
        public = ~part.is_sensitive[self.original.items]
        return part.local_recoding(back[node_of[public]], gone)


def _parts(looks: dict[Cuts, Look], worth: Worth) -> tuple[Floats, dict[Cuts, Floats], Floats]:
    """Deal what totals leave, and estimate the rows that hold each pair in each class, and in all."""
    seen = Looks(list(looks.values()))
    pace = worth.paces(seen)
    parts = worth.expected(seen, pace)
    return pace, dict(zip(looks, parts, strict=True)), parts.sum(axis=0)


def _require_items(items: Sequence[str], data: Transactions) -> None:
    """Refuse items that no row holds: they would protect nothing."""
    unknown = [item for item in items if item not in data.vocabulary.ids]
    if unknown:
        raise RequestError(
            f"--not-split names items that no row contains: {listed(unknown)}.",
            hint="Check how they are written.",
        )

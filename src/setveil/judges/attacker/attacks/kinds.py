"""The four kinds of attack: for each attempt whether it succeeded, and the person that it found."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.threads import each
from setveil.judges.attacker.attacks._loops import deal, rarest_sets
from setveil.judges.attacker.attacks.shown import AttackedPeople, Indexed, Queries, ShownRows
from setveil.judges.attacker.sampling import random_words
from setveil.kernels.rows import Ids, Ints, frozen, merge_rows, take_rows

KINDS = ("singling out", "linkability", "inference", "membership")
STEPS = 20_000_000_000  # labels looked at for the rarest sets of all rows together, at most
_LEAST, _MOST = 100_000, 10_000_000  # of one row
_AT_ONCE = 64
_PURPOSE = 16  # what random words are for: those of other attacks are below it


class AttackOutcome(NamedTuple):
    """The outcome of some attempts."""

    success: NDArray[np.bool_]  # bool (attempts,)
    person: Ints  # int64 (attempts,): who was attacked or found; -1: nobody

    @property
    def attempts(self) -> int:
        """Number of attempts."""
        return self.success.size

    @property
    def successes(self) -> int:
        """Number of attempts that succeeded."""
        return int(self.success.sum())


def words(seed: int, m: int, kind: str, side: int, number: int) -> NDArray[np.uint64]:
    """Draw random words: for each kind, m and side others."""
    return random_words(seed, m, _PURPOSE + 4 * KINDS.index(kind) + side, (number,))


def rare_predicates(shown: ShownRows, m: int, attacks: int, seed: int) -> tuple[Ints, Ids]:
    """Find a rarest set of at most m labels of each published row, rows in random order, each set once."""
    rows = shown.rows
    order = np.argsort(words(seed, m, KINDS[0], 0, shown.n_rows), kind="stable")
    drawn = rows.group[order]
    _, at = np.unique(drawn, return_index=True)
    wanted = drawn[np.sort(at)]
    wanted = wanted[np.diff(rows.indptr)[wanted] > 0]
    effort = min(max(STEPS // max(min(attacks, wanted.size), 1), _LEAST), _MOST)
    found_ptr, found = np.zeros(1, np.int64), np.zeros(0, np.int32)
    for begin in range(0, wanted.size, max(attacks, 1)):
        some = frozen(wanted[begin : begin + attacks], np.int64)
        sets, sizes = np.full((some.size, m), -1, np.int32), np.zeros(some.size, np.int64)

        def look(first: int, some: Ints = some, sets: Ids = sets, sizes: Ints = sizes) -> None:
            rarest_sets(
                rows.indptr, rows.items, rows.weights, rows.starts, rows.tidlists, rows.supports, some, m,
                effort, first, min(first + _AT_ONCE, some.size), sets, sizes,
            )  # fmt: skip

        each(look, range(0, some.size, _AT_ONCE))
        flat = sets[np.arange(m) < sizes[:, None]]
        all_ptr = np.concatenate((found_ptr, found_ptr[-1] + np.cumsum(sizes)))
        every = frozen(all_ptr, np.int64), frozen(np.concatenate((found, flat)), np.int32)
        _, first, _ = merge_rows(*every)
        found_ptr, found = take_rows(*every, first[:attacks])
        if found_ptr.size > attacks:
            break
    return found_ptr, found


def singling_out(people: Indexed, who: Ints, predicates: tuple[Ints, Ids]) -> AttackOutcome:
    """Find the sets of labels (`predicates`) that exactly one person fits; `who` are numbers of people."""
    n = people.starts.size - 1
    owner = np.repeat(np.arange(predicates[0].size - 1), np.diff(predicates[0]))
    queries = Queries.of(owner, predicates[1], predicates[0].size - 1)
    same = frozen(np.arange(n + 1), np.int64), frozen(np.arange(n), np.int32)
    total, one = people.counted(queries, *same)
    person = np.where(total == 1, who[people.first[one]], -1) if who.size else one
    return AttackOutcome(total == 1, person)


def linkability(
    shown: ShownRows, people: AttackedPeople, m: int, attacks: int, seed: int, side: int
) -> AttackOutcome:
    """Find the people whose two halves, with m known items each, lead to the same published row."""
    kind = KINDS[1]
    who, bits = _drawn(people, people.lengths >= 2, attacks, words(seed, m, kind, side, people.number + 1))
    one, other = _dealt(people, who, m, bits, halves=True)
    rows, others = shown.fitting(*one), shown.fitting(*other)
    both = shown.fitting(*_joined(one, other))
    # A row of each is drawn: of all pairs as many are a row and itself as rows fit both.
    pairs = np.maximum(rows * others, 1).astype(np.uint64)
    word = words(seed, m, kind, side + 2, who.size)
    return AttackOutcome((word % pairs).astype(np.int64) < both, who)


def inference(
    shown: ShownRows,
    people: AttackedPeople,
    m: int,
    attacks: int,
    seed: int,
    side: int,
    secret: NDArray[np.bool_],
) -> AttackOutcome:
    """Find the people whose likeliest further item, or secret, given m known items, is guessed rightly."""
    kind = KINDS[2]
    secrets = bool(secret.any())
    public = people.without(secret)
    able = public.lengths >= (1 if secrets else 2)
    who, bits = _drawn(
        public,
        able,
        attacks,
        words(seed, m, kind, side, people.number + 1),
    )
    known = _dealt(public, who, m, bits, spare=0 if secrets else 1)[0]
    number = 1 if secrets else m + 1
    best = shown.guesses(*known, secret if secrets else ~secret, number)
    keys = np.repeat(np.arange(who.size), np.diff(known[0])) * shown.n_items + known[1]
    unknown = ~np.isin(np.arange(who.size)[:, None] * shown.n_items + best, keys) & (best >= 0)
    first = np.argmax(unknown, axis=1)
    guess = np.where(unknown.any(axis=1), best[np.arange(who.size), first], -1)
    return AttackOutcome(people.holds(who, frozen(guess, np.int32), shown.n_items), who)


def membership(
    shown: ShownRows, people: AttackedPeople, m: int | None, attacks: int, seed: int, side: int
) -> AttackOutcome:
    """Find the people with a published row that shows m known items, or all (m None)."""
    every = int(people.lengths.max(initial=0)) if m is None else m
    who, bits = _drawn(
        people, people.lengths >= 1, attacks, words(seed, m or 0, KINDS[3], side, people.number + 1)
    )
    known, _ = _dealt(people, who, every, bits)
    return AttackOutcome(shown.fitting(*known) > 0, who)


def _drawn(
    people: AttackedPeople, among: NDArray[np.bool_], attacks: int, bits: NDArray[np.uint64]
) -> tuple[Ints, NDArray[np.uint64]]:
    """Draw different people, and a random word for each."""
    able = np.flatnonzero(among)
    who = able[np.argsort(bits[able], kind="stable")[:attacks]]
    return frozen(who, np.int64), frozen(bits[who] ^ bits[-1], np.uint64)


def _dealt(
    people: AttackedPeople,
    who: Ints,
    m: int,
    bits: NDArray[np.uint64],
    *,
    spare: int = 0,
    halves: bool = False,
) -> tuple[tuple[Ints, Ids], tuple[Ints, Ids]]:
    """Draw m items of each of some people, or of each half of their items."""
    room = int(np.minimum(people.lengths[who], m).sum())
    known_ptr, apart_ptr = np.zeros((2, who.size + 1), np.int64)
    known, apart = np.zeros((2, room), np.int32)
    with np.errstate(over="ignore"):
        deal(people.indptr, people.items, who, m, spare, halves, bits, known_ptr, known, apart_ptr, apart)
    return (
        (frozen(known_ptr, np.int64), frozen(known[: known_ptr[-1]], np.int32)),
        (frozen(apart_ptr, np.int64), frozen(apart[: apart_ptr[-1]], np.int32)),
    )


def _joined(one: tuple[Ints, Ids], other: tuple[Ints, Ids]) -> tuple[Ints, Ids]:
    """Join the known items of the halves of each person."""
    sizes = np.diff(one[0]), np.diff(other[0])
    owner = np.concatenate([np.repeat(np.arange(some.size), some) for some in sizes])
    order = np.argsort(owner, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(sizes[0] + sizes[1])))
    return frozen(indptr, np.int64), frozen(np.concatenate((one[1], other[1]))[order], np.int32)

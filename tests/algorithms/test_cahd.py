"""CAHD, compared with its twin, and the requirements of every algorithm."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from naive import cahd as naive
from releases import released
from setveil.base.errors import DataError, InfeasibleError, RequestError
from setveil.judges.guarantees.privacydegree import PrivacyDegree
from setveil.judges.guarantees.verify.privacydegree import verify_privacydegree
from setveil.methods.algorithms.cahd import cahd
from setveil.methods.algorithms.cahd._exchange import exchange_rounds, exchange_rows, sampled_loss
from setveil.methods.algorithms.cahd._groups import find_groups
from setveil.releases.published import Release
from setveil.releases.published.group_files import PublishedGroups
from setveil.releases.published.groups import Grouping, split
from setveil.rows.data.transactions import Transactions
from strategies import ALPHABETS, Rows, examples, random_rows, seeded, transactions

# SPEC §7: Bob, David, Claire, Andrea, Ellen.
PAPER = [
    frozenset(row.split())
    for row in (
        "wine meat viagra",
        "wine meat",
        "strawberries cream pregnancy-test",
        "strawberries meat",
        "wine meat cream",
    )
]
PAPER_SENSITIVE = frozenset({"viagra", "pregnancy-test"})


def drawn(seed: int, n: int, most_rows: int = 40) -> list[tuple[Rows, frozenset[str], int]]:
    """Rows, sensitive items that occur and are feasible, p."""
    rng = seeded(seed)
    out: list[tuple[Rows, frozenset[str], int]] = []
    while len(out) < n:
        alphabet = rng.choice(ALPHABETS)
        rows = random_rows(rng, alphabet, rng.randint(2, most_rows), rng.randint(1, 4))
        p = rng.randint(2, 5)
        support = Counter(item for row in rows for item in row)
        rare = [item for item in alphabet if 0 < support[item] * p <= len(rows)]
        if rare and len(support) > 1:
            sensitive = frozenset(rng.sample(rare, min(len(rare), len(support) - 1, rng.randint(1, 4))))
            out.append((rows, sensitive, p))
    return out


def run(
    rows: Rows, sensitive: frozenset[str], p: int, seed: int = 0, **parameters: int
) -> tuple[Release, PublishedGroups]:
    data = transactions(rows)
    promise = PrivacyDegree(p, tuple(sensitive))
    release = released(cahd, data, None, promise, cahd.Parameters(**parameters), seed)
    assert isinstance(release.recoding, Grouping)
    groups = release.recoding.published(release.published)
    verdict = verify_privacydegree(groups, promise, original=data)
    assert verdict.holds, (rows, sensitive, p, verdict)
    return release, groups


def groups_of(group: Sequence[int], order: Sequence[int]) -> naive.Groups:
    """Members of each group as positions in an order."""
    out: naive.Groups = [[] for _ in range(max(group, default=-1) + 1)]
    for position, row in enumerate(order):
        out[group[row]].append(position)
    return out


def multiset(groups: PublishedGroups) -> Counter[object]:
    """Multiset of groups: rows, and counts of sensitive items."""
    rows = [frozenset(row) for row in groups.qid]
    out: Counter[object] = Counter()
    for g in range(groups.n_groups):
        span = slice(groups.indptr[g], groups.indptr[g + 1])
        counts = zip(groups.item[span].tolist(), groups.count[span].tolist(), strict=True)
        inside = Counter(rows[x] for x in np.flatnonzero(groups.group == g).tolist())
        out[frozenset(inside.items()), frozenset((groups.sensitive.labels[i], n) for i, n in counts)] += 1
    return out


def as_bytes(release: Release) -> tuple[object, ...]:
    rows, grouping = release.published, release.recoding
    assert isinstance(grouping, Grouping)
    arrays = (rows.indptr, rows.items, grouping.group, grouping.indptr, grouping.item, grouping.count)
    return (*(a.tobytes() for a in (*arrays, release.row_map)), rows.vocabulary, grouping.sensitive)


@pytest.fixture
def few_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge a round of exchanges by fewer queries: over rows as few as these, more tell nothing else."""
    monkeypatch.setattr("setveil.methods.algorithms.cahd._exchange._QUERIES", 40)


@pytest.mark.parametrize("rounds", [0, 3])
def test_worked_example(rounds: int) -> None:
    """Each sensitive item's probability in its group is at most 1/2."""
    release, groups = run(PAPER, PAPER_SENSITIVE, 2, rounds=rounds)
    assert release.published.n_rows == 5
    assert release.published.vocabulary.labels == ("cream", "meat", "strawberries", "wine")
    assert groups.sensitive.labels == ("pregnancy-test", "viagra")
    for g in range(groups.n_groups):
        counts = groups.count[groups.indptr[g] : groups.indptr[g + 1]]
        assert (2 * counts <= groups.sizes[g]).all()
    # Bob is with David or Ellen, who have all his items, and Claire with someone who shares an item with her.
    assert sorted(groups.sizes.tolist()) == [1, 2, 2]
    partners = {"viagra": frozenset({"wine", "meat"}), "pregnancy-test": frozenset({"strawberries", "cream"})}
    for g in range(groups.n_groups):
        if groups.indptr[g] < groups.indptr[g + 1]:
            label = groups.sensitive.labels[groups.item[groups.indptr[g]]]
            members = [frozenset(row) for row, of in zip(groups.qid, groups.group, strict=True) if of == g]
            mine = partners.pop(label)
            members.remove(mine)
            assert members[0] & mine == (mine if label == "viagra" else members[0] & mine) != frozenset()
    assert not partners


def test_same_groups_as_twin_in_the_same_order() -> None:
    rng = seeded(610)
    for rows, sensitive, p in drawn(611, examples(1500, 250)):
        data = transactions(rows)
        qid, sensitive_rows, labels = split(data, sensitive)
        order = rng.sample(range(len(rows)), len(rows))
        alpha = rng.randint(1, 3)
        found = find_groups(qid, sensitive_rows, len(labels), np.array(order), p, alpha)
        sorted_rows = [rows[x] for x in order]
        expected = naive.groups(sorted_rows, sensitive, p, alpha)
        assert groups_of(found.tolist(), order) == [sorted(g) for g in expected], (rows, sensitive, p)
        assert (naive.degree(sorted_rows, sensitive, expected) or p) >= p


@pytest.mark.usefixtures("few_queries")
def test_same_exchanges_as_twin_and_never_a_greater_loss() -> None:
    rng = seeded(612)
    exchanged = 0
    for rows, sensitive, p in drawn(613, examples(200, 40), most_rows=60):
        data = transactions(rows)
        qid, sensitive_rows, labels = split(data, sensitive)
        order = rng.sample(range(len(rows)), len(rows))
        before = find_groups(qid, sensitive_rows, len(labels), np.array(order), p, 2)
        states = [(before, 0), *exchange_rounds(qid, sensitive_rows, np.array(order), before, p, 2)]
        after, n = states[-1]
        exchanged += n
        sorted_rows = [rows[x] for x in order]
        old, new = (groups_of(group.tolist(), order) for group in (before, after))
        if len(old) > 1 and len(old[-1]):
            expected = naive.exchange(sorted_rows, sensitive, p, 2, old, 10 * p)
            assert new == [sorted(g) for g in expected], (rows, sensitive, p)
        losses = [naive.single_item_loss(sorted_rows, sensitive, groups) for groups in (old, new)]
        assert losses[1] <= losses[0] + 1e-12
        assert n == 0 or losses[1] < losses[0]
        assert [len(g) for g in old] == [len(g) for g in new]

        kept, _ = exchange_rows(qid, sensitive_rows, np.array(order), before, p, 2)
        assert any(np.array_equal(kept, group) for group, _ in states)
        assert sampled_loss(qid, sensitive_rows, kept) <= sampled_loss(qid, sensitive_rows, before)
    assert exchanged > examples(100, 20)


@pytest.mark.usefixtures("few_queries")
def test_verifier_accepts_and_rows_are_kept() -> None:
    for rows, sensitive, p in drawn(614, examples(500, 120)):
        release, groups = run(rows, sensitive, p)
        assert sorted(release.row_map.tolist()) == list(range(len(rows)))
        for row, to in zip(rows, release.row_map.tolist(), strict=True):
            kept = release.published.items[release.published.indptr[to] : release.published.indptr[to + 1]]
            assert {release.published.vocabulary.labels[i] for i in kept} == row - sensitive
        assert (np.diff(groups.group) >= 0).all()
        assert groups.sizes.min() >= 1
        assert release.details["groups"] == groups.n_groups


@pytest.mark.usefixtures("few_queries")
def test_same_seed_same_bytes_other_seed_other_order() -> None:
    moved = 0
    for rows, sensitive, p in drawn(615, examples(100, 20)):
        (release, groups), (again, _) = run(rows, sensitive, p, 7), run(rows, sensitive, p, 7)
        other, other_groups = run(rows, sensitive, p, 8)
        assert as_bytes(release) == as_bytes(again)
        assert multiset(groups) == multiset(other_groups)
        moved += list(release.published) != list(other.published)
    assert moved


@pytest.mark.usefixtures("few_queries")
def test_published_order_tells_nothing_of_the_input_order() -> None:
    """Rows that differ in nothing but their places are published alike."""
    rng = seeded(616)
    for _ in range(examples(100, 20)):
        rows = [frozenset({"a", "b"})] * 6 + [frozenset({"c", "s"})] + [frozenset({"c"})] * 3
        releases = [run(rng.sample(rows, len(rows)), frozenset("s"), 3)[0] for _ in range(2)]
        assert list(releases[0].published) == list(releases[1].published)


@pytest.mark.usefixtures("few_queries")
def test_input_is_left_alone() -> None:
    for rows, sensitive, p in drawn(617, examples(50, 10)):
        data = transactions(rows)
        before = data.indptr.copy(), data.items.copy(), data.vocabulary.labels
        released(cahd, data, None, PrivacyDegree(p, tuple(sensitive)))
        assert np.array_equal(data.indptr, before[0])
        assert np.array_equal(data.items, before[1])
        assert data.vocabulary.labels == before[2]
        assert not data.items.flags.writeable


@pytest.mark.parametrize("n_rows", [0, 1, 5])
def test_rows_without_items(n_rows: int) -> None:
    release, groups = run([frozenset()] * n_rows, frozenset("s"), 2)
    assert list(release.published) == [()] * n_rows
    assert groups.sizes.tolist() == [n_rows] * (n_rows > 0)


def test_all_rows_equal_but_for_one_sensitive_item() -> None:
    _, groups = run([frozenset("abs"), *[frozenset("ab")] * 4], frozenset("s"), 3)
    assert list(groups.qid) == [("a", "b")] * 5
    assert sorted(groups.sizes.tolist()) == [2, 3]


def test_rows_with_sensitive_items_only() -> None:
    rows = [frozenset("s"), frozenset("t"), *[frozenset("a")] * 3, frozenset("b")]
    _, groups = run(rows, frozenset("st"), 2)
    assert Counter(groups.qid) == Counter({(): 2, ("a",): 3, ("b",): 1})


def test_a_run_of_conflicting_rows_costs_one_walk() -> None:
    """A tenth of the rows hold the same item and follow each other; every one is tried."""
    n = examples(200_000, 5_000)
    rows = Transactions.from_codes(
        np.concatenate([np.arange(n // 10), np.full(n - n // 10 + 1, n // 10)]), np.zeros(n // 10, int), ["s"]
    )
    qid = (np.zeros(n + 1, np.int64), np.zeros(0, np.int32))
    group = find_groups(qid, (rows.indptr, rows.items), 1, np.arange(n), 10, 3)
    assert (np.bincount(group) == 10).all()


def test_bad_parameters() -> None:
    for wrong in (0, -1, 1.5, "3", True):
        with pytest.raises(RequestError, match="alpha"):
            cahd.Parameters(alpha=wrong)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="rounds"):
        cahd.Parameters(rounds=-1)


def anonymize(rows: Sequence[str], p: int, sensitive: str) -> Release:
    data = transactions([frozenset(row) for row in rows])
    return released(cahd, data, None, PrivacyDegree(p, tuple(sensitive)))


@pytest.mark.parametrize(
    ("rows", "p", "sensitive", "message"),
    [
        (["as", "b", "cs", "d", "e"], 3, "s", "greatest possible p is 2"),
        (["as", "b", "cs", "d", "et", "t", "t"], 4, "ts", "'t' is in 3 of 7 rows"),
        (["as", "s", "c"], 2, "s", "No p of at least 2"),
        (["as"], 2, "s", "No p of at least 2"),
    ],
)
def test_infeasible_names_item_and_greatest_p(rows: list[str], p: int, sensitive: str, message: str) -> None:
    with pytest.raises(InfeasibleError) as caught:
        anonymize(rows, p, sensitive)
    assert message in str(caught.value)


def test_bad_sensitive_items() -> None:
    with pytest.raises(DataError, match=r"not in the data: 'x', 'y'"):
        anonymize(["as", "b", "c"], 2, "xsy")
    with pytest.raises(RequestError, match="No sensitive item"):
        anonymize(["as", "b", "c"], 2, "")
    with pytest.raises(RequestError, match="All 2 items"):
        anonymize(["s", "t", "", ""], 2, "st")
    with pytest.raises(RequestError, match="All 1 items"):
        anonymize(["s"], 2, "s")


@pytest.mark.parametrize("p", [1, 0, -3, 2.0, "2", True, math.inf])
def test_bad_p(p: object) -> None:
    with pytest.raises(RequestError, match="p must be an integer of at least 2"):
        PrivacyDegree(p, ("s",))  # type: ignore[arg-type]


def test_sensitive_items_are_labels() -> None:
    assert PrivacyDegree(2, (10, 9, "9")).sensitive == ("9", "10")  # type: ignore[arg-type]
    for wrong in ("s", b"s", 5, ("",), (1.5,), (None,), (True,)):
        with pytest.raises(RequestError):
            PrivacyDegree(2, wrong)  # type: ignore[arg-type]
    assert PrivacyDegree(2, ("s",)).as_dict() == {"model": "privacy-degree", "p": 2, "sensitive": ["s"]}

"""Attack risk, compared with its definitions, set by set; sampled estimates compared with counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from math import inf
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from naive import risk as naive
from naive.km import item_order
from releases import released
from setveil.base.errors import RequestError
from setveil.base.progress import listener
from setveil.base.threads import use_threads
from setveil.judges.attacker import _sharded_search, attack, inference, sampling
from setveil.judges.attacker._sampled_supports import draw_sets, sampled_supports
from setveil.judges.attacker.attack import attack_risk
from setveil.judges.attacker.knowledge import knowledge_of
from setveil.judges.attacker.sampling import clopper_pearson, estimate
from setveil.kernels.rows import frozen
from setveil.methods.algorithms import aa
from setveil.releases.published.group_files import PublishedGroups
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from strategies import ALPHABETS, Rows, examples, random_cases, random_rows, seeded, transactions

MARKS = (0.2, 0.5, 0.8)


def random_problem(rng: Random) -> tuple[Rows, list[str], list[int], list[int]]:
    """Rows, private items (perhaps none, perhaps some that do not occur), sizes, thresholds."""
    alphabet = rng.choice(ALPHABETS)
    items = rng.sample(alphabet, rng.randint(1, 8))
    rows = random_rows(rng, items, rng.choice((0, 1, 3, 8, 14)), rng.choice((1, 3, 6)))
    private = rng.sample(alphabet, rng.choice((0, 0, 1, 2, 3)))
    sizes = rng.sample(range(1, 6), rng.randint(1, 3))
    return rows, private, sizes, rng.sample((2, 3, 5, 10), rng.randint(1, 3))


def expected(
    rows: Sequence[frozenset[str]],
    chances: naive.Chances,
    order: Sequence[str],
    private: Sequence[str],
    sizes: Sequence[int],
    thresholds: Sequence[int],
) -> dict[str, Any]:
    """Return the brute-force answer in the form of the real one; probabilities may differ by rounding."""
    sizes, thresholds = sorted(sizes), sorted(thresholds)
    risk: list[dict[str, Any]] = []
    for m in sizes:
        risk += [
            {
                "m": m,
                "choice": "best",
                "rows_below": {str(t): naive.best(rows, m, t) for t in thresholds},
                "probability": pytest.approx(float(naive.best_probability(rows, m)), rel=1e-12),
                "fewest": naive.easiest(rows, m),
                "exact": True,
            },
            {
                "m": m,
                "choice": "random",
                "rows_below": {str(t): float(naive.random(rows, m, t)) for t in thresholds},
                "probability": pytest.approx(float(naive.random_probability(rows, m)), rel=1e-12),
                "exact": True,
            },
        ]
    m, below = min(max(sizes), 2), thresholds[len(thresholds) // 2]
    items = [
        {"item": item, "support": support, "rows": revealed}
        for item, support, revealed in naive.revealing(rows, order, m, below)
    ]
    out = {
        "rows": len(rows),
        "empty_rows": sum(not row for row in rows),
        "thresholds": thresholds,
        "risk": risk,
        "revealing": {"m": m, "below": below, "exact": True, "items": items},
    }
    if private:
        out["inference"] = [_inference(rows, chances, order, private, m) for m in sizes]
    return out


def _inference(
    rows: Sequence[frozenset[str]],
    chances: naive.Chances,
    order: Sequence[str],
    private: Sequence[str],
    m: int,
) -> dict[str, Any]:
    given = naive.chances_of(rows, chances, private, m)
    probability, item, itemset, support = naive.greatest(rows, given, order, private)
    return {
        "m": m,
        "probability": float(probability),
        "item": item,
        "itemset": itemset,
        "support": support,
        "items": [
            {"item": name, "probability": float(p), "itemset": known, "support": rows_with}
            for name, p, known, rows_with in naive.greatest_of_each(rows, given, order, private)
        ],
        "exact": True,
        "rows_above": {str(h): naive.above(rows, given, h) for h in MARKS},
    }


def check(rows: Rows, private: list[str], sizes: list[int], thresholds: list[int]) -> None:
    labels = {item for row in rows for item in row}
    order = item_order(labels)
    public, chances = naive.hidden(rows, private)
    private = [item for item in item_order(labels | set(private)) if item in private]
    found = attack_risk(transactions(rows), sizes=sizes, thresholds=thresholds, private=private)
    assert found == expected(public, chances, order, private, sizes, thresholds), rows


def test_agrees_with_brute_force() -> None:
    rng = seeded(80)
    for _ in range(examples(2500, 250)):
        check(*random_problem(rng))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_agrees_in_small_pieces(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each count is interrupted again and again, or few rows are looked up at once."""
    for module in (_sharded_search, inference):
        monkeypatch.setattr(module, "STEPS_AT_ONCE", 1)
    monkeypatch.setattr(_sharded_search, "WORTH", 1)
    monkeypatch.setattr(_sharded_search, "TOGETHER", 3)
    monkeypatch.setattr("setveil.judges.attacker._table_supports.AT_ONCE", 3)
    rng = seeded(81 + threads)
    monkeypatch.setattr(attack, "is_worth_it", lambda rows, m, effort: rng.random() < 0.3)
    use_threads(threads)
    for _ in range(examples(200, 40)):
        check(*random_problem(rng))


def test_first_of_many_itemsets_that_give_the_same_away() -> None:
    """Dense rows whose private item hangs on several items together, so that equal probabilities abound."""
    rng = seeded(92)
    found_sizes = []
    for _ in range(examples(1000, 250)):
        items = rng.sample(["2", "3", "10", "20", "100"], rng.choice((4, 5)))
        rows = [frozenset(rng.sample(items, rng.choice((2, 3, 3, 4)))) for _ in range(rng.choice((6, 9)))]
        rows = [row | {"9"} if rng.random() < 0.5 else row for row in rows for _ in range(rng.choice((1, 2)))]
        public, chances = naive.hidden(rows, ["9"])
        order = item_order({item for row in public for item in row})
        found = attack_risk(transactions(rows), sizes=(1, 2, 3), private=["9"])["inference"]
        assert found == [_inference(public, chances, order, ["9"], m) for m in (1, 2, 3)], rows
        found_sizes += [len(entry["itemset"]) for entry in found]
    assert {1, 2, 3} <= set(found_sizes)


def random_groups(rng: Random) -> tuple[Rows, list[int], list[dict[str, int]]]:
    """Rows by group, the group of each, and how many rows of each group hold which sensitive item."""
    items = rng.sample(list("abcdefgh"), rng.randint(1, 6))
    rows = random_rows(rng, items, rng.choice((0, 2, 6, 12)), rng.choice((1, 3, 5)))
    sizes: list[int] = []
    while sum(sizes) < len(rows):
        sizes.append(min(rng.choice((1, 2, 2, 3, 5, 7)), len(rows) - sum(sizes)))
    counts = []
    for size in sizes:
        some = rng.sample(["s", "t", "x", "1", "a"], rng.randint(0, 3))  # "a" may be in the rows as well
        counts.append({item: rng.randint(1, size) for item in some})
    return rows, [g for g, size in enumerate(sizes) for _ in range(size)], counts


def published(rows: Rows, group_of: list[int], counts: Sequence[Mapping[str, int]]) -> PublishedGroups:
    sensitive = Vocabulary(item_order({item for some in counts for item in some}))
    entries = [sorted((sensitive.ids[item], n) for item, n in some.items()) for some in counts]
    return PublishedGroups(
        transactions(rows),
        frozen(np.array(group_of, np.int64), np.int64),
        sensitive,
        frozen(np.cumsum([0, *map(len, entries)]), np.int64),
        frozen(np.array([i for some in entries for i, _ in some], np.int32), np.int32),
        frozen(np.array([n for some in entries for _, n in some], np.int64), np.int64),
    )


def test_groups_agree_with_brute_force() -> None:
    rng = seeded(82)
    for _ in range(examples(1000, 150)):
        rows, group_of, counts = random_groups(rng)
        groups = published(rows, group_of, counts)
        private = rng.choice(([], [], ["s"], ["t", "a"], ["b", "1", "unknown"]))
        found = attack_risk(groups, sizes=(1, 3), private=private)
        hidden = private or list(groups.sensitive.labels)
        public, chances = naive.in_groups(rows, group_of, counts, hidden)
        order = item_order({item for row in rows for item in row})
        hidden = [x for x in item_order({*order, *groups.sensitive.labels, *hidden}) if x in hidden]
        assert found == expected(public, chances, order, hidden, (1, 3), (2, 5, 10)), (rows, counts)


def test_groups_without_a_common_denominator() -> None:
    """Sizes whose common multiple is beyond the exact integers of floating-point numbers."""
    sizes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41]
    rows = [frozenset("xyz"[: 1 + i % 3]) for size in sizes for i in range(size)]
    group_of = [g for g, size in enumerate(sizes) for _ in range(size)]
    counts = [{"s": 1 + size // 3} for size in sizes]
    found = attack_risk(published(rows, group_of, counts), sizes=[2])["inference"][0]
    public, chances = naive.in_groups(rows, group_of, counts, ["s"])
    given = naive.chances_of(public, chances, ["s"], 2)
    probability, *first = naive.greatest(public, given, ["x", "y", "z"], ["s"])
    assert found["probability"] == pytest.approx(float(probability), rel=1e-9)
    assert [found["item"], found["itemset"], found["support"]] == first


def test_a_sensitive_item_that_leaked_into_the_rows_is_certain() -> None:
    rows = [frozenset("as"), frozenset("a"), frozenset("b"), frozenset("b")]
    found = attack_risk(published(rows, [0, 0, 1, 1], [{"s": 1}, {}]), sizes=[1])["inference"][0]
    assert (found["probability"], found["itemset"]) == (0.75, ["a"])  # (1 + 1/2) / 2
    damaged = published(rows[2:], [0, 0], [{"s": 7}])
    assert attack_risk(damaged, sizes=[1])["inference"][0]["probability"] == 1


def hard_problem(rng: Random) -> tuple[Rows, list[str]]:
    items = [f"i{j}" for j in range(12)]
    return [row or frozenset(["i0"]) for row in random_rows(rng, items, 150, 6)], ["i3", "i7"]


@pytest.fixture
def few_draws(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Draw few rows and sets; look at each for `factor` times longer than the effort allows."""
    monkeypatch.setattr(sampling, "MOST_DRAWS", 40)
    monkeypatch.setattr(attack, "SET_DRAWS", 100)

    look_at_some = sampling.look_at_some

    def patch(factor: int) -> None:
        def look(among: Any, weights: Any, words: Any, look: Any, effort: int, *more: Any) -> Any:
            return look_at_some(among, weights, words, look, factor * effort, *more)

        monkeypatch.setattr(sampling, "look_at_some", look)
        monkeypatch.setattr(inference, "look_at_some", look)

    return patch


@pytest.mark.parametrize("factor", [1, 10**6])
def test_intervals_hold_the_truth(factor: int, few_draws: Callable[[int], None]) -> None:
    """Check that intervals contain the truth; they are wide if sampling finds nothing (factor 1)."""
    few_draws(factor)
    rng = seeded(83)
    options: dict[str, Any] = {"sizes": (1, 2, 3), "thresholds": (2, 4, 8)}
    inside: dict[str, list[bool]] = {"best": [], "random": [], "inference": []}
    widths: dict[str, list[float]] = {kind: [] for kind in inside}
    for seed in range(examples(60, 8)):
        if seed % 20 == 0:
            rows, private = hard_problem(rng)
            data = transactions(rows)
            truth = attack_risk(data, private=private, **options)
        found = attack_risk(data, private=private, seed=seed, effort=5, **options)
        for key in ("risk", "inference"):
            for true, drawn in zip(truth[key], found[key], strict=True):
                assert true["exact"]
                assert not drawn["exact"]
                assert drawn["confidence"] == 0.95
                assert drawn["sampled"] >= 20
                what = "rows_below" if key == "risk" else "rows_above"
                assert drawn[what].keys() == drawn["interval"].keys() == true[what].keys()
                if true.get("choice") == "best":
                    assert drawn["fewest"] >= true["fewest"]
                numbers = list(drawn[what].values())
                assert numbers == sorted(numbers, reverse=key == "inference")
                for limit, (low, high) in drawn["interval"].items():
                    assert 0 <= low <= drawn[what][limit] <= high <= len(rows)
                    kind = true.get("choice", key)
                    inside[kind].append(low <= true[what][limit] <= high)
                    widths[kind].append(high - low)
        for true, drawn in zip(truth["inference"], found["inference"], strict=True):
            assert drawn["probability"] <= true["probability"]
            for item, seen in zip(true["items"], drawn["items"], strict=True):
                assert item["item"] == seen["item"]
                assert 0 < seen["probability"] <= item["probability"]
    assert min(float(np.mean(some)) for some in inside.values()) >= 0.93
    mean = {kind: float(np.mean(some)) for kind, some in widths.items()}
    if factor == 1:
        assert min(mean["best"], mean["inference"]) > 50  # nothing was found out
    else:
        assert 1 < min(mean.values()) <= max(mean.values()) < 50


def test_what_is_known_is_not_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single items were counted exactly; pairs find at least those rows, and rows of one item no others."""
    monkeypatch.setattr(attack, "is_worth_it", lambda rows, m, effort: False)
    rows = hard_problem(seeded(84))[0] + [frozenset(["i1"])] * 40 + [frozenset(["rare"])]
    once = attack_risk(transactions(rows), sizes=[1], effort=1000)["risk"][0]
    assert once["exact"]
    twice = attack_risk(transactions(rows), sizes=[2], effort=1000)["risk"]
    assert not twice[0]["exact"]
    assert not twice[1]["exact"]
    for t, (low, high) in twice[0]["interval"].items():
        assert once["rows_below"][t] <= low <= high <= len(rows) - 40
    assert twice[1]["interval"]["2"][0] >= 1  # the row of the rare item


def test_estimated_probabilities_are_near(few_draws: Callable[[int], None]) -> None:
    few_draws(10**6)
    rows = hard_problem(seeded(85))[0]
    truth = attack_risk(transactions(rows), sizes=[2])["risk"]
    seeds = range(examples(30, 8))
    drawn = [attack_risk(transactions(rows), sizes=[2], effort=5, seed=seed)["risk"] for seed in seeds]
    for i in range(2):
        mean = np.mean([risk[i]["probability"] for risk in drawn])
        assert mean == pytest.approx(truth[i]["probability"], rel=0.15)


def test_rows_that_no_choice_singles_out_are_not_singled_out_by_chance() -> None:
    """Check that knowing the best choice narrows the interval of the random one."""
    rng = seeded(93)
    rows = [frozenset([f"id{i}", *rng.sample("abcdefghij", 7)]) for i in range(100)] * 2
    best, random = attack_risk(transactions(rows), sizes=[3], thresholds=[2, 5], effort=8000)["risk"]
    assert best["exact"]
    assert not random["exact"]
    assert best["rows_below"] == {"2": 0, "5": 200}
    assert random["interval"]["2"] == [0, 0]
    low, high = random["interval"]["5"]
    assert 0 < low < high < 200


def test_drawn_sets_are_equally_likely() -> None:
    """Check pairs of one row, distinguished by their supports."""
    pairs = list(combinations("abcd", 2))
    rows = [frozenset("abcd")] + [frozenset(pair) for n, pair in enumerate(pairs) for _ in range(n)]
    known = knowledge_of(transactions(rows), ())
    seeds = np.random.PCG64(8).random_raw(examples(12_000, 3000))
    whole = np.full(seeds.size, np.argmax(known.rows.lengths))
    supports = sampled_supports(known.rows, whole, seeds, 2)
    counts = np.bincount(supports)
    assert counts.size == 7
    assert counts[0] == 0
    assert (np.abs(counts[1:] - seeds.size / 6) < 5 * np.sqrt(seeds.size * 5 / 36)).all()
    supports = sampled_supports(known.rows, whole, seeds, 9)
    assert set(supports.tolist()) == {1}  # the whole row


def test_supports_of_drawn_sets() -> None:
    """Against looking at all rows for each."""
    rng = seeded(94)
    for _ in range(examples(100, 20)):
        sets, _, _, _ = random_problem(rng)
        rows = knowledge_of(transactions([*sets, frozenset("x")]), ()).rows
        m, draws = rng.randint(1, 5), rng.choice((1, 30, 300))
        targets = np.array(rng.choices(range(rows.weights.size), k=draws), np.int64)
        seeds = np.array([rng.getrandbits(64) for _ in range(draws)], np.uint64)
        drawn = np.full((draws, m), -1, np.int32)
        with np.errstate(over="ignore"):
            draw_sets(*rows[:2], targets, seeds, drawn)
        supports = sampled_supports(rows, targets, seeds, m)
        distinct = [{*rows.items[a:b].tolist()} for a, b in pairwise(rows.indptr.tolist())]
        for row, some, support in zip(targets.tolist(), drawn.tolist(), supports.tolist(), strict=True):
            wanted = {*some} - {-1}
            assert wanted <= distinct[row]
            assert len(wanted) == min(m, len(distinct[row]))
            assert support == sum(rows.weights[at] for at, one in enumerate(distinct) if wanted <= one)


def test_clopper_pearson() -> None:
    """Against the quantiles of the beta distribution that it amounts to."""
    from scipy.stats import beta

    for draws in (1, 2, 7, 40, 1000, 10_000):
        for hits in {0, 1, draws // 3, draws - 1, draws}:
            low, high = clopper_pearson(hits, draws)
            assert low == pytest.approx(beta.ppf(0.025, hits, draws - hits + 1) if hits else 0.0, rel=1e-6)
            expected = beta.ppf(0.975, hits + 1, draws - hits) if hits < draws else 1.0
            assert high == pytest.approx(expected, rel=1e-6)
    assert clopper_pearson(3, 10, 0.5)[0] > clopper_pearson(3, 10)[0]


def test_estimates_of_known_shares() -> None:
    rng = np.random.default_rng(7)
    weights = rng.integers(1, 9, 50)
    unknown = rng.random(50) < 0.7
    counts = rng.random(50) < 0.3
    truth = 11 + int(weights[unknown & counts].sum())
    inside = []
    for _ in range(500):
        drawn = rng.choice(50, 60, p=weights / weights.sum())
        hit = counts[drawn].astype(float)
        found = estimate(11, unknown, weights, drawn, hit)
        assert found.low <= found.value <= found.high
        inside.append(found.low <= truth <= found.high)
        wider = estimate(11, unknown, weights, drawn, np.where(rng.random(60) < 0.2, np.nan, hit))
        assert wider.low <= found.low
        assert found.high <= wider.high
    assert np.mean(inside) >= 0.95
    nobody = estimate(3, np.zeros(50, bool), weights, drawn, hit)
    assert nobody == (3, 3, 3)
    nothing_drawn = estimate(3, unknown, weights, drawn[:0], hit[:0])
    assert (nothing_drawn.low, nothing_drawn.high) == (3, 3 + weights[unknown].sum())


def test_same_seed_same_answer() -> None:
    rows, private = hard_problem(seeded(86))
    for effort in (None, 5):
        first, second, other = (
            attack_risk(transactions(rows), private=private, effort=effort, seed=seed) for seed in (1, 1, 2)
        )
        assert json.dumps(first, allow_nan=False) == json.dumps(second)
        assert json.loads(json.dumps(first)) == first
        assert (first == other) is (effort is None)


def test_further_requests_change_nothing() -> None:
    rows, private = hard_problem(seeded(87))
    for effort in (None, 3000):
        whole = attack_risk(transactions(rows), private=private, effort=effort)
        for m in (1, 2, 3, 4):
            alone = attack_risk(transactions(rows), private=private, effort=effort, sizes=[m])
            if effort is None:
                assert alone["risk"] == [entry for entry in whole["risk"] if entry["m"] == m]
                assert alone["inference"] == [entry for entry in whole["inference"] if entry["m"] == m]
            assert alone["revealing"] == whole["revealing"] or m == 1


def test_the_order_of_rows_does_not_matter() -> None:
    rng = seeded(88)
    for _ in range(examples(30, 10)):
        rows, private = hard_problem(rng)
        found = [
            attack_risk(transactions(some), private=private) for some in (rows, rng.sample(rows, len(rows)))
        ]
        for answer in found:
            for entry in answer["risk"]:
                entry["probability"] = round(entry["probability"], 12)
            assert answer == found[0]


def test_an_anonymous_release_singles_out_nobody() -> None:
    for case in random_cases(examples(150, 30), 89):
        if case.m == inf:
            continue
        m = int(case.m)
        release = released(aa, case.data, case.tree, case.guarantee, aa.Parameters())
        found = attack_risk(release.published, sizes=range(1, m + 1), thresholds=[case.k])
        assert all(entry["rows_below"] == {str(case.k): 0} for entry in found["risk"])
        assert found["revealing"]["items"] == []


def test_worked_example() -> None:
    """Four baskets: with two items the attacker finds who bought the test."""
    rows = [frozenset(row) for row in (["beer", "test"], ["beer", "wine"], ["beer", "wine", "test"], [])]
    found = attack_risk(transactions(rows), sizes=[1, 2], thresholds=[2, 3], private=["test"])
    assert found["empty_rows"] == 1
    below = [(entry["m"], entry["choice"], entry["rows_below"]) for entry in found["risk"]]
    assert below == [
        (1, "best", {"2": 0, "3": 2}),
        (1, "random", {"2": 0.0, "3": 1.0}),
        (2, "best", {"2": 0, "3": 2}),
        (2, "random", {"2": 0.0, "3": 2.0}),
    ]
    assert found["risk"][0]["probability"] == pytest.approx((1 / 3 + 1 / 2 + 1 / 2 + 1 / 4) / 4)
    assert found["revealing"]["items"] == [{"item": "wine", "support": 2, "rows": 2}]
    first = found["inference"][0]
    assert (first["probability"], first["item"], first["itemset"]) == (2 / 3, "test", ["beer"])
    assert first["rows_above"] == {"0.2": 4, "0.5": 3, "0.8": 0}  # the empty set: 2 of 4 rows


def test_the_greatest_probability_of_each_private_item() -> None:
    """Check the example of rho-uncertainty: inferences from public items, without items that never occur."""
    rows = ["a1 b1 s", "a1 b1", "a1 b2 s", "a2 b2", "a2 b1 t", "a2 b2 s t", "b1", "a1 b2"]
    data = transactions([frozenset(row.split()) for row in rows])
    one, two = attack_risk(data, sizes=[1, 2], private=["t", "s", "unknown"])["inference"]
    of_s = {"item": "s", "probability": 1 / 2, "itemset": ["a1"], "support": 4}
    assert one["items"] == [of_s, {"item": "t", "probability": 2 / 3, "itemset": ["a2"], "support": 3}]
    assert two["items"] == [of_s, {"item": "t", "probability": 1.0, "itemset": ["a2", "b1"], "support": 1}]
    assert {key: two[key] for key in two["items"][1]} == two["items"][1]


def test_a_rare_companion_does_not_blame_a_frequent_item() -> None:
    rows = [frozenset(["milk"])] * 20 + [frozenset(["milk", "caviar"])]
    found = attack_risk(transactions(rows))["revealing"]
    assert found == {
        "m": 2,
        "below": 5,
        "exact": True,
        "items": [{"item": "caviar", "support": 1, "rows": 1}],
    }
    pairs = [frozenset(["milk", "rye"])] + [frozenset(["milk"])] * 9 + [frozenset(["rye"])] * 9
    items = attack_risk(transactions(pairs))["revealing"]["items"]
    assert [(entry["item"], entry["rows"]) for entry in items] == [("milk", 1), ("rye", 1)]
    many = [frozenset([f"x{i}"]) for i in range(30)]
    assert len(attack_risk(transactions(many))["revealing"]["items"]) == 20


def test_no_rows_and_empty_rows() -> None:
    nothing = attack_risk(Transactions.from_rows([]), sizes=[1, 7], private=["x"])
    assert (nothing["rows"], nothing["empty_rows"]) == (0, 0)
    assert [entry["m"] for entry in nothing["risk"]] == [1, 1, 7, 7]
    assert all(not any(entry["rows_below"].values()) for entry in nothing["risk"])
    assert {entry["probability"] for entry in nothing["risk"]} == {0.0}
    first = nothing["inference"][0]
    assert (first["probability"], first["item"], first["itemset"], first["support"]) == (0.0, None, [], 0)
    assert first["items"] == []
    empty = attack_risk(Transactions.from_rows([[], []]), effort=1)
    assert empty["empty_rows"] == 2
    assert {entry["probability"] for entry in empty["risk"]} == {0.5}
    assert "inference" not in empty
    only_private = attack_risk(Transactions.from_rows([["s"], ["s"], []]), private=["s"])
    assert only_private["empty_rows"] == 3
    assert only_private["inference"][3]["rows_above"] == {"0.2": 3, "0.5": 3, "0.8": 0}


def test_more_known_items_than_any_row_has() -> None:
    rows, private = hard_problem(seeded(90))
    longest = max(map(len, rows))
    found = attack_risk(transactions(rows), private=private, sizes=(longest, 10**9))
    for key in ("risk", "inference"):
        entries = [{**entry, "m": 0} for entry in found[key]]
        assert entries[: len(entries) // 2] == entries[len(entries) // 2 :]


def test_progress_is_reported() -> None:
    heard: list[tuple[str, float | None]] = []
    hear = listener(lambda *told: heard.append(told))
    rows, private = hard_problem(seeded(91))
    attack_risk(transactions(rows), private=private, effort=5, progress=hear)
    assert {phase for phase, _ in heard} >= {
        "rows that 1 known item single out",
        "rows that 4 known items single out",
        "items that single out rows",
        "risk of 2 known items",
    }
    assert all(done is not None and 0 <= done <= 1 for _, done in heard)


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": []},
        {"sizes": [0]},
        {"sizes": [1.5]},
        {"sizes": [True]},
        {"thresholds": [1]},
        {"thresholds": []},
        {"seed": -1},
        {"effort": 0},
        {"private": "milk"},
    ],
)
def test_bad_requests(wrong: dict[str, Any]) -> None:
    with pytest.raises(RequestError, match=r"expected|must be"):
        attack_risk(transactions([frozenset(["milk"])]), **wrong)


def test_public_name() -> None:
    rows = [["milk", "tea"], ["milk"], ["tea"]]
    found = sv.risk(rows, m=2, thresholds=[2], private=["tea"])
    assert found == attack_risk(
        transactions([frozenset(row) for row in rows]), sizes=[2], thresholds=[2], private=["tea"]
    )


def test_what_is_found_shows_itself_as_a_table() -> None:
    rows = [["tea", "<milk>"], ["tea", "rum"], ["tea"]]
    found = sv.risk(rows, m=[1, 2], thresholds=[2, 5])
    assert isinstance(found, dict)
    assert json.loads(json.dumps(found)) == dict(found)
    assert "1 item    2 (67%)   3 (100%)" in repr(found) == str(found)
    page = found._repr_html_()
    assert page.count("<table>") == 2
    assert "<td>2 (67%)</td>" in page
    frame = found.to_polars()
    assert frame.columns == ["choice", "m", "below_2", "below_5", "right_guess"]
    for line, entry in zip(frame.iter_rows(named=True), found["risk"], strict=True):
        assert (line["choice"], line["m"]) == (entry["choice"], entry["m"])
        assert {"2": line["below_2"], "5": line["below_5"]} == entry["rows_below"]
        assert line["right_guess"] == pytest.approx(float(entry["probability"]))
    long = found.to_pandas(long=True)
    assert long[(long.choice == "best") & (long.m == 1)].set_index("below")["rows"].to_dict() == {
        2: 2.0,
        5: 3.0,
    }
    both = sv.risk([["tea"]] * 3, m=1, original=rows)
    assert set(both) == {"before", "after"} == set(both.to_polars()["data"])
    assert "before   2 (67%)" in repr(both)

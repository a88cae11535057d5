"""Every measure against fractions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest

from naive import anonymize as cuts
from naive import measures as naive
from naive.km import item_order
from setveil.base.errors import DataError
from setveil.commands.measure import measure
from setveil.judges.utility.counts import counts
from setveil.judges.utility.entropy import entropy
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.judges.utility.supports import label_supports, support_errors
from setveil.judges.utility.ul import ul
from setveil.releases.published.recoding import LocalRecoding, Recoding, recode
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from strategies import COMPILED, Case, Rows, examples, random_case, seeded, transactions


@dataclass(frozen=True)
class Outcome:
    """Rows, the label of each item (None: suppressed), and the published rows."""

    rows: Rows
    image: dict[str, str | None]
    published: Rows

    @property
    def original(self) -> Transactions:
        return transactions(self.rows)

    @property
    def release(self) -> Transactions:
        return transactions(self.published)

    @property
    def recoding(self) -> Recoding:
        items = item_order(self.image)
        labels = sorted({label for label in self.image.values() if label is not None})
        position = {label: i for i, label in enumerate(labels)}
        image = [-1 if (to := self.image[item]) is None else position[to] for item in items]
        return Recoding(Vocabulary(items), Vocabulary(labels), np.array(image, np.int32), len(items))


def recoded(rows: Sequence[str], image: dict[str, str | None]) -> Outcome:
    as_sets = [frozenset(row) for row in rows]
    return Outcome(as_sets, image, naive.recode(as_sets, image))


def random_outcome(rng: Random) -> Outcome:
    """A random cut; in half of the cases some labels of it suppressed."""
    case = random_case(rng, most_rows=20)
    cut = rng.choice(cuts.all_cuts(case.parents))
    image = cuts.image(case.parents, cut)
    if rng.random() < 0.5:
        dropped = {node for node in cut if rng.random() < 0.3}
        image = {item: None if to in dropped else to for item, to in image.items()}
    return Outcome(case.rows, image, naive.recode(case.rows, image))


def outcomes(n: int, seed: int) -> list[Outcome]:
    rng = seeded(seed)
    return [random_outcome(rng) for _ in range(n)]


def damaged(outcome: Outcome, rng: Random) -> Outcome:
    """Lose and make up rows: supports change, and a label may appear that the recoding does not know."""
    rows = [row for row in outcome.published if rng.random() < 0.7]
    rows += [frozenset({rng.choice(["?", *filter(None, outcome.image.values())])}) for _ in range(3)]
    return Outcome(outcome.rows, outcome.image, rows)


def test_ncp_and_lm() -> None:
    for outcome in outcomes(examples(1500, 150), 100):
        original, recoding = outcome.original, outcome.recoding
        assert ncp(original, recoding) == float(naive.ncp(outcome.rows, outcome.image)), outcome
        if len(outcome.image) > 1:
            assert lm(original, recoding) == float(naive.lm(outcome.rows, outcome.image)), outcome


def test_cut_as_recoding() -> None:
    """The recoding made from a cut measures as the cut does."""
    rng = seeded(101)
    for _ in range(examples(300, 40)):
        case = random_case(rng, most_rows=20)
        cut = rng.choice(cuts.all_cuts(case.parents))
        recoding = Recoding.from_cut(case.tree, map(case.tree.id, cut))
        assert ncp(case.data, recoding) == float(cuts.cost(case.rows, case.parents, cut)), (case, cut)
        assert [frozenset(row) for row in recode(case.data, recoding)] == cuts.recode(
            case.rows, case.parents, cut
        )
        assert list(recoding.published.labels) == [v for v in cuts.node_order(case.parents) if v in cut]
        assert recoding.domain == len(cuts.leaves(case.parents))


def test_ncp_of_some_items() -> None:
    rng = seeded(102)
    for outcome in outcomes(examples(300, 40), 103):
        original = outcome.original
        only = np.array([rng.random() < 0.5 for _ in range(original.n_items)], bool)
        kept = {label for label, keep in zip(original.vocabulary.labels, only, strict=True) if keep}
        rows = [row & kept for row in outcome.rows]
        assert ncp(original, outcome.recoding, only) == float(naive.ncp(rows, outcome.image)), outcome


def test_counts() -> None:
    rng = seeded(104)
    for outcome in outcomes(examples(500, 60), 105):
        for o in (outcome, damaged(outcome, rng)):
            expected = naive.counts(o.rows, o.published, o.image)
            assert counts(o.original, o.release, o.recoding) == {k: float(v) for k, v in expected.items()}, o


def test_support_errors() -> None:
    rng = seeded(106)
    for outcome in outcomes(examples(500, 60), 107):
        for o in (outcome, damaged(outcome, rng)):
            table = label_supports(o.original, o.release, o.recoding)
            expected = naive.label_supports(o.rows, o.published, o.image)
            assert {
                e["label"]: (e["items"], e["support"], e["original_support"]) for e in table
            } == expected, o
            assert len(table) == len(expected)
            for entry in table:
                _, after, before = expected[entry["label"]]
                assert entry["relative_error"] == (abs(after - before) / before if before else None)
            summary = support_errors(o.original, o.release, o.recoding)
            for measured, fractions in naive.support_errors(o.rows, o.published, o.image).items():
                assert summary[measured] == pytest.approx({k: float(v) for k, v in fractions.items()}), o


def test_entropy() -> None:
    seen = set()
    for o in outcomes(examples(500, 60), 111):
        found = entropy(o.original, o.recoding)
        bits, share = naive.entropy(o.rows, o.image)
        assert found == {"bits": pytest.approx(bits, abs=1e-12), "share": pytest.approx(share, abs=1e-12)}, o
        assert 0 <= found["share"] <= 1, o
        seen.add((found["share"] > 0) + (found["share"] == 1))
    assert seen == {0, 1, 2}, "nothing, something and everything was lost"


def test_entropy_by_hand() -> None:
    """Check that 90 of 100 cost few bits, 50 of 100 many, and a suppressed item as many as at the root."""
    rows = ["a"] * 90 + ["b"] * 10 + ["c"] * 50 + ["d"] * 50
    images: list[tuple[dict[str, str | None], float]] = [
        ({"a": "A", "b": "A", "c": "c", "d": "d"}, 46.9),
        ({"a": "a", "b": "b", "c": "B", "d": "B"}, 100),
        (dict.fromkeys("abcd", "ALL"), 346.9),
        (dict.fromkeys("abcd"), 346.9),
        ({"a": "a", "b": None, "c": "c", "d": "d"}, 43.2),
    ]
    for image, bits in images:
        o = recoded(rows, image)
        found = entropy(o.original, o.recoding)
        assert found["bits"] * 200 == pytest.approx(bits, abs=0.05)
        assert found["share"] == pytest.approx(found["bits"] * 200 / 346.9, abs=1e-3)


def test_entropy_of_a_local_recoding() -> None:
    """Labels are read apart: under A, a is one of 2 in 3; a, suppressed once, is 1 of 3 in 5 occurrences."""
    tree = Case([], {"a": "A", "b": "A", "A": "*", "c": "*", "*": None}, 1, 1).tree
    data = transactions([frozenset("a"), frozenset("a"), frozenset("a"), frozenset("b"), frozenset("c")])
    nodes = [tree.id("A"), tree.id("A"), -1, tree.id("A"), tree.id("c")]
    found = entropy(data, LocalRecoding.from_nodes(tree, np.array(nodes)))
    lost = 2 * np.log2(3 / 2) + np.log2(3) + np.log2(5 / 3)
    assert found["bits"] == pytest.approx(lost / 5)
    assert found["share"] == pytest.approx(lost / (3 * np.log2(5 / 3) + 2 * np.log2(5)))


def test_faithful_release_keeps_label_supports() -> None:
    for o in outcomes(examples(100, 20), 108):
        summary = support_errors(o.original, o.release, o.recoding)
        assert summary["label_support_error"] == {"mean": 0.0, "max": 0.0}


def test_the_papers_example() -> None:
    """VLDB 2008, section 3.3: {a1, a2} -> A costs 2.5 / 11."""
    case = Case(
        [frozenset(row.split()) for row in ("a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2")],
        {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "*", "B": "*", "*": None}, 2, 2,
    )  # fmt: skip
    cut = map(case.tree.id, ["A", "b1", "b2"])
    recoding = Recoding.from_cut(case.tree, cut)
    assert ncp(case.data, recoding) == 2.5 / 11  # five occurrences of a1 and a2, 2/4 each
    assert lm(case.data, recoding) == 5 / 33  # five times 1/3


def test_one_label_for_everything() -> None:
    o = recoded(["abc", "a", "", "bc"], dict.fromkeys("abcd", "*"))
    assert ncp(o.original, o.recoding) == lm(o.original, o.recoding) == 1.0
    summary = measure(o.original, o.release, o.recoding)
    assert summary["published_labels"] == 1
    assert summary["mean_row_length_before"] == 1.5
    assert summary["mean_row_length_after"] == 0.75
    # The label's support of 3 spread over 4 items: 0.75 instead of 2, each.
    assert summary["item_support_error"] == pytest.approx({"mean": 1.25 / 2, "median": 1.25 / 2})


def test_suppressed_items_lose_everything() -> None:
    o = recoded(["ab", "b", "bc"], {"a": "a", "b": None, "c": "C", "d": "C"})
    assert ncp(o.original, o.recoding) == (3 + 2 / 4) / 5
    assert lm(o.original, o.recoding) == pytest.approx((3 + 1 / 3) / 5, abs=1e-15)
    summary = measure(o.original, o.release, o.recoding)
    assert (summary["suppressed_items"], summary["suppressed_occurrences"]) == (1, 3)
    assert (summary["generalized_items"], summary["generalized_occurrences"]) == (1, 1)
    assert (summary["unchanged_items"], summary["unchanged_occurrences"]) == (1, 1)
    # a: right; b: 1 of 1 lost; c: 1/2 instead of 1.
    assert summary["item_support_error"] == {"mean": 0.5, "median": 0.5}


def test_everything_suppressed() -> None:
    o = recoded(["ab", "b"], dict.fromkeys("ab", None))
    summary = measure(o.original, o.release, o.recoding)
    assert summary["ncp"] == summary["lm"] == 1.0
    assert summary["published_labels"] == 0
    assert summary["item_support_error"] == {"mean": 1.0, "median": 1.0}
    assert summary["label_support_error"] == {"mean": 0.0, "max": 0.0}


@pytest.mark.parametrize(("to", "loss"), [("a", 0.0), ("A", 0.0), (None, 1.0)])
def test_a_domain_of_one_item(to: str | None, loss: float) -> None:
    o = recoded(["a", "", "a"], {"a": to})
    assert ncp(o.original, o.recoding) == lm(o.original, o.recoding) == loss


def test_an_inner_node_over_one_leaf_costs_nothing() -> None:
    o = recoded(["ab", "b"], {"a": "A", "b": "b"})
    summary = measure(o.original, o.release, o.recoding)
    assert summary["ncp"] == summary["lm"] == 0.0
    assert (summary["unchanged_items"], summary["generalized_items"]) == (1, 1)


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_nothing_occurs(n_rows: int) -> None:
    o = recoded([""] * n_rows, {"a": "*", "b": "*"})
    summary = measure(o.original, o.release, o.recoding)
    assert summary == {
        "ncp": 0.0,
        "lm": 0.0,
        "ul": {"log2": None, "log2_labels": None, "suppressed": 0.0},
        "entropy": {"share": 0.0, "bits": 0.0},
        "unchanged_items": 0,
        "generalized_items": 0,
        "suppressed_items": 0,
        "published_labels": 0,
        "unchanged_occurrences": 0,
        "generalized_occurrences": 0,
        "suppressed_occurrences": 0,
        "mean_row_length_before": 0.0,
        "mean_row_length_after": 0.0,
        "label_support_error": {"mean": 0.0, "max": 0.0},
        "item_support_error": {"mean": 0.0, "median": 0.0},
    }


@pytest.mark.skipif(not COMPILED, reason="slow without compilation")
def test_large_counts_stay_exact() -> None:
    """Occurrences times |I| fits no 32-bit integer."""
    n = 3000
    items = [str(i) for i in range(n)]
    o = Outcome(
        [frozenset(items)] * 300, {**dict.fromkeys(items, "*"), "0": "0"}, [frozenset({"0", "*"})] * 300
    )
    assert ncp(o.original, o.recoding) == ((n - 1) * (n - 1) / n) / n
    assert lm(o.original, o.recoding) == ((n - 1) * (n - 2) / (n - 1)) / n


def test_recoding_of_another_file() -> None:
    o = recoded(["ab"], {"a": "a", "b": "b"})
    with pytest.raises(DataError, match="'c'"):
        ncp(transactions([frozenset("abc")]), o.recoding)


def test_measure_holds_every_measure() -> None:
    rng = seeded(109)
    outcome = next(o for o in outcomes(200, 110) if None in o.image.values() and any(o.rows))
    for o in (outcome, damaged(outcome, rng)):
        arguments = o.original, o.release, o.recoding
        assert measure(*arguments) == {
            "ncp": ncp(o.original, o.recoding),
            "lm": lm(o.original, o.recoding),
            "ul": ul(*arguments),
            "entropy": entropy(o.original, o.recoding),
            **counts(*arguments),
            **support_errors(*arguments),
        }

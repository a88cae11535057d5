"""The command `measure` for the releases of the other privacy models."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from statistics import median, pstdev

import pytest

from cli_helpers import Done, Row, refused, rows_of, table, together, write
from model_runs import COAT, MOLES, RUNS, json_of, recoding_of
from naive import estimates as naive
from naive.estimates import Published


@pytest.fixture(scope="module")
def measured(
    finished: tuple[Path, dict[str, Done]], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Done]:
    folder, _ = finished
    alone = tmp_path_factory.mktemp("handed-out")
    shutil.copytree(folder / "lg" / "published", alone / "published")
    shutil.copytree(folder / "cahd" / "published", alone / "cahd")
    shutil.copytree(folder / "lg", alone / "broken")
    write(alone / "broken" / "internal" / "rows.csv", "input_row,published_row\n0,1\n1,0\n")
    commands: dict[str, list[object]] = {}
    for name, run in RUNS.items():
        commands[name] = ["measure", f"{run.data}.csv", name, "--json"]
        if run.tree:
            commands[f"{name}, weighted"] = [*commands[name], *run.hierarchy]
    baskets = ["measure", "baskets.csv"]
    commands |= {
        "lg, text": [*baskets, "lg/published"],
        "lg handed out": [*baskets, alone / "published"],
        "lg with another map": [*baskets, alone / "broken"],
        "cahd handed out": ["measure", "groups.csv", alone / "cahd", "--json"],
        "cahd, the file": ["measure", "groups.csv", "cahd/published/data.csv"],
        "cahd by two": ["measure", "groups.csv", "cahd", "--group-by", 2, "--queries", 50, "--json"],
        "cahd, text": ["measure", "groups.csv", "cahd"],
        "cahd by 200": ["measure", "groups.csv", "cahd", "--group-by", 200],
        "cahd with itemsets": ["measure", "groups.csv", "cahd", "--itemsets", 2],
        "another original": ["measure", "coat.csv", "lg"],
    }  # fmt: skip
    return dict(zip(commands, together(list(commands.values()), folder), strict=True))


@pytest.mark.parametrize("name", RUNS)
def test_measure_finds_again_what_the_report_says(
    name: str, finished: tuple[Path, dict[str, Done]], measured: dict[str, Done]
) -> None:
    report = json_of(finished[0] / name / "internal" / "report.json")
    answer = measured[name].ok().json()
    assert answer["utility"] == report["utility"]
    n = len(RUNS[name].rows)
    assert answer["rows"] == {"original": n, "release": n}


@pytest.mark.parametrize("name", [name for name in RUNS if RUNS[name].tree])
def test_a_hierarchy_weighs_the_labels(
    name: str, finished: tuple[Path, dict[str, Done]], measured: dict[str, Done]
) -> None:
    """Check every kind of label: the folder says which items it represents."""
    utility = json_of(finished[0] / name / "internal" / "report.json")["utility"]
    found = measured[f"{name}, weighted"].ok().json()["utility"]
    weighted = found.pop("ul_weighted")
    assert found == utility
    assert weighted["log2_labels"] <= utility["ul"]["log2_labels"]
    assert weighted["suppressed"] == utility["ul"]["suppressed"]


def test_measure_a_local_recoding(measured: dict[str, Done]) -> None:
    assert "labels of different levels overlap" in measured["lg, text"].ok().out
    refused(measured["lg handed out"], 4, "rows.csv", "whole folder")
    refused(measured["lg with another map"], 4, "rows.csv", "126")
    refused(measured["another original"], 4)


def test_measure_groups(finished: tuple[Path, dict[str, Done]], measured: dict[str, Done]) -> None:
    utility = json_of(finished[0] / "cahd" / "internal" / "report.json")["utility"]
    assert measured["cahd handed out"].ok().json()["utility"] == utility
    assert (
        measured["cahd by two"].ok().json()["utility"]["kl"].items() >= {"queries": 50, "group_by": 2}.items()
    )
    text = measured["cahd, text"].ok().out
    for word in ("KL", "1,000 group-by queries", "groups", "group sizes"):
        assert word in text
    refused(measured["cahd by 200"], 2, "200")


def test_measure_does_not_take_the_file_of_a_grouped_release_for_baskets(measured: dict[str, Done]) -> None:
    assert measured["cahd, the file"].ok().out == measured["cahd, text"].out


def test_measures_that_a_grouped_release_does_not_have(measured: dict[str, Done]) -> None:
    refused(measured["cahd with itemsets"], 2, "--itemsets")


def _relative_errors(
    original: Sequence[Row], published: Sequence[Row], recoding: dict[str, str], queries: Sequence[Row]
) -> list[float]:
    """Compute relative errors of COUNT queries as defined; none for queries that no row matches."""
    size = Counter(label for label in recoding.values() if label)
    out = []
    for query in queries:
        exact = sum(query <= row for row in original)
        if not exact:
            continue
        labels = Counter(recoding[item] for item in query)
        one_row = Fraction(1)
        for label, t in labels.items():
            one_row *= Fraction(2 ** (size[label] - t), 2 ** size[label] - 1) if label else 0
        matches = sum(labels.keys() <= row for row in published)
        out.append(float(abs(exact - matches * one_row) / exact))
    return out


def test_queries(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    folder, _ = finished
    mine = ["a", "a,b", "c,d", "e,f", "g,h", "b,h", "c,e,f,g", "d,c,h,b,g"]
    questions = write(tmp_path / "Q.txt", "".join(f"{line}\n" for line in mine))
    wrong = write(tmp_path / "wrong.txt", "a\n\nzz\n")
    command = ["measure", "coat.csv", "coat", "--json"]
    file, uniform, frequent, five, two, again, other, both, no_item, none, long, rare = together(
        [
            [*command, "--queries-file", questions],
            [*command, "--queries-file", questions, "--estimator", "uniform"],
            [*command, "--query-support", 5, "--query-size", 2],
            [*command, "--query-support", 5, "--query-size", 2, "--queries", 2],
            [*command, "--queries", 30],
            [*command, "--queries", 30],
            [*command, "--queries", 30, "--seed", 1],
            [*command, "--queries", 30, "--queries-file", questions],
            [*command, "--queries-file", wrong],
            [*command, "--queries-file", "no.txt"],
            [*command, "--queries", 30, "--query-size", 9],
            [*command, "--query-support", 9],
        ],
        folder,
    )
    recoding, published = recoding_of(folder / "coat"), rows_of(folder / "coat" / "published" / "data.csv")
    pairs = [frozenset(pair) for pair in combinations("abcdefgh", 2)]
    often = [pair for pair in pairs if sum(pair <= row for row in COAT) >= 5]
    own = [frozenset(line.split(",")) for line in mine]
    counts = {
        (item, label): int(rows) for item, label, rows in table(folder / "coat/published/counts.csv")[1:]
    }
    about = json_of(folder / "coat" / "published" / "about.json")
    shared = Published(published, about["labels"], counts, about["counts"]["least"])
    for done, errors_of in ((file, own), (frequent, often), (uniform, own)):
        are = done.ok().json()["utility"]["are"]
        truth = {query: sum(query <= row for row in COAT) for query in errors_of}
        errors = [abs(naive.estimate(shared, sorted(query)) / n - 1) for query, n in truth.items() if n]
        alone = _relative_errors(COAT, published, recoding, errors_of)
        expected = [(are, alone)] if done is uniform else [(are, errors), (are["from_rows"], alone)]
        assert ("from_rows" in are) == (done is not uniform)
        assert are["estimator"] == ("uniform" if done is uniform else "maximum entropy")
        assert (are["queries"], are["left_out"]) == (len(alone), len(errors_of) - len(alone))
        for spread, by_hand in expected:
            assert spread["mean"] == pytest.approx(sum(by_hand) / len(by_hand))
            assert spread["sd"] == pytest.approx(pstdev(by_hand))
            assert spread["median"] == pytest.approx(median(by_hand))
    assert five.ok().json()["utility"]["are"]["queries"] == 2 < len(often)
    assert two.ok().out == again.ok().out != other.ok().out
    assert two.json()["utility"]["are"]["queries"] == 30
    refused(both, 2, "--queries-file", "--queries")
    refused(no_item, 4, "wrong.txt", "line 2", "line 3", "'zz'")
    refused(none, 4, "no.txt")
    refused(long, 2, "9", "at most 8")
    refused(rare, 2, "9")


def test_itemsets_that_survive(finished: tuple[Path, dict[str, Done]], tmp_path: Path) -> None:
    folder, _ = finished
    commands: list[list[object]] = [
        ["measure", "moles.csv", "border", "--itemsets", 2, "--private", "S.txt", "--json"],
        ["measure", "moles.csv", "border", "--itemsets", 2, "--itemset-length", 2, "--json"],
        ["measure", "moles.csv", "border", "--itemsets", 2],
        ["measure", "moles.csv", "border", "--itemsets", 0],
        ["measure", "moles.csv", "border", "--itemsets", 2, "--private", "9"],
    ]
    every, short, text, zero, unknown = together(commands, folder)
    items = sorted({item for row in MOLES for item in row})
    supports = {
        frozenset(itemset): sum(set(itemset) <= row for row in MOLES)
        for size in range(1, 6)
        for itemset in combinations(items, size)
    }
    frequent = {itemset for itemset, support in supports.items() if support >= 2}
    gone = set("abcd")
    found = every.ok().json()["utility"]["itemsets"]
    assert (found["frequent"], found["kept"]) == (len(frequent), sum(not s & gone for s in frequent))
    assert found["supports_unchanged"] is True
    for line in found["by_length"]:
        of_length = [itemset for itemset in frequent if len(itemset) == line["length"]]
        assert (line["frequent"], line["kept"]) == (len(of_length), sum(not s & gone for s in of_length))
    rules = [s for s in frequent if len(s) > 1 and len(s & set("123")) == 1]
    assert (found["rules"], found["rules_kept"]) == (len(rules), sum(not s & gone for s in rules))
    found = short.ok().json()["utility"]["itemsets"]
    assert found["frequent"] == sum(len(itemset) <= 2 for itemset in frequent)
    assert "exactly its original support" in text.ok().out
    assert zero.code == 2
    refused(unknown, 4, "'9'")

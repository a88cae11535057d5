"""The report of a study: fronts, the method with the least loss, figures, omissions of the external page."""

from __future__ import annotations

import re
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from naive import fronts as naive
from setveil.report.compare.charts import draw_fronts, draw_lines
from setveil.report.compare.figures import line_figures
from setveil.report.compare.fronts import non_dominated, relation, rounded, standings
from setveil.report.compare.html_tables import best_table, middle_setting
from setveil.report.compare.page import comparison_html, figures
from setveil.report.compare.releases import fronts_of, loss_of, standings_of
from setveil.report.compare.table import clean, families, public
from setveil.report.compare.words import (
    all_caveats,
    dominance_sentences,
    dominance_short,
    equal_promise,
    headline,
    proven,
)
from setveil.report.drawing.plots import PALETTE, plot
from setveil.report.drawing.scales import Numbers, Spaced, number, text_of

NAMING_ITEMS = ["keep", "utility", "weights"]
STUDY = {
    "name": "Baskets",
    "seeds": [0],
    "time_limit": 60,
    "memory_limit": 4000,
    "file_sha256": "f" * 64,
    "versions": {"setveil": "0.1.0", "numpy": "2.0"},
    "naming_items": NAMING_ITEMS,
}
LOSSES = {"aa": 0.3, "exact": 0.2, "lg": 0.5}
HOSTILE = '<script>alert("x")</script> & "שלום" \' {{datum}} ]]>'

few_numbers = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0])
points = st.lists(st.tuples(few_numbers, few_numbers), max_size=8)


def run(method: str = "aa", **values: Any) -> dict[str, Any]:
    """Make one row of results.csv that ended well."""
    algorithm = method.partition(" ")[0]
    return {
        "run": "0123456789abcdef", "data": "shop", "algorithm": algorithm, "method": method,
        "model": "k-anonymity" if algorithm == "lg" else "km-anonymity", "seed": 0, "status": "done",
        "error": None, "rows": 1000, "items": 50, "occurrences": 4321, "data_sha256": "d" * 64,
        "setveil": "0.1.0", **values,
    }  # fmt: skip


def measured(method: str, k: int, m: int | str | None, data: str = "shop", **values: Any) -> dict[str, Any]:
    """Make a row with every measure."""
    strength = k * (9 if m is None else 4 if m == "inf" else int(m))
    loss = min(1.0, LOSSES.get(method, 0.4) * strength / 100)
    return run(
        method, k=k, m=m, data=data, lm=loss, ncp=loss * 1.01, are_mean=loss * 40, are_median=loss * 9,
        queries=1000, itemsets_frequent=200, itemsets_kept=int(200 * (1 - loss)), risk_m=3, risk_exact=True,
        risk_below_2=0, risk_below_5=300 // strength, risk_below_10=400 // strength,
        risk_probability=1 / strength, risk_before_2=300, risk_before_5=777, risk_before_10=888,
        risk_before_probability=0.4567, seconds_anonymize=0.01 * strength, seconds=1.0,
        peak_memory_mb=100 + k, **values,
    )  # fmt: skip


def table() -> list[dict[str, Any]]:
    rows = [measured(method, k, m) for method in ("aa", "exact") for k in (2, 5, 10) for m in (1, 2)]
    return [*rows, *(measured("lg", k, None) for k in (2, 5, 10))]


def small() -> list[dict[str, Any]]:
    """Rows of `table` with few measures, which is fast to draw."""
    slow = {"ncp", "are_mean", "are_median", "itemsets_kept", "peak_memory_mb", "seconds_anonymize"}
    return [{key: value for key, value in row.items() if key not in slow} for row in table()]


def family(rows: list[dict[str, Any]]) -> Any:
    (only,) = families(clean(rows))
    return only


def release(method: str, loss: float, risk: float, **values: Any) -> dict[str, Any]:
    return run(method, lm=loss, risk_m=2, risk_probability=risk, risk_below_5=int(risk * 1000), **values)


class Page(HTMLParser):
    """The tags and the text of a page; fails on tags that do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in {"meta", "br", "col"}:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def svg_texts(svg: str) -> list[str]:
    return [element.text or "" for element in ET.fromstring(svg).iter() if element.tag.endswith("text")]  # noqa: S314


# Fronts


@given(points)
def test_the_front_holds_what_no_other_point_betters(found: list[naive.Point]) -> None:
    places = non_dominated(found)
    assert set(places) == naive.front(found)
    assert len(places) == len(set(places))
    assert [found[i][1] for i in places] == sorted(found[i][1] for i in places)


@given(points, points)
def test_relations_count_what_comparing_all_pairs_counts(a: list[naive.Point], b: list[naive.Point]) -> None:
    found = relation(a, b)
    assert (found.b_met, found.b_beaten) == naive.met(a, b)
    assert (found.a_met, found.a_beaten) == naive.met(b, a)
    assert (found.a_of, found.b_of) == (len(a), len(b))
    back = relation(b, a).kind
    if found.kind == "dominates":
        assert b
        assert back == "mixed"
    if found.kind == "equal":
        assert back == "equal"
        assert {a[i] for i in non_dominated(a)} == {b[i] for i in non_dominated(b)}
    if found.kind == "covers":
        assert back == "mixed"


@pytest.mark.parametrize(
    ("a", "b", "kind"),
    [
        ([(0.1, 0.1)], [(0.1, 0.2), (0.3, 0.1)], "dominates"),
        ([(0.1, 0.1)], [(0.1, 0.1), (0.3, 0.1)], "equal"),
        ([(0.1, 0.1), (0.05, 0.3)], [(0.1, 0.1), (0.3, 0.3)], "covers"),
        ([(0.1, 0.2)], [(0.2, 0.1)], "mixed"),
        ([], [(0.2, 0.1)], "mixed"),
        ([(0.2, 0.1)], [], "mixed"),
    ],
)
def test_kinds_of_relations(a: list[naive.Point], b: list[naive.Point], kind: str) -> None:
    assert relation(a, b).kind == kind


def test_nobody_wins_by_being_tried_more_often() -> None:
    losses = [{"often": 0.2, "rare": 0.1}, {"often": 0.1, "aa": 0.2}, {"often": 0.1, "aa": 0.3}]
    first, second, _ = standings(losses, ["often", "rare", "aa"])
    assert (first.method, first.least, first.compared) == ("rare", 1, 1)
    assert (second.method, second.least, second.compared) == ("often", 2, 3)


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), few_numbers, min_size=1), max_size=6))
def test_standings_count_what_comparing_all_pairs_counts(losses: list[dict[str, float]]) -> None:
    found = {standing.method: standing for standing in standings(losses, "abcd")}
    for method, standing in found.items():
        assert (standing.compared, standing.alone, standing.shared) == naive.least(losses, method)
        assert (standing.excess is None) == (standing.compared == 0)
        if standing.excess == 0:
            assert standing.least == standing.compared
    order = [standing.least / max(standing.compared, 1) for standing in standings(losses, "abcd")]
    assert order == sorted(order, reverse=True)


def test_losses_that_differ_by_rounding_tie() -> None:
    rows = [run("aa", k=2, lm=0.1 + 0.2), run("exact", k=2, lm=0.3)]
    assert rows[0]["lm"] != rows[1]["lm"]
    of = family(rows)
    loss = loss_of(of)
    assert loss
    (found,) = standings_of(of, loss).values()
    assert [(s.alone, s.shared, s.excess) for s in found] == [(0, 1, 0), (0, 1, 0)]
    assert rounded(1e-300) > 0


# Sentences


def test_dominance_is_said_exactly() -> None:
    rows = [
        release("exact", 0.1, 0.2, k=2), release("exact", 0.2, 0.1, k=5),
        release("aa", 0.15, 0.2, k=2), release("aa", 0.2, 0.15, k=5),
        release("mhghs", 0.1, 0.2, k=2), release("mhghs", 0.3, 0.1, k=5),
    ]  # fmt: skip
    fronts = fronts_of(family(rows))[0]
    assert dominance_sentences(fronts, "shop") == [
        "On shop, for every release of aa there is one of exact that loses no more and leaves no greater "
        "chance to pick the right row, and is better in one of the two.",
        "On shop, for every release of mhghs there is one of exact that loses no more and leaves no greater "
        "chance to pick the right row; 1 of 2 is bettered in one of the two, 1 only equalled.",
    ]
    assert dominance_short(fronts, "shop") == (
        "By loss and risk, exact dominates aa; exact meets or betters every release of mhghs."
    )
    assert "puts no more rows at risk" in dominance_sentences(fronts_of(family(rows))[1], "shop")[0]


def test_nothing_is_said_to_dominate_where_fronts_cross_or_are_the_same() -> None:
    crossing = [release("aa", 0.1, 0.2), release("exact", 0.2, 0.1)]
    assert dominance_sentences(fronts_of(family(crossing))[0], "shop") == [
        "On shop no method dominates another."
    ]
    same = [release(method, *at) for method in ("aa", "exact") for at in ((0.1, 0.2), (0.2, 0.1))]
    for i, row in enumerate(same):
        row["k"] = 2 + i % 2
    assert dominance_sentences(fronts_of(family(same))[0], "shop") == [
        "On shop, the best releases of aa and exact are equal in both."
    ]
    alone = [release("aa", 0.1, 0.2, k=2), release("aa", 0.2, 0.1, k=5)]
    assert dominance_sentences(fronts_of(family(alone))[0], "shop") == []


def test_a_short_answer_names_the_strongest_only() -> None:
    at = {
        "aa": (0.1, 0.1),
        "b": (0.09, 0.5),
        "c": (0.05, 0.8),
        "x": (0.3, 0.4),
        "y": (0.2, 0.6),
        "z": (0.4, 0.9),
        "d": (0.02, 0.93),
        "w": (0.06, 0.95),
    }
    rows = [release(method, *point) for method, point in at.items()]
    assert dominance_short(fronts_of(family(rows))[0], "shop") == (
        "By loss and risk, aa dominates x, y and z; b dominates y and z; more under Who dominates."
    )


def test_several_dominating_methods_share_a_sentence() -> None:
    rows = [release("aa", 0.1, 0.2), release("exact", 0.2, 0.1), release("lg", 0.5, 0.5)]
    assert dominance_short(fronts_of(family(rows))[0], "shop") == (
        "By loss and risk, aa and exact each dominate lg."
    )


def test_only_equal_promises_are_compared() -> None:
    rows = [
        run("aa", k=5, m=2, lm=0.3), run("exact", k=5, m=2, lm=0.2), run("exact", k=10, m=2, lm=0.1),
        run("aa", k=5, m=1, lm=0.1), run("exact", k=5, m=1, lm=0.1), run("lg", k=5, lm=0.01),
        run("mhghs", k=5, m=1, status="timeout", error="60 s"), run("mhghs", k=5, m=2, lm=0.25),
    ]  # fmt: skip
    of = family(rows)
    loss = loss_of(of)
    assert loss
    found = standings_of(of, loss)["shop"]
    assert [(s.method, s.compared, s.alone, s.shared) for s in found] == [
        ("exact", 2, 1, 1),
        ("aa", 2, 0, 1),
        ("mhghs", 1, 0, 0),
        ("lg", 0, 0, 0),
    ]
    assert equal_promise(found, loss) == (
        "exact loses least (LM) at all 2 guarantees compared; aa loses 0.05 more on average and ties at "
        "1 of 2; mhghs loses 0.05 more on average."
    )
    assert headline([of]) == "At equal guarantee, exact loses least on shop."
    notes = " ".join(all_caveats([of]))
    assert "guarantee different things (k^m-anonymity: aa, exact and mhghs; k-anonymity" in notes
    assert "1 run made no release" in notes


def test_equal_methods_lead_together_and_data_sets_are_distinguished() -> None:
    rows = [run(method, k=2, lm=0.1, data=data) for data in "xy" for method in ("aa", "exact")]
    assert headline([family(rows)]) == "At equal guarantee, aa and exact lose least on x and y."
    rows[3]["lm"] = 0.05
    assert headline([family(rows)]) == "Least loss at equal guarantee: aa and exact on x; exact on y."
    assert headline([family(rows[:1])]).startswith("Nothing to compare")


def test_promises_of_different_seeds_are_not_mixed() -> None:
    rows = [
        run("aa", k=2, lm=0.1, seed=0), run("exact", k=2, lm=0.2, seed=0),
        run("aa", k=2, lm=0.4, seed=1), run("exact", k=2, lm=0.3, seed=1),
    ]  # fmt: skip
    of = family(rows)
    loss = loss_of(of)
    assert loss
    assert [(s.method, s.alone) for s in standings_of(of, loss)["shop"]] == [("aa", 1), ("exact", 1)]


def test_what_is_proven_is_said() -> None:
    rows = [run("exact", k=2, lm=0.1, gap=0.0), run("exact", k=5, lm=0.2, gap=0.031), run("aa", k=2, lm=0.2)]
    assert proven(family(rows)) == (
        "Of the 2 releases of exact, 1 is proven optimal for its model; the gap of "
        "the others is at most 3.1%."
    )
    assert proven(family(rows[2:])) == ""
    for row, objective in zip(rows, ("lm", "entropy"), strict=False):
        row |= {"objective": objective, "gap": 0.0, "method": f"exact objective={objective}"}
    assert proven(family(rows)) == (
        "All 2 releases of exact objective=lm and exact objective=entropy are proven optimal for "
        "their model, each by the loss that it minimizes."
    )


def test_loss_is_lm_else_are_else_kl() -> None:
    def stem(*rows: dict[str, Any]) -> str | None:
        loss = loss_of(family(list(rows)))
        return loss.stem if loss else None

    assert stem(run(lm=0.1, are_mean=2.0)) == "loss_lm"
    assert stem(run(lm=None, are_mean=2.0), run("lg", lm=0.1, are_mean=1.0)) == "are_mean"
    assert stem(run("cahd", model="privacy-degree", kl_mean=0.1)) == "kl"
    assert stem(run()) is None


# Figures


def test_each_measure_is_drawn_against_each_number_that_varies() -> None:
    stems = [figure.stem for figure in line_figures(family(table()))]
    answers = ["are_median", "itemsets_kept", "risk_rows"]
    measures = ["loss_lm", *answers, "seconds", "memory", "loss_ncp", "are_mean"]
    assert stems == [f"{measure}-{name}" for measure in measures for name in "km"]
    assert [fronts.stem for fronts in fronts_of(family(table()))] == ["front-risk_chance", "front-risk_rows"]


def test_panels_are_data_sets_by_the_other_parameters() -> None:
    rows = [measured("aa", k, m, data) for data in ("x", "y") for k in (2, 5) for m in (1, 2)]
    by_k, by_m = line_figures(family(rows))[:2]
    assert [(data, [panel.title for panel in panels]) for data, panels in by_k.bands] == [
        ("x", ["m = 1", "m = 2"]),
        ("y", ["m = 1", "m = 2"]),
    ]
    assert [panel.title for panel in by_m.bands[0][1]] == ["k = 2", "k = 5"]
    assert [dot.x for dot in by_k.bands[0][1][0].dots] == [2, 5]


def test_one_parameter_at_a_time_gives_one_panel_each() -> None:
    rows = [measured("aa", k, 2) for k in (2, 5, 10)] + [measured("aa", 5, m) for m in (1, 3)]
    by_k, by_m = line_figures(family(rows))[:2]
    assert by_k.alone
    assert by_m.alone
    assert [len(panels[0].dots) for _, panels in by_k.bands] == [3]
    assert "At m = 2." in by_k.caption
    assert "At k = 5." in by_m.caption


def test_a_method_without_a_parameter_is_in_every_panel_and_named() -> None:
    by_k, by_m = line_figures(family(table()))[:2]
    assert all("lg" in {dot.method for dot in panel.dots} for panel in by_k.bands[0][1])
    assert "lg: the same in each panel, being without m." in by_k.caption
    assert "lg" not in by_m.methods


def test_too_many_settings_leave_the_central_ones_and_say_so() -> None:
    rows = [measured("aa", k, m) for k in (2, 3, 5, 7, 10, 20, 50) for m in (1, 2)]
    by_m = line_figures(family(rows))[1]
    assert [panel.title for panel in by_m.bands[0][1]] == [f"k = {k}" for k in (3, 5, 7, 10, 20)]
    assert "Only central settings are shown: k = 3, 5, 7, 10, 20 of 2, 3, 5, 7, 10, 20, 50." in by_m.caption


def test_seeds_give_medians_and_bands() -> None:
    rows = [run(k=k, lm=k * loss, seed=seed) for k in (2, 5) for seed, loss in enumerate((0.1, 0.01, 0.02))]
    (by_k,) = line_figures(family(rows))
    ((_, (panel,)),) = by_k.bands
    assert [(dot.x, dot.y.value, dot.y.low, dot.y.high) for dot in panel.dots] == [
        (2, 0.04, 0.02, 0.2),
        (5, 0.1, 0.05, 0.5),
    ]
    assert "Medians of up to 3 seeds" in by_k.caption
    assert 'opacity="0.16"' in figures(rows)["loss_lm-k"]


def test_an_algorithms_own_parameter_is_drawn_without_it_in_the_method() -> None:
    rows = [
        run(method, model="privacy-degree", p=4, alpha=alpha, kl_mean=0.1 * alpha)
        for method, alpha in (("cahd alpha=1", 1), ("cahd", 3), ("cahd alpha=5", 5))
    ]
    (by_alpha,) = line_figures(family(rows))
    assert by_alpha.stem == "kl-alpha"
    assert by_alpha.methods == ["cahd"]
    assert "At p = 4." in by_alpha.caption


def test_what_improves_on_a_paper_is_named_in_all_outputs() -> None:
    names = ("cahd (improved: rounds=3)", "cahd rounds=0", "cahd (improved: rounds=3) alpha=5")
    rows = [
        run(name, model="privacy-degree", p=p, rounds=0 if "=0" in name else 3, kl_mean=p / 10 + i)
        | {"algorithm": "cahd"}
        for i, name in enumerate(names) for p in (2, 4)
    ]  # fmt: skip
    by_p, by_rounds = (one for one in line_figures(family(rows)) if one.stem.startswith("kl"))
    assert (by_rounds.stem, by_rounds.methods) == ("kl-rounds", ["cahd", "cahd alpha=5"])
    assert sorted(by_p.methods) == sorted(names)
    for external in (False, True):
        page = unescape(comparison_html(STUDY, rows, external=external))
        assert all(name in page for name in names)
    assert {row["method"] for row in public(clean(rows), NAMING_ITEMS)} == {*names}
    assert {row["method"] for row in public(clean(rows), ["rounds"])} == {
        "cahd (1)",
        "cahd (2)",
        "cahd alpha=5",
    }


def test_settings_of_the_measures_are_kept_apart() -> None:
    rows = [
        run(method, k=k, are_mean=k * size + len(method), query_size=size, suppress=False)
        for method in ("aa", "exact suppress=false")
        for k in (2, 5)
        for size in (1, 2)
    ]
    by_k, by_size = line_figures(family(rows))
    assert [panel.title for panel in by_k.bands[0][1]] == ["query_size = 1", "query_size = 2"]
    assert [dot.y.low == dot.y.high for dot in by_k.bands[0][1][0].dots] == [True] * 4
    assert by_size.stem == "are_mean-query_size"


def test_kinds_of_promises_have_figures_of_their_own() -> None:
    rows = [*small(), *(run("border", model="coherence", h=h, k=5, p=2, lm=h) for h in (0.2, 0.4))]
    drawn = figures(rows)
    assert {"loss_lm-k-rows", "loss_lm-h-coherence", "front-risk_chance-rows"} <= set(drawn)
    page = unescape(comparison_html(STUDY, rows))
    assert "Loss: (h, k, p)-coherence" in page
    assert "compared only with those of the same section" in page


def test_many_methods_are_cut_to_ten_and_named() -> None:
    rows = [run(f"exact gap={i}", k=k, lm=0.01 * i) for i in range(12) for k in (2, 5)]
    (by_k,) = line_figures(family(rows))
    assert len(by_k.methods) == 10
    assert "Omitted: 2 methods with fewer runs: exact gap=10, exact gap=11." in by_k.caption


def test_a_method_looks_the_same_in_all_figures() -> None:
    rows = [*table(), *(measured("mhghs", k, m) for k in (2, 5) for m in (1, 2))]
    by_k, by_m = line_figures(family(rows))[:2]
    assert "lg" in by_k.methods
    assert by_m.methods == ["aa", "exact", "mhghs"]
    looks = [draw_lines(figure).methods for figure in (by_k, by_m)]
    assert looks[0] == [("aa", 0), ("exact", 1), ("lg", 2), ("mhghs", 3)]
    assert looks[1] == [("aa", 0), ("exact", 1), ("mhghs", 3)]
    assert re.findall(r'<path d="M0,6H34" stroke="(#[0-9a-f]{6})"', draw_lines(by_m).as_svg()) == [
        PALETTE[i] for i in (0, 1, 3)
    ]


def test_infinite_values_and_texts() -> None:
    rows = [run(k=2, m=m, lm=0.1) for m in (1, "inf", 2)]
    rows += [run(k=2, m=1, lm=0.1, privacy=path) for path in ("p.txt", "q.txt")]
    drawn = figures(rows)
    assert not any(stem.endswith("-privacy") for stem in drawn)
    assert {"1", "2", "∞"} <= set(svg_texts(drawn["loss_lm-m"]))
    assert [number(value) for value in ("inf", "1/3", True, None, "x")] == [
        float("inf"),
        1 / 3,
        None,
        None,
        None,
    ]
    assert text_of(float("inf")) == "∞"


def test_missing_columns_and_empty_tables_are_no_trouble() -> None:
    assert figures([]) == {}
    assert "Nothing to compare" in comparison_html({}, [])
    bare = [{"method": "aa", "k": 2, "status": "done"}, {"algorithm": "exact", "k": 5, "lm": float("nan")}]
    assert figures(bare) == {}
    Page(comparison_html({"name": None}, bare))
    failed = [run(status="failed", error="RuntimeError: no", k=k) for k in (2, 5)]
    assert figures(failed) == {}
    assert "RuntimeError: no" in comparison_html({}, failed)


def test_a_zero_measure_can_be_drawn() -> None:
    rows = [run(k=k, lm=0.0, are_mean=0.0, seconds_anonymize=0.0, peak_memory_mb=0) for k in (2, 5)]
    assert set(figures(rows)) == {"loss_lm-k", "are_mean-k", "seconds-k"}
    first = line_figures(family(rows))[0]
    assert first.caption.endswith("Peak memory (MB) has the same values.")


@settings(max_examples=60)
@given(st.lists(st.floats(-1e6, 1e3), min_size=1, max_size=6))
def test_a_scale_of_exponents_holds_negative_values(values: list[float]) -> None:
    low, high = Numbers(values, "exponent", percent=False).domain
    assert low < min(values) <= max(values) < high


def test_ul_is_drawn_and_listed_but_not_outside() -> None:
    """Check that, if items are only suppressed, the external page omits UL: it reveals the occurrences."""
    rows = [run(k=k, lm=0.1 * k, ul=-150.1234567 * k) for k in (2, 5)]
    assert set(figures(rows)) == {"loss_lm-k", "loss_ul-k"}
    inside = comparison_html({}, rows)
    outside = comparison_html({"naming_items": ()}, rows, external=True)
    assert "Log2 UL" in inside
    assert "-300.25" in inside
    assert "LM and UL only with the same hierarchy" in inside
    assert "UL" not in outside
    assert "300.25" not in outside


@settings(max_examples=60)
@given(
    st.lists(st.floats(0, 1e7, allow_subnormal=False), max_size=6),
    st.sampled_from(["linear", "log", "spread", "root", "exponent"]),
    st.booleans(),
)
def test_scales_hold_their_values_and_have_few_ticks(values: list[float], kind: Any, percent: bool) -> None:
    values = [max(value, 1e-6) if kind == "log" else value for value in values]
    if percent:
        values = [value / 1e7 for value in values]
    scale = Numbers(values, kind, percent)
    low, high = scale.domain
    assert all(low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9) for value in values)
    assert low < high
    assert 2 <= len(scale.ticks) <= 9
    assert scale.ticks == sorted(scale.ticks)
    shares = [scale.share(tick) for tick in scale.ticks]
    assert all(-1e-9 <= share <= 1 + 1e-9 for share in shares)
    assert shares == sorted(set(shares))
    assert len({scale.text(tick) for tick in scale.ticks}) == len(scale.ticks)


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=30, unique=True),
    st.lists(st.floats(0, 1e7, allow_subnormal=False), min_size=1, max_size=6),
    st.sampled_from(["linear", "spread", "root", "exponent"]),
    st.sampled_from([150, 268, 404]),
)
@example([1], [2.2e-308], "exponent", 150)
@example([1], [16384.0], "exponent", 150)
def test_texts_have_room_in_any_font(values: list[int], losses: list[float], kind: Any, width: int) -> None:
    """No text of a plot touches another, or the edge, in a font as wide as common fonts are."""
    across = Spaced(sorted(values), ordinal=False)
    titles = ("what someone may know (m)", "itemsets kept, of all that were there")
    drawn = plot(across, Numbers(losses, kind, percent=False), titles, [], width=width)
    boxes = []
    for text in (one for one in ET.fromstring(drawn.svg).iter() if one.tag.endswith("text")):  # noqa: S314
        wide, x, y = 12 * 0.636 * len(text.text or ""), float(text.attrib["x"]), float(text.attrib["y"])
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[text.attrib.get("text-anchor", "start")]
        boxes.append((left, left + wide, y - 9, y + 2))
    assert min(left for left, *_ in boxes) >= 0
    assert max(right for _, right, *_ in boxes) <= width
    assert all(top >= 0 and bottom <= drawn.height for *_, top, bottom in boxes)
    for i, (left, right, top, bottom) in enumerate(boxes):
        for other_left, other_right, other_top, other_bottom in boxes[:i]:
            apart = right <= other_left or other_right <= left
            assert apart or bottom <= other_top or other_bottom <= top


def test_figures_are_at_most_as_wide_as_a_page_and_label_every_method() -> None:
    rows = [
        measured(f"{name} gap=0.0{i}", k, m, data)
        for i, name in enumerate(["exact", "mhghs", "aa", "lg", "coat"] * 2)
        for k in (2, 5, 10, 25, 50)
        for m in (1, 2, 3, 4, "inf")
        for data in ("one", "two", "three", "four", "five")
    ]
    for row in rows:
        row["model"] = "km-anonymity"
    for row in rows:
        row["lm"] += 0.001 * int(row["method"][-1])
    for drawing in (draw_lines(line_figures(family(rows))[0]), draw_fronts(fronts_of(family(rows))[0])):
        svg = drawing.as_svg()
        root = ET.fromstring(svg)  # noqa: S314
        assert float(root.attrib["width"]) <= 840
        assert {row["method"] for row in rows} <= set(svg_texts(svg))
        assert not re.search(r'\bid="', svg)
        page = drawing.as_html()
        assert page.count("<svg ") == sum(len(plots) for _, plots in drawing.bands) + len(drawing.methods)


def test_methods_that_coincide_share_a_line_under_both_names() -> None:
    alike = [(name, measured("exact", k, 2)) for name in ("exact", "mhghs") for k in (2, 5)]
    rows = [measured("aa", k, 2) for k in (2, 5)] + [{**row, "method": name} for name, row in alike]
    for seconds, row in enumerate(rows):
        row["seconds_anonymize"] = 1 + seconds
    by = {figure.stem: figure for figure in line_figures(family(rows))}
    assert by["loss_lm-k"].methods == ["aa", "exact and mhghs"]
    assert len(by["loss_lm-k"].bands[0][1][0].dots) == 4
    assert by["seconds-k"].methods == ["aa", "exact", "mhghs"]
    assert draw_lines(by["loss_lm-k"]).methods == [("aa", 0), ("exact and mhghs", 1)]
    assert [name for name, _ in draw_fronts(fronts_of(family(rows))[0]).methods] == ["aa", "exact and mhghs"]
    assert "exact and mhghs" in svg_texts(figures(rows)["loss_lm-k"])
    best = best_table(fronts_of(family(rows))[0], "shop")
    assert best.count("exact and mhghs</bdi>") == 2
    assert ">mhghs</bdi>" not in best


def test_panels_and_figures_that_are_the_same_are_shown_once() -> None:
    rows = [run(k=k, m=m, lm=0.1 * k + (m > 2), ncp=0.1 * k + (m > 2)) for k in (2, 5) for m in (1, 2, 3)]
    by_k, by_m = line_figures(family(rows))
    assert [panel.title for panel in by_k.bands[0][1]] == ["m = 1; m = 2", "m = 3"]
    assert (by_k.stem, by_m.stem) == ("loss_lm-k", "loss_lm-m")
    assert by_k.caption.endswith("Loss (NCP) has the same values.")
    rows[0]["ncp"] = 0.9
    assert "loss_ncp-k" in {figure.stem for figure in line_figures(family(rows))}


def test_repetitions_show_how_far_they_reach() -> None:
    rows = [
        {**release("aa", 0.1 * k + seed / 100, 0.5 / k + seed / 1000, k=k), "seed": seed}
        for k in (2, 5)
        for seed in (0, 1, 2)
    ]
    (points, *_) = fronts_of(family(rows))[0].releases["shop"]
    assert points.loss == 0.21
    assert points.losses == pytest.approx([0.2, 0.21, 0.22])
    page = unescape(comparison_html(STUDY, rows))
    assert '0.21<br><span class="small">0.2\u20130.22</span>' in page
    assert "3 seeds. Tables and figures show medians" in page
    assert "each run was done once" in unescape(comparison_html(STUDY, small()))


def test_the_page_says_what_made_it_and_the_external_one_only_the_machine() -> None:
    rows = [{**row, "machine": "Linux x86_64, 2 processors, Python 3.12.1"} for row in small()]
    study = {**STUDY, "command": "setveil compare '/home/me/my study.toml' --out out", "jobs": 2}
    inside, outside = (unescape(comparison_html(study, rows, external=e)) for e in (False, True))
    assert "setveil compare '/home/me/my study.toml' --out out" in inside
    assert "/home/me" not in outside
    for page in (inside, outside):
        assert "Linux x86_64, 2 processors, Python 3.12.1; up to 2 runs at the same time" in page


# The page


def test_the_page_answers_first_and_is_whole() -> None:
    page = comparison_html(STUDY, table())
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert "default-src 'none'" in page
    assert "http:" not in re.sub(r'xmlns(:xlink)?="[^"]*"', "", page)
    assert "https:" not in page
    text = "".join(parsed.texts)
    order = [
        "At equal guarantee, exact loses least on shop.",
        "Loss against risk",
        "Least loss at equal guarantee",
        "Keep in mind", "Data and methods", "1,000 rows", "Who dominates", "At one setting",
        "Remaining usefulness", "Provenance", "60 seconds, 4000 MB", "f" * 64, "d" * 64,
        "Explanations", "More figures",
    ]  # fmt: skip
    shown, _, folded = page.partition("<nav")
    assert (shown.count("<figure>"), shown.count("<table")) == (1, 1)  # the answer, one picture, the table
    assert folded.count("<figure>") == 17
    text = "".join(Page(re.sub("<nav.*?</nav>", "", page, flags=re.DOTALL)).texts)
    places = [text.index(part) for part in order]
    assert places == sorted(places)
    assert page.count("<figure>") == 18
    assert [int(n) for n in re.findall(r"Figure (\d+)\.", text)] == list(range(1, page.count("<figure>") + 1))


def test_the_same_table_gives_the_same_bytes() -> None:
    assert comparison_html(STUDY, small()) == comparison_html(STUDY, small())
    assert figures(small()) == figures(small())


def test_failed_runs_are_listed_with_their_reasons() -> None:
    rows = small()
    rows += [run("exact", k=k, m=3, status="timeout", error="ended after 60 seconds") for k in range(2, 9)]
    rows += [run("coat", k=5, m=3, status="infeasible", error="fewer than k rows")]
    text = unescape("".join(Page(comparison_html(STUDY, rows)).texts))
    assert "ran out of time: ended after 60 seconds" in text
    assert "k = 2, m = 3; k = 3, m = 3; k = 4, m = 3; k = 5, m = 3; and 3 more" in text
    assert "no release can satisfy the guarantee: fewer than k rows" in text
    assert re.sub(r"\s", " ", text).count("8 of 23 runs made no release and are missing") == 4


def test_hostile_names_are_escaped_everywhere() -> None:
    rows = [
        release(method, k / 10, 1 / m, k=k, m=m, data=f"data {HOSTILE}")
        for method in (f"aa x={HOSTILE}", "exact")
        for k in (2, 5)
        for m in (1, 2)
    ]
    rows += [run("aa", k=9, m=9, status="failed", error=HOSTILE, private=HOSTILE)]
    page = comparison_html({"name": HOSTILE, "description": HOSTILE, "versions": {HOSTILE: HOSTILE}}, rows)
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert "<script" not in page
    assert HOSTILE in "".join(parsed.texts)
    assert any("<script>" in text for text in svg_texts(figures(rows)["loss_lm-k"]))


def test_what_xml_cannot_hold_is_replaced_in_figures() -> None:
    rows = [run("aa x=\x07\x00y\ufffe", k=k, lm=0.1, data="a\x1fb") for k in (2, 5)]
    assert {"aa x=\ufffd\ufffdy\ufffd", "a\ufffdb"} <= set(svg_texts(figures(rows)["loss_lm-k"]))


def test_the_external_page_leaves_out_what_must_stay_inside() -> None:
    secrets = {"private": "/home/me/hiv.txt", "utility": "C:\\lists\\groups.txt", "keep": "Alzheimer disease"}
    rows = [
        {
            **row,
            **secrets,
            "data": "/srv/secret place/shop",
            "method": f"{row['method']} keep=Alzheimer disease",
        }
        for row in small()
    ]
    rows += [run("exact", k=4, m=2, status="infeasible", error="the private item Syphilis is in 991 rows")]
    inside = unescape(comparison_html(STUDY, rows)).replace("\u00a0", " ")
    outside = unescape(comparison_html(STUDY, rows, external=True)).replace("\u00a0", " ")
    hidden = [
        "/home/me", "hiv.txt", "groups.txt", "Alzheimer", "Syphilis", "991", "4,321", "secret place",
        "d" * 64, "f" * 64, "46%", "78%", "<i>the original", "line: the original", "0123456789abcdef",
        "results.csv", "50 items",
    ]  # fmt: skip
    for text in hidden:
        assert text not in outside, text
    for text in ("Alzheimer", "Syphilis", "4,321", "d" * 64, "f" * 64, "46%", "78%"):
        assert text in inside, text
    assert "<i>the original" in inside
    assert "line: the original" in inside
    for text in ("shop", "1,000 rows", "exact", "k = 2, 4, 5, 10", "Runs without a release"):
        assert text in outside, text
    for svg in re.findall(r"<svg.*?</svg>", outside, re.S):
        assert "Alzheimer" not in svg


def test_masked_methods_stay_apart() -> None:
    rows = [run(f"coat utility={name} max_suppressed_items=0.1", k=2) for name in ("a.txt", "b.txt")]
    rows += [run("exact suppress=false objective=lm keep=250, 401", k=2, keep=250)]
    assert public(clean(rows), NAMING_ITEMS)[2]["keep"] == "choice 1"
    assert [row["method"] for row in public(clean(rows), NAMING_ITEMS)] == [
        "coat max_suppressed_items=0.1 (1)",
        "coat max_suppressed_items=0.1 (2)",
        "exact suppress=false objective=lm",
    ]


def test_a_sampled_risk_and_other_numbers_of_known_items_are_said() -> None:
    rows = table()
    rows[0]["risk_exact"] = False
    rows.append({**measured("aa", 20, 2), "risk_m": 2})
    notes = " ".join(all_caveats([family(rows)]))
    assert "knows 3 items" in notes
    assert "In 1 run it was estimated from a sample" in notes
    assert "1 run with another number of known items is omitted" in notes
    shown = fronts_of(family(rows))[0].releases["shop"]
    assert "k = 20, m = 2" not in {release.setting for release in shown}


def test_the_setting_shown_is_central_and_whole() -> None:
    assert middle_setting(family(table())) == (["k", "m"], (5, 1))
    rows = [row for row in table() if not (row["method"] == "exact" and row["k"] == 5)]
    assert middle_setting(family(rows)) == (["k", "m"], (2, 1))
    assert middle_setting(family([run(status="failed")])) is None


# --- inferences about sensitive items


def learned(method: str, model: str, data: str, rho: Any, **values: Any) -> dict[str, Any]:
    return run(
        method, model=model, data=data, rho=rho, lm=0.1 + float(Fraction(str(rho))),
        greatest_confidence=float(Fraction(str(rho))),
        sensitive_occurrences=50, hidden_occurrences=10, sensitive="2 items", **values,
    )  # fmt: skip


def inference() -> list[dict[str, Any]]:
    rhos = (0.1, 0.2, "1/3")
    return [
        *(learned("exact", "km-rho", "shop", rho, k=5, m=2, hide="items") for rho in rhos),
        *(learned("exact", "rho-uncertainty", "shop", rho) for rho in rhos),
        *(learned("partial", "rho-uncertainty", "clinic", rho) for rho in rhos),
    ]


def test_methods_of_several_models_are_distinguished() -> None:
    of = family(inference())
    assert of.methods == ["exact (km-rho)", "exact (rho-uncertainty)", "partial"]
    page = comparison_html(STUDY, inference())
    assert "exact (rho-uncertainty)" in page
    assert "Share of the occurrences of sensitive items that no row shows" in page


def test_what_is_learned_is_drawn_against_rho() -> None:
    drawn = {figure.stem: figure for figure in line_figures(family(inference()))}
    assert {"confidence-rho", "hidden-rho", "loss_lm-rho"} <= set(drawn)
    figure = drawn["confidence-rho"]
    assert figure.x_title == "greatest chance of a sensitive item (rho)"
    assert [data for data, _ in figure.bands] == ["shop", "clinic"]  # also if k is no parameter
    dots = {(dot.method, str(dot.x)): dot.y.value for _, panels in figure.bands for dot in panels[0].dots}
    assert dots["partial", "1/3"] == pytest.approx(1 / 3)
    hidden = [dot.y.value for _, panels in drawn["hidden-rho"].bands for dot in panels[0].dots]
    assert set(hidden) == {0.2}


def test_what_the_original_holds_of_sensitive_items_stays_inside() -> None:
    (row, *_) = public(clean(inference()), NAMING_ITEMS)
    assert not {"sensitive_occurrences", "hidden_occurrences"} & set(row)
    assert (row["hide"], row["rho"], row["sensitive"]) == ("items", 0.1, "choice 1")
    external = comparison_html(STUDY, inference(), external=True)
    assert "no row shows" not in external
    assert "right about a sensitive item" in external

"""Knowledge of whole codes of a person fits at least k rows: compared with the definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import files_under, setveil, write
from fact_cases import random_facts, some_facts
from naive.km import is_km
from setveil.rows.facts.generalizing import Generalizing
from setveil.rows.facts.settling import settled
from setveil.rows.hierarchy.boxes import BoxTree, forest, line_at, product_tree
from setveil.rows.hierarchy.columns import joined
from setveil.runs.check import check
from setveil.runs.orders import trees_of
from strategies import examples

Image = dict[str, str | None]


def code_of(fact: str) -> str:
    """Name the code of a fact, with its column if there are several."""
    return fact.partition("@")[0]


def rows_shown(facts: sv.Facts, image: Mapping[str, str | None]) -> list[frozenset[str]]:
    return [frozenset(label for fact in row if (label := image[fact]) is not None) for row in facts]


def broken_sets(
    facts: sv.Facts, image: Mapping[str, str | None], k: int, m: int
) -> dict[frozenset[str], int]:
    """Try every person and every choice of up to m codes: the labels shown, and the rows that show them."""
    shown = rows_shown(facts, image)
    found = {}
    for row in facts:
        codes = sorted({code_of(fact) for fact in row})
        for size in range(1, m + 1):
            for some in combinations(codes, size):
                mine = (image[fact] for fact in row if code_of(fact) in some)
                labels = frozenset(label for label in mine if label is not None)
                rows = sum(labels <= other for other in shown)
                if labels and rows < k:
                    found[labels] = rows
    return found


def images_of(tree: BoxTree) -> Iterator[Image]:
    """List all cuts with all choices of suppressed leaves."""

    def below(v: int) -> list[Image]:
        if v < tree.n_leaves:
            mine: list[Image] = [{tree.labels[v]: tree.labels[v]}, {tree.labels[v]: None}]
            return mine
        several = len(tree.spaces) > 1 and v == tree.root
        here: list[Image] = (
            [] if several else [{tree.labels[leaf]: tree.labels[v] for leaf in tree.leaves(v)}]
        )
        inside = product(*(below(child) for child in tree.children(v)))
        return here + [{key: to for part in parts for key, to in part.items()} for parts in inside]

    yield from below(tree.root)


def lost(tree: BoxTree, facts: sv.Facts, image: Image) -> Fraction:
    """Sum the losses of the facts, each as in the boxes of its column."""
    supports = dict(zip(facts.vocabulary.labels, facts.supports().tolist(), strict=True))
    total = Fraction(0)
    for fact, to in image.items():
        part = Fraction(1) if to is None else Fraction(int(tree.lost[tree.id(to)]), int(tree.most_lost))
        total += supports.get(fact, 0) * part
    return total * Fraction(1, max(sum(supports.values()), 1))


def image_of(release: sv.VerifiedRelease) -> Image:
    labels = [*release.recoding.published.labels, None]
    return dict(
        zip(release.recoding.items.labels, (labels[to] for to in release.recoding.image), strict=True)
    )


@settings(max_examples=examples(80, 5))
@given(st.randoms(use_true_random=False))
def test_the_loss_is_the_least_of_all_boxes_of_a_tree(random: Random) -> None:
    facts, codes = some_facts(random)
    promise = sv.KmAnonymity(k=random.randint(2, 3), m=random.randint(1, 2), known="codes")
    facts = settled(facts, promise.k)
    order = random.choice(("first", "last"))
    try:
        release = sv.anonymize(facts, promise, hierarchy=codes, fact_order=order)
    except sv.InfeasibleError:
        return
    table = joined(codes) if isinstance(codes, dict) else codes
    trees = list(trees_of(facts, table).values())
    depth = 0 if order == "last" else max(tree.height for tree in trees)
    lines = [line_at(tree, min(depth, tree.height)) for tree in trees]
    tree = forest(
        [product_tree(*pair) for pair in zip(Generalizing().spaces(facts, trees), lines, strict=True)]
    )
    least = min(
        lost(tree, facts, image)
        for image in images_of(tree)
        if not broken_sets(facts, image, promise.k, promise.m)
    )
    image = image_of(release)
    assert not broken_sets(facts, image, promise.k, promise.m)
    assert release.report["optimality"]["proven"]
    assert release.report["optimality"]["loss"] == pytest.approx(float(least), abs=1e-12)
    if len(facts.columns) == 1:
        assert lost(tree, facts, image) == least
    assert release.verdict.holds
    assert sv.verify(release, promise.for_single_facts).holds


@settings(max_examples=examples(120, 10))
@given(st.randoms(use_true_random=False))
def test_the_verifier_agrees_with_the_definition(random: Random) -> None:
    facts, codes = some_facts(random)
    loose = sv.KmAnonymity(k=2, m=1)
    facts = settled(facts, loose.k)
    try:
        release = sv.anonymize(facts, loose, hierarchy=codes, algorithm="exact")
    except sv.InfeasibleError:
        return
    promise = sv.KmAnonymity(k=random.randint(2, 4), m=random.randint(1, 3), known="codes")
    verdict = sv.verify(release, promise, show=10_000)
    broken = broken_sets(facts, image_of(release), promise.k, promise.m)
    if not is_km(
        rows_shown(facts, image_of(release)), promise.k, promise.m
    ):  # then whole codes are not hidden, either
        assert broken
        assert not verdict.holds
        return
    assert {frozenset(labels): rows for labels, rows in verdict.first} == broken
    assert verdict.violations == len(broken)
    assert verdict.counts is not None
    assert verdict.holds == (not broken and verdict.counts.holds)


def test_the_example_of_the_page() -> None:
    """Check a person with the same code in two months, and others with it in one of the months."""
    log = [(1, "c", "2024-01-05"), (1, "c", "2024-02-05"), (2, "c", "2024-01-09"), (3, "c", "2024-02-11")]
    import polars as pl

    frame = pl.DataFrame(log, schema=["who", "code", "on"], orient="row")
    facts = sv.read_facts(frame, id="who", sets="code", when={"on": "month"})
    tree = sv.Hierarchy.from_paths([["c", "*"], ["d", "*"]])
    single = sv.anonymize(facts, k=2, m=1, hierarchy=tree)
    assert single.report["utility"]["lm"] == 0
    whole = sv.anonymize(facts, sv.KmAnonymity(k=2, m=1, known="codes"), hierarchy=tree)
    assert not sv.verify(single, whole.verdict.guarantee).holds
    assert sv.verify(single, whole.verdict.guarantee).first == ((("c@2024-01", "c@2024-02"), 1),)
    assert whole.report["utility"]["lm"] > 0


def test_the_order_of_the_rows_makes_no_difference() -> None:
    for seed in range(12):
        facts, codes, _ = random_facts(Random(seed), 3)
        promise = sv.KmAnonymity(k=2, m=2, known="codes")
        again = facts.rows_at(np.array(Random(seed).sample(range(facts.n_rows), facts.n_rows)))
        releases: list[sv.VerifiedRelease | None] = []
        for rows in (facts, again):
            try:
                releases.append(sv.anonymize(rows, promise, hierarchy=codes))
            except sv.InfeasibleError:
                releases.append(None)
        one, other = releases
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert image_of(one) == image_of(other)
            assert one.published.rows() == other.published.rows()


LOG = """patient,date,code,drug
{}
"""
READ = ("--id-column", "patient", "--set", "code", "--when", "date:month")


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("codes")
    lines = [f"{i},2024-0{1 + i % 2}-03,I50.0,C07" for i in range(20)]
    lines += [f"{i},2024-0{3 + i // 2 % 2}-03,I50.0,C07" for i in range(20)]
    write(folder / "log.csv", LOG.format("\n".join(lines)))
    write(folder / "icd.csv", "I50.0;I50;*\nI50.1;I50;*\n")
    made = ("log.csv", *READ, "-H", "icd.csv", "--k", "6", "--m", "1")
    setveil("anonymize", *made, "--out", "facts", cwd=folder).ok()
    setveil("anonymize", *made, "--known", "codes", "--out", "codes", "--external", cwd=folder).ok()
    return folder


def test_it_is_checked_inside(ward: Path) -> None:
    done = setveil("verify", "codes", "--k", "6", "--m", "1", "--known", "codes", cwd=ward).ok()
    assert "Yes: k^m-anonymity of whole codes (k=6, m=1) holds." in done.out
    done = setveil("verify", "codes", cwd=ward).ok()
    assert "Yes: k^m-anonymity (k=6, m=1) holds." in done.out
    assert "--known codes checks it, next to the run's folder" in done.err
    other = setveil("verify", "facts", "--k", "6", "--m", "1", "--known", "codes", cwd=ward)
    assert (other.code, "all that is shown of at most 1 code" in other.out) == (1, True)
    promise = sv.KmAnonymity(k=6, m=1, known="codes")
    facts = sv.read_facts(ward / "log.csv", id="patient", sets="code", when=["date:month"])
    assert sv.verify(ward / "codes", promise, original=facts).holds
    assert not sv.verify(ward / "facts", promise, original=facts).holds


def test_its_report_says_what_is_known(ward: Path) -> None:
    page = (ward / "codes" / "internal" / "report.html").read_text()
    assert "with everything about it" in page
    assert "Knowing when a code was not recorded." in page
    assert "everything about it" in (ward / "codes" / "published" / "report.html").read_text()


REFUSED = [
    ("anonymize log.csv --id-column patient --item-column code --k 5 --m 2 --known codes --out x", "items"),
    ("anonymize log.csv READ --k 5 --m 2 --known codes --algorithm aa --out x", "hidden by exact"),
    ("anonymize log.csv READ --k 5 --m 2 --known codes --no-suppress --out x", "--no-suppress"),
    ("anonymize log.csv READ --k 5 --m 2 --known codes --objective ncp --out x", "--objective"),
    ("anonymize log.csv READ --k 5 --m inf --known codes --out x", "one number of codes"),
    ("anonymize log.csv READ --k 5 --m 2 --known codes --absent 1 --out x", "--absent"),
    ("anonymize log.csv READ --k 5 --m 2 --known everything --out x", "codes"),
    (
        "anonymize log.csv --id-column patient --set code:m=1 --set drug:m=1 --k 5 --known codes --out x",
        "one",
    ),
    ("verify codes/published --k 5 --m 2 --known codes", "not the folder of a run"),
    ("why codes I50", "not of whole codes"),
    ("certify codes", "not of facts"),
]


@pytest.mark.parametrize(("words", "reason"), REFUSED)
def test_what_is_refused(ward: Path, words: str, reason: str) -> None:
    before = files_under(ward)
    arguments = [part for word in words.split() for part in (READ if word == "READ" else (word,))]
    done = setveil(*arguments, cwd=ward)
    assert reason in " ".join(done.err.replace("│", " ").split()), done
    assert done.code in {2, 4}
    assert files_under(ward) == before


def test_python_refuses_the_same() -> None:
    with pytest.raises(sv.RequestError, match="known must be"):
        sv.KmAnonymity(k=2, known="dates")
    with pytest.raises(sv.RequestError, match="is about facts"):
        sv.anonymize([["a"], ["a"]], sv.KmAnonymity(k=2, m=1, known="codes"))
    facts, codes, _ = random_facts(Random(1))
    release = sv.anonymize(facts, sv.KmAnonymity(k=2, m=1, known="codes"), hierarchy=codes)
    with pytest.raises(sv.RequestError, match="checked inside"):
        check(release.published, release.verdict.guarantee, None, {})
    with pytest.raises(sv.RequestError, match="is about facts"):
        sv.verify([["a"], ["a"]], sv.KmAnonymity(k=2, m=1, known="codes"))

"""Attacks, compared with their definitions, and the definition of a leak."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from cli_helpers import refused, setveil, write
from naive import attacks as naive
from setveil.judges.attacker.attacks import chances
from setveil.judges.attacker.attacks.attacks import Bound, attack_rows
from setveil.judges.attacker.attacks.kinds import linkability, rare_predicates, singling_out
from setveil.judges.attacker.attacks.shown import ShownRows
from setveil.kernels.rows import frozen
from strategies import examples, random_rows, random_tree, seeded, transactions

Rows = list[frozenset[str]]
SHARES = (0.125, 0.25, 0.375, 0.5, 0.75)  # sums of them are exact
ITEMS = "abcdefg"


def random_shown(rng: Random) -> tuple[Rows, dict[str, list[str]], Rows, Rows, Any]:
    """Draw rows of labels that represent random, perhaps the same, items; people, and other people."""
    under = {label: sorted(rng.sample(ITEMS, rng.randint(1, 4))) for label in "XYZ"[: rng.randint(0, 3)]}
    labels = [*under, *rng.sample(ITEMS, rng.randint(1, 4))]
    rows = random_rows(rng, labels, rng.randint(1, 14), 4)
    people = [random_rows(rng, ITEMS, rng.randint(1, 12), 5) for _ in range(2)]
    chosen = {(label, x): (rng.choice(SHARES), rng.choice(SHARES)) for label in labels for x in ITEMS}
    return rows, under, people[0], people[1], lambda label, item: chosen[label, item]


def known_of(shown: ShownRows, sets: list[frozenset[str]]) -> tuple[Any, Any]:
    ids = [[shown.items.index(x) for x in sorted(some)] for some in sets]
    flat = [at for some in ids for at in some]
    return frozen(np.cumsum([0, *map(len, ids)]), np.int64), frozen(np.array(flat, np.int32), np.int32)


def test_who_fits_and_what_is_guessed_equal_the_definition() -> None:
    rng = seeded(441)
    for _ in range(examples(300)):
        rows, under, train, control, share = random_shown(rng)
        secret = frozenset(rng.sample(ITEMS, rng.choice((0, 0, 1, 2)))) - set(under)
        people = [transactions(train), transactions(control)]
        shown = ShownRows.of(transactions(rows), under, people, share, secret)
        named = [x for x in ITEMS if x in shown.items and x not in secret]
        sets = [frozenset(rng.sample(named, rng.randint(0, min(3, len(named))))) for _ in range(6)]
        public = [row - secret for row in rows]
        fits = [naive.fitting(public, under, some) for some in sets]
        assert shown.fitting(*known_of(shown, sets)).tolist() == [len(some) for some in fits]

        may_guess = shown.hidden(secret) if secret else ~shown.hidden(())
        number = 1 if secret else 4
        best = shown.guesses(*known_of(shown, sets), may_guess, number)
        order = (shown.labels, shown.items)
        allowed = frozenset(secret or shown.items)
        for some, found in zip(sets, best.tolist(), strict=True):
            unknown = [shown.items[x] for x in found if x >= 0 and shown.items[x] not in some]
            slow = naive.guess(rows, under, some, order, share, allowed)
            assert (unknown[0] if unknown else None) == slow


def test_the_rarest_sets_equal_the_definition() -> None:
    rng = seeded(442)
    for _ in range(examples(200)):
        rows, under, train, control, share = random_shown(rng)
        m = rng.randint(1, 4)
        shown = ShownRows.of(transactions(rows), under, [transactions(train), transactions(control)], share)
        indptr, sets = rare_predicates(shown, m, 50, rng.randint(0, 9))
        found = [
            frozenset(shown.labels[x] for x in sets[start:end])
            for start, end in zip(indptr.tolist(), indptr.tolist()[1:], strict=False)
        ]
        wanted = {naive.rarest(rows, row, m, shown.labels) for row in rows if row}
        assert len(found) == len(set(found))
        assert set(found) == wanted
        for row in rows:
            if row:
                some = naive.rarest(rows, row, m, shown.labels)
                held = sum(some <= other for other in rows)
                assert (held, len(some)) == naive.rarest_size_and_support(rows, row, m)
        assert rare_predicates(shown, m, 2, 0)[0].size - 1 == min(2, len(wanted))

        who = frozen(np.arange(len(train)), np.int64)
        tried = singling_out(shown.in_labels(shown.people(transactions(train))), who, (indptr, sets))
        for some, success, person in zip(found, tried.success.tolist(), tried.person.tolist(), strict=True):
            fits = naive.who_fits(train, under, some)
            assert success == (len(fits) == 1)
            assert person == (fits[0] if success else -1)


def test_linked_halves_lead_to_the_same_row_as_often_as_they_should() -> None:
    rows = [frozenset(row) for row in ["ab", "ab", "ac", "bc", "abc", "d", "ad"]]
    people = [frozenset("ab")] * 3000
    shown = ShownRows.of(transactions(rows), {}, [transactions(people)], lambda *_: (1.0, 1.0))
    tried = linkability(shown, shown.people(transactions(people)), 1, 3000, 3, 0)
    chance = naive.same_row(naive.fitting(rows, {}, frozenset("a")), naive.fitting(rows, {}, frozenset("b")))
    assert chance == 3 / 20
    low, high = chances.wilson(tried.successes, tried.attempts)
    assert low - 0.01 < chance < high + 0.01
    alone = ShownRows.of(transactions([frozenset("ab")]), {}, [transactions(people)], lambda *_: (1.0, 1.0))
    assert linkability(alone, alone.people(transactions(people)), 1, 50, 0, 0).successes == 50
    apart = ShownRows.of(
        transactions([frozenset("a"), frozenset("b")]), {}, [transactions(people)], lambda *_: (1.0, 1.0)
    )
    assert linkability(apart, apart.people(transactions(people)), 1, 50, 0, 0).successes == 0


def test_chances_equal_the_definition() -> None:
    rng = seeded(443)
    for _ in range(examples(200)):
        n, other = rng.randint(1, 30), rng.randint(1, 30)
        x, y, q = rng.randint(0, n), rng.randint(0, other), rng.random()
        assert chances.binomial_tail(x, n, q) == pytest.approx(naive.at_least(x, n, q))
        assert chances.fisher(x, n, y, other) == pytest.approx(naive.fisher(x, n, y, other))
        low, high = chances.wilson(x, n)
        assert 0 <= low <= x / n <= high <= 1
    assert chances.wilson(0, 0) == (0.0, 1.0)


def test_the_worked_example() -> None:
    """That of docs/risk.md."""
    first = "coffee,bread coffee,bread coffee,tea,cake tea,bread"
    people = [
        frozenset(text.split(","))
        for text in f"{first} coffee,cake,wine coffee,tea cocoa,bread cake,wine".split()
    ]
    hot = ["coffee", "tea", "cocoa"]
    drinks = sv.Hierarchy.from_paths(
        [
            *([x, "hot", "all"] for x in ("coffee", "tea", "cocoa")),
            *([x, "all"] for x in ("bread", "cake", "wine")),
        ]
    )
    release = sv.anonymize(transactions(people), k=2, m=2, hierarchy=drinks)
    rows = [frozenset(row) for row in release.published]
    under = {"hot": hot}
    one, other = (naive.fitting(rows, under, frozenset([x])) for x in ("coffee", "bread"))
    assert (len(one), len(other), len({*one} & {*other})) == (7, 4, 4)
    assert naive.same_row(one, other) == pytest.approx(1 / 7)
    rarest = naive.rarest(rows, frozenset(["cake", "hot"]), 2, release.published.vocabulary.labels)
    assert (rarest, naive.who_fits(people, under, rarest)) == (frozenset(["cake", "hot"]), [2, 4])
    shown = ShownRows.of(release.published, under, [transactions(people)], lambda *_: (1.0, 1.0))
    known = known_of(
        shown, [frozenset(some) for some in (["coffee"], ["bread"], ["coffee", "bread"], ["wine"])]
    )
    assert shown.fitting(*known).tolist() == [7, 4, 4, 8]


ALGORITHMS = ("exact", "aa", "oa", "lra", "vpa", "hghs", "pcta")


def test_no_release_that_keeps_its_promise_is_accused() -> None:
    """Singling out never succeeds, and linkability not beyond its bound."""
    rng = seeded(444)
    accused, tried = 0, 0
    while tried < examples(200, 8):
        leaves = rng.sample([f"i{x:02}" for x in range(30)], rng.randint(3, 14))
        both = [row for row in random_rows(rng, leaves, rng.randint(24, 90), 5) if row]
        k, m = rng.randint(2, 5), rng.randint(1, 3)
        if len(both) < 4 * k:
            continue
        train, control = both[: len(both) // 2], both[len(both) // 2 :]
        tree = sv.Hierarchy(random_tree(rng, leaves))
        name = rng.choice(ALGORITHMS)
        try:
            release = sv.anonymize(
                transactions(train), sv.KmAnonymity(k, m), hierarchy=tree, algorithm=name, seed=tried
            )
        except sv.RequestError:
            continue
        tried += 1
        found = sv.attack(release, transactions(train), transactions(control), attacks=300, seed=tried)
        assert (found["k"], found["m"]) == (k, m)
        for entry in found["attacks"]:
            if entry["kind"] == "singling out":
                assert entry["train"]["successes"] == 0
            judged = entry["kind"] in {"singling out", "linkability"}
            assert (entry["leak"] is None) == (not judged)
        accused += found["leak"]
    assert accused == 0


def csv_of(path: Path, rows: list[list[str]]) -> Path:
    return write(path, "".join(",".join(row) + "\n" for row in rows))


PEOPLE = 6 * [["tea", "milk"], ["tea"], ["coffee", "milk"]] + [["tea", "rum"]]
OTHERS = 4 * [["tea", "milk"], ["tea"], ["coffee"]]


def test_only_what_breaks_the_bound_is_a_leak() -> None:
    found = sv.attack(PEOPLE, PEOPLE, OTHERS, k=3, m=2)
    first = found["attacks"][0]
    assert (first["kind"], first["m"], first["allowed"], first["leak"]) == ("singling out", 1, 0.0, True)
    assert (first["p_value"], first["train"]["successes"]) == (0.0, 1)
    assert found["exposed"][0]["row"] == 19
    safe = sv.attack(18 * [["tea"]], PEOPLE[:18], OTHERS, k=3)
    assert not safe["leak"]
    assert "proves nothing" in repr(safe)
    assert {entry["leak"] for entry in safe["attacks"] if entry["kind"] == "membership"} == {None}


def test_without_a_promise_people_are_compared_with_others() -> None:
    rng = seeded(445)
    items = [f"{x}" for x in range(40)]
    people = [frozenset(rng.sample(items, 6)) for _ in range(400)]
    train, control = transactions(people[:200]), transactions(people[200:])
    raw = transactions(people[:20])
    found = sv.attack(raw, train, control)
    assert found["leak"]
    assert found["promise"] is None
    assert all(entry["allowed"] is None and entry["p_value"] is not None for entry in found["attacks"])
    assert min(entry["p_value"] for entry in found["attacks"]) < 0.001
    others = transactions([frozenset(rng.sample(items, 6)) for _ in range(20)])
    assert not sv.attack(others, train, control)["leak"]


def test_rows_that_contradict_the_recoding_are_found(tmp_path: Path) -> None:
    rng = seeded(446)
    items = [f"{x:02}" for x in range(100)]
    people = [frozenset(rng.sample(items, 4)) for _ in range(300)]
    train, control = transactions(people[:150]), transactions(people[150:])
    tree = sv.Hierarchy.from_paths([[x, f"g{int(x) // 20}", "*"] for x in items])
    release = sv.anonymize(train, k=5, m=2, hierarchy=tree, algorithm="aa")
    release.write(tmp_path / "run")
    assert not sv.attack(tmp_path / "run", train, control)["leak"]
    file = next((tmp_path / "run" / "published").glob("data.*"))
    lines = file.read_text().splitlines()
    lines[:15] = [",".join(sorted(row)) for row in people[:15]]
    file.write_text("\n".join(lines) + "\n")
    found = sv.attack(tmp_path / "run", train, control, seed=2)
    assert found["leak"]
    assert {line["row"] for line in found["exposed"]} <= set(range(1, 151))


def test_the_same_seed_gives_the_same_answer_on_all_faces(tmp_path: Path) -> None:
    train, control = csv_of(tmp_path / "a.csv", PEOPLE), csv_of(tmp_path / "b.csv", OTHERS)
    words = ["attack", str(train), "--original", str(train), "--control", str(control), "--k", "3"]
    done = setveil(*words, "--m", "2", "--seed", "4", "--json")
    assert done.code == 1
    assert json.loads(done.out) == sv.attack(train, train, control, k=3, m=2, seed=4)
    halves = ["attack", str(train), "--split", "50%", "--k", "2", "--m", "1", "--seed", "1", "--json"]
    done = setveil(*halves)
    assert (done.code, json.loads(done.out)) == (0, sv.attack(train, split=0.5, k=2, m=1, seed=1))


def test_the_order_of_lines_decides_nothing() -> None:
    """More people than attacks, so that some are drawn: the same, wherever their lines are."""
    rng = seeded(47)
    items = [f"i{x}" for x in range(12)]
    people, others = ([rng.sample(items, rng.randint(1, 5)) for _ in range(150)] for _ in range(2))
    release = sv.anonymize(people, k=3, m=2)
    found = sv.attack(release, people, others, attacks=40, seed=3)
    for _ in range(3):
        places = rng.sample(range(150), 150)
        rng.shuffle(others)
        again = sv.attack(release, [people[at] for at in places], others, attacks=40, seed=3)
        named = [(sorted(people[places[line["row"] - 1]]), line["attacks"]) for line in again.pop("exposed")]
        assert named == [(sorted(people[line["row"] - 1]), line["attacks"]) for line in found["exposed"]]
        assert again == {name: value for name, value in found.items() if name != "exposed"}


def test_draws_of_a_release_are_attacked_without_a_promise(tmp_path: Path) -> None:
    release = sv.anonymize(PEOPLE[:18], k=3, m=2)
    sv.reconstruct(release, draws=1).write(tmp_path / "draws")
    draw = tmp_path / "draws" / "draw-1.csv"
    found = sv.attack(draw, PEOPLE[:18], OTHERS)
    assert (found["promise"], found["rows"]["published"]) == (None, 18)
    with pytest.raises(sv.RequestError, match="guarantee nothing of their own"):
        sv.attack(draw, PEOPLE[:18], OTHERS, k=3)


def test_secret_items_are_guessed_and_known_to_nobody() -> None:
    rows = 5 * [["a", "s"], ["b"], ["a"], ["b", "t"]]
    found = sv.attack(rows, rows, [*OTHERS, ["a"], ["b", "s"]], secret=["s", "t"], k=5, m=1)
    guesses = [entry for entry in found["attacks"] if entry["kind"] == "inference"]
    assert guesses[0]["train"]["attempts"] == 20
    assert guesses[0]["train"]["successes"] == 10  # by a: s, by b: t
    assert not found["leak"]  # though ("a", "s") would be found by who knew s
    release = sv.anonymize(rows, sv.KmRho(k=5, m=1, rho=0.5, sensitive=["s", "t"]))
    promised = sv.attack(release, rows, OTHERS)
    assert (promised["k"], promised["leak"]) == (5, False)


def test_fewer_rows_than_k_without_items_are_no_leak() -> None:
    alike = transactions([frozenset("ab")] * 40)
    shown = ShownRows.of(transactions([frozenset()] * 2), {}, [alike], lambda *_: (1.0, 1.0))
    people = shown.people(alike)
    found = attack_rows(
        shown, people, people, bound=Bound(5, 2), promised=True, ms=[1, 2], attacks=40,
        secret=shown.hidden(()),
    )  # fmt: skip
    assert not found["leak"]
    assert {e["allowed"] for e in found["attacks"] if e["kind"] == "linkability"} == {0.5}


def test_what_cannot_be_attacked_is_refused(tmp_path: Path) -> None:
    train, control = csv_of(tmp_path / "a.csv", PEOPLE), csv_of(tmp_path / "b.csv", OTHERS)
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    a, b = str(train), str(control)
    refused(setveil("attack", a, "--original", a, "--control", a), 2, "control is the original")
    copy = csv_of(tmp_path / "copy.csv", PEOPLE[::-1])
    refused(setveil("attack", a, "--original", a, "--control", str(copy)), 2, "control is the original")
    refused(setveil("attack", a, "--original", a, "--control", str(empty)), 4, "is an empty file")
    refused(setveil("attack", a, "--original", a), 2, "--control")
    refused(setveil("attack", a, "--split", "50%", "--control", b, "--k", "2"), 2, "--split")
    for share in ("0", "100%", "x"):
        refused(setveil("attack", a, "--split", share, "--k", "2"), 2, "--split must be")
    both = ("attack", a, "--original", a, "--control", b)
    refused(setveil(*both, "--alpha", "2"), 2, "--alpha must be")
    refused(setveil(*both, "--known", "9"), 2, "at most 8")
    refused(setveil(*both, "--rho", "0.5"), 2, "goes with --split")
    with pytest.raises(sv.DataError, match="nobody to attack"):
        sv.attack(PEOPLE, PEOPLE, [[]])
    with pytest.raises(sv.RequestError, match="train and control"):
        sv.attack(PEOPLE, PEOPLE)


def test_people_who_are_in_both_groups_by_their_ids_are_refused(tmp_path: Path) -> None:
    lines = {
        "in": ["1,tea", "1,milk", "2,tea", "4,rum"],
        "out": ["7,tea", "2,milk", "4,tea"],
        "new": ["8,tea"],
    }
    for name, some in lines.items():
        write(tmp_path / f"{name}.csv", "\n".join(["id,item", *some]) + "\n")
    words = ["attack", tmp_path / "in.csv", "--original", tmp_path / "in.csv"]
    columns = ["--id-column", "id", "--item-column", "item"]
    done = setveil(*words, "--control", tmp_path / "out.csv", *columns)
    refused(done, 2, "2 ids are in the original and in the control", "'2', '4'")
    assert setveil(*words, "--control", tmp_path / "new.csv", *columns).code == 0
    sides = [sv.read(tmp_path / f"{name}.csv", id_column="id", item_column="item") for name in ("in", "out")]
    with pytest.raises(sv.RequestError, match="2 ids are in the original and in the control"):
        sv.attack(sides[0], *sides)


def test_a_worthless_control_is_reported() -> None:
    found = sv.attack(PEOPLE, PEOPLE, 5 * [["x", "y"], ["z"], ["u"], ["v", "tea"]], k=3)
    assert "worthless control" in found["warnings"][0]
    few = sv.attack(PEOPLE, PEOPLE, OTHERS[:3])
    assert any("singling out" in warning for warning in few["warnings"])
    assert few["attacks"][0]["control"]["attempts"] == few["attacks"][0]["train"]["attempts"]

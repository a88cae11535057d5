"""Why a value or an item of a table is published as it is: every attempt against its definition."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import refused, setveil, together
from naive import rt_table, tables_verify
from naive.anonymize import up_from
from naive.rt_table import MISSING, Column
from naive.tables_verify import Line
from strategies import many
from tables import fast, hierarchy, random_tables

K, M = 2, 2


def lines_of(release: sv.VerifiedRelease) -> list[Line]:
    """Return the published line of each row of the input, in its order."""
    made: Any = release.release
    table = made.table
    return [
        Line(
            tuple(column.labels[int(column.codes[row])] for column in table.columns),
            frozenset(table.sets[row]),
        )
        for row in made.row_map.tolist()
    ]


def stands_for(column: Column, label: str, value: str) -> bool:
    if column.whole is not None:
        return label in column.paths[value]
    if label == "*":
        return True
    if MISSING in {value, label}:
        return value == label
    number = Fraction(value)
    if label[0] in "<>":  # open at one end
        end, also = Fraction(label.strip("<>=")), "=" in label
        return (also and number == end) or (number < end if label[0] == "<" else number > end)
    least, greatest = map(Fraction, label.strip("[()]").split(",") if "," in label else (label, label))
    inside = least < number if label[0] == "(" else least <= number
    return inside and (number < greatest if label[-1] == ")" else number <= greatest)


def cut(
    lines: Sequence[Line], slow: rt_table.Table, answer: Mapping[str, Any], one: Mapping[str, Any]
) -> list[Line]:
    """Give the rows of the label, or of the class, the new label that represents their value."""
    at = [column.name for column in slow.columns].index(answer["column"])
    known, local = tuple(answer["class"].values()), answer["local"]
    found = []
    for row, line in enumerate(lines):
        inside = line.known == known if local else line.known[at] == answer["label"]
        if not inside:
            found.append(line)
            continue
        column = slow.columns[at]
        label = next(part for part in one["parts"] if stands_for(column, part, column.values[row]))
        found.append(line._replace(known=(*line.known[:at], label, *line.known[at + 1 :])))
    return found


def relabelled(
    lines: Sequence[Line], slow: rt_table.Table, answer: Mapping[str, Any], one: Mapping[str, Any]
) -> list[Line]:
    """Publish items of the class, or of all rows, under the new labels that are above them."""
    found = []
    for row, line in enumerate(lines):
        if answer["part"][row] != answer["part"][answer["row"] - 1]:
            found.append(line)
            continue
        items = set(line.items)
        if answer["label"] is not None:
            items.discard(answer["label"])
        for item in slow.sets[row]:
            path = up_from(slow.items, item)
            if answer["label"] is not None:
                was = answer["label"] in path and item not in answer["left out"]
            else:
                was = one["kind"] == "ancestor" or item == answer["name"]
            new = [part for part in one["parts"] if part in path]
            items.update(new[:1] if was else [])
        found.append(line._replace(items=frozenset(items)))
    return found


ALGORITHMS = (sv.RT(), sv.Forest(), sv.RT(search="sweep", share=Fraction(1, 2)))


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=["rt", "forest", "sweep"])
def test_every_attempt(algorithm: Any) -> None:
    """Check the violations of all attempts for a few rows."""
    n_attempts = kinds = 0
    seen: set[str] = set()
    for rng, slow in random_tables(100, 83, most_leaves=4):
        if slow.n < K:
            continue
        table, tree = fast(slow), hierarchy(slow)
        release = sv.anonymize(table, sv.KKmAnonymity(K, M), hierarchy=tree, algorithm=algorithm)
        lines, made = lines_of(release), release.release
        image = made.image() if isinstance(algorithm, sv.Forest) else {}
        suppressed = {item for item, label in image.items() if label is None}
        rows = rng.sample(range(slow.n), 2)
        questions = [(column.name, row) for row in rows for column in slow.columns]
        questions += [(item, row) for row in rows for item in sorted(slow.sets[row])]
        for name, row in questions:
            answer = sv.why(release, name, row=row + 1, data=table, hierarchy=tree, show=3)
            local: dict[str, Any] = {"local": not isinstance(algorithm, sv.Forest)}
            local |= {"part": made.recoding.part.tolist(), "left out": suppressed}
            assert answer["relational_loss"] == pytest.approx(release.utility["relational_loss"])
            assert answer["transaction_loss"] == pytest.approx(release.utility["transaction_loss"])
            if "column" in answer:
                at = [column.name for column in slow.columns].index(name)
                assert answer["label"] == lines[row].known[at]
                assert (answer["question"] == "kept") == (answer["label"] == answer["value"])
            n_attempts += 1
            for one in answer["tries"]:
                then = (cut if "column" in answer else relabelled)(lines, slow, {**answer, **local}, one)
                order = sorted({item for line in then for item in line.items})
                broken = tables_verify.violations(then, K, M, order)
                assert one["violations"] == len(broken)
                assert one["holds"] == (not broken)
                for entry in one["first"]:
                    found = (tuple(entry["class"].values()), frozenset(entry["itemset"]), entry["support"])
                    assert found in {(known, frozenset(items), n) for known, items, n in broken}
                seen.add(one["kind"])
                kinds += 1
    assert n_attempts > many(200)
    assert kinds > many(80)
    assert {"cut", "back"} <= seen


WARD = "age,sex,codes\n" + "".join(
    f"{age},{sex},{codes}\n"
    for age, sex, codes in zip(
        (34, 36, 41, 45, 47, 62, 64, 71),
        "FFMMFMMF",
        ("I21;J18", "I21", "J18;J44", "I50;J44", "I50", "I21;J44", "I21;I50", "J18"),
        strict=True,
    )
)
TREE = "".join(
    f"{code};{group};ALL\n" for code, group in zip(("I21", "I50", "J18", "J44"), "IIJJ", strict=True)
)


@pytest.fixture
def ward(tmp_path: Path) -> Path:
    (tmp_path / "ward.csv").write_text(WARD)
    (tmp_path / "codes.csv").write_text(TREE)
    return tmp_path


@pytest.mark.parametrize("algorithm", ["rt", "forest", "bounding"])
def test_a_folder_answers_as_the_release_does(ward: Path, algorithm: str) -> None:
    """By the command line from the files of a run, and in Python from the release."""
    files = ["--qi", "age,sex", "--set", "codes", "--hierarchy", "codes.csv"]
    make = ["anonymize", "ward.csv", "--model", "kkm", "--k", 2, "--m", 2, "--algorithm", algorithm, *files]
    setveil(*make, "--out", "run", cwd=ward).ok()
    table = sv.read_table(ward / "ward.csv", qi=["age", "sex"], set="codes")
    tree = sv.read_hierarchy(ward / "codes.csv")
    release = sv.anonymize(table, sv.KKmAnonymity(2, 2), hierarchy=tree, algorithm=algorithm)
    questions = [("age", 1), ("sex", 4), ("I21", 2), ("J18", 8), ("I50", 4), ("age", None), ("J44", None)]
    done = together(
        [
            ["why", "run", name, "--json", *([] if row is None else ["--row", row])]
            for name, row in questions
        ],
        ward,
    )  # fmt: skip
    for (name, row), one in zip(questions, done, strict=True):
        expected = sv.why(release, name, row=row, data=table, hierarchy=tree)
        assert json.loads(one.ok().out) == json.loads(json.dumps(expected))
        assert expected["stays_inside"]
        assert expected["text"].endswith("reveals small counts.")


@pytest.mark.parametrize(
    ("promise", "algorithm"),
    [
        (sv.KKmAnonymity(2, 2), "rt"),
        (sv.KKmAnonymity(2, math.inf, sensitive=["J44"], h="2/3", p=1), "rt"),
        (sv.MixedKmAnonymity(2, 3), "forest"),
    ],
)
def test_a_folder_written_in_python_answers_as_the_release_does(
    ward: Path, promise: sv.KKmAnonymity | sv.MixedKmAnonymity, algorithm: str
) -> None:
    """Its record holds no options of a command line."""
    table = sv.read_table(ward / "ward.csv", qi=["age", "sex"], set="codes")
    tree = sv.read_hierarchy(ward / "codes.csv")
    release = sv.anonymize(table, promise, hierarchy=tree, algorithm=algorithm)
    release.write(ward / "run")
    for name in ("age", "I21", "J44"):
        options: dict[str, Any] = {"data": table, "hierarchy": tree}
        assert sv.why(ward / "run", name, **options) == sv.why(release, name, **options)


def test_what_is_refused(ward: Path) -> None:
    files = ["--qi", "age,sex", "--set", "codes", "--hierarchy", "codes.csv"]
    make = ["anonymize", "ward.csv", "--model", "kkm", "--k", 2, "--m", 2, *files, "--out", "run"]
    setveil(*make, cwd=ward).ok()
    lost, typo, far, elsewhere = together(
        [
            ["why", "run", "I99"],
            ["why", "run", "agE"],
            ["why", "run", "age", "--row", 9],
            ["why", "run", "age", "--data", "other.csv"],
        ],
        ward,
    )
    refused(
        lost,
        4,
        "is not a quasi-identifier, an item or a published label of this table",
        "The quasi-identifiers are age, sex.",
    )
    refused(typo, 4, "Did you mean 'age'?")
    refused(far, 2, "There is no row 9: the table has rows 1 to 8.")
    refused(elsewhere, 4, "other.csv")
    (ward / "ward.csv").write_text(WARD.replace("34,", "35,"))
    refused(setveil("why", "run", "age", cwd=ward), 4, "no longer the one that this run was made from")

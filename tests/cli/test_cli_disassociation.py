"""Disassociation on the command line: a run, its check, its use, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from chunk_cases import PAPER
from cli_helpers import Done, setveil, table, together, write

DATA = "\n".join(",".join(sorted(row)) for row in PAPER) + "\n"
TREE = "".join(f"{item};{item[0]};all\n" for item in sorted({x for row in PAPER for x in row}))
PLAIN = ["paper.csv", "--format", "basket", "-a", "disassociation", "-k", 3, "-m", 2]
RUN = ["anonymize", "--rare-names", *PLAIN]

TABLE = ["anonymize", "table.csv", "--qi", "age", "--set", "codes"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Done]]:
    folder = tmp_path_factory.mktemp("chunks")
    write(folder / "paper.csv", DATA)
    write(folder / "tree.csv", TREE)
    write(folder / "table.csv", 'age,codes\n30,"a,b"\n30,a\n41,b\n41,"a,b"\n')
    sensitive = ["--sensitive", "panic-disorder,viagra"]
    commands = [
        [*RUN, "--cluster-size", 5, "--out", "run", "--external", "--verbose"],
        [*RUN, "--cluster-size", 5, "--no-refine", "--out", "plain", "--hierarchy", "tree.csv"],
        [*RUN[:-4], "-k", 1, "-m", 2, *sensitive, "--out", "safe"],
        [*RUN, "--cluster-size", 5, *sensitive, "--unsafe", "--out", "unsafe", "--verbose"],
    ]
    return folder, together(commands, folder)


def test_what_is_written(folder: tuple[Path, list[Done]]) -> None:
    place, done = folder
    text = done[0].ok().out
    assert "That is weaker than k^m-anonymity" in " ".join(text.split())
    assert "3 of 3 to 4 rows" in text
    published = place / "run" / "published"
    assert {file.name for file in published.iterdir()} == {
        "about.json", "chunks.csv", "clusters.csv", "data.json", "report.html"
    }  # fmt: skip
    data = json.loads((published / "data.json").read_text())
    assert [data[key] for key in ("model", "k", "m", "empty_rows")] == ["disassociation", 3, 2, 0]
    header, *lines = table(published / "chunks.csv")
    assert header == ["clusters", "chunk", "part", "item"]
    found: dict[tuple[str, str], dict[str, set[str]]] = {}
    for clusters, chunk, part, item in lines:
        found.setdefault((clusters, chunk), {}).setdefault(part, set()).add(item)
    for c, cluster in enumerate(data["clusters"]):
        for j, chunk in enumerate(cluster["record_chunks"]):
            parts = [set(row) for row in chunk["rows"]]
            assert list(found[str(c), f"r{j}"].values()) == parts
        assert found[str(c), "t"][""] == set(cluster["term_chunk"])
    for j, chunk in enumerate(data["shared_chunks"]):
        where = "+".join(map(str, chunk["clusters"])), f"s{j}"
        assert list(found[where].values()) == [set(row) for row in chunk["rows"]]
    header, *lines = table(published / "clusters.csv")
    assert [int(rows) for _, rows in lines] == [cluster["rows"] for cluster in data["clusters"]]
    header, *lines = table(place / "run" / "internal" / "rows.csv")
    assert header == ["input_row", "cluster"]
    assert len(lines) == len(PAPER)


def test_pages(folder: tuple[Path, list[Done]]) -> None:
    place, _ = folder
    inside = (place / "unsafe" / "internal" / "report.html").read_text()
    for text in ("Clusters by size", "Items by place", "Inference", "the cover problem"):
        assert text in inside
    outside = (place / "run" / "published" / "report.html").read_text()
    assert "The guarantee holds" in outside
    assert "3, whose sizes are in" in outside


def test_safe_form_and_its_description(folder: tuple[Path, list[Done]]) -> None:
    place, done = folder
    assert "No --rho is given: nothing sensitive is learned with a chance above 1/5" in done[2].ok().err
    assert "right about any of 2 sensitive items with a chance above 0.2" in " ".join(done[2].out.split())
    assert "does not use the hierarchy" in done[1].ok().err
    record = json.loads((place / "unsafe" / "internal" / "report.json").read_text())["guarantee"]
    assert record["greatest_confidence"]["confidence"] > 0.2
    assert record["inferences"] >= 1
    assert "Inferred   a sensitive item with a chance of" in done[3].ok().out


def answers(done: Done) -> dict[str, Any]:
    return {", ".join(one["itemset"]): one for one in json.loads(done.ok().out)}


def test_queries_of_the_example(folder: tuple[Path, list[Done]]) -> None:
    place, _ = folder
    queries = ["madonna", "ikea,ruby", "itunes,audi-a4", "madonna,ikea", "flu,viagra"]
    refined, plain = (answers(setveil("query", place / run, *queries, "--json")) for run in ("run", "plain"))
    expected = {
        "madonna": (7, 7, 7, 9), "ikea, ruby": (11 / 12, 7 / 4, 0, 10), "itunes, audi-a4": (1, 2, 0, 3),
        "madonna, ikea": (25 / 12, 11 / 4, 0, 9), "flu, viagra": (2 / 3, 4 / 3, 0, 6),
    }  # fmt: skip
    for query, (without, with_, least, greatest) in expected.items():
        assert plain[query]["estimate"] == pytest.approx(without)
        assert refined[query]["estimate"] == pytest.approx(with_)
        assert (refined[query]["least"], refined[query]["greatest"]) == (least, greatest)


def test_verify(folder: tuple[Path, list[Done]]) -> None:
    place, _ = folder
    for target in (place / "run", place / "run" / "published" / "data.json"):
        assert "holds" in setveil("verify", target, "-k", 3, "-m", 2).ok().out
        assert setveil("verify", target, "-k", 4, "-m", 2).code == 1
    assert setveil("verify", place / "safe", "-k", 1, "-m", 2, "--rho", "1/5").ok()
    done = setveil("verify", place / "plain", "-k", 3, "-m", 2, "--rho", "1/5", "--sensitive", "viagra")
    assert done.code == 1
    assert "viagra in" in done.out
    tampered = place / "tampered.json"
    data = json.loads((place / "run" / "published" / "data.json").read_text())
    chunk = next(c for cluster in data["clusters"] for c in cluster["record_chunks"])
    del chunk["rows"][:2]
    tampered.write_text(json.dumps(data))
    assert setveil("verify", tampered, "-k", 3, "-m", 2).code == 1


def test_draws_and_measures(folder: tuple[Path, list[Done]]) -> None:
    place, _ = folder
    setveil("reconstruct", place / "run", "--draws", 2, "--out", place / "draws", "--force").ok()
    measured = json.loads(
        setveil(
            "measure", place / "paper.csv", place / "run", "--format", "basket", "--queries", 20, "--json"
        )
        .ok()
        .out
    )["utility"]
    assert measured["tlost"] == 0
    assert measured["are"]["queries"] > 0
    plain = json.loads(
        setveil("measure", place / "paper.csv", place / "plain", "--format", "basket", "--json").ok().out
    )["utility"]
    assert plain["tlost"] == pytest.approx(4 / 9)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (["risk", "run"], "do not show which items are in the same row"),
        (["why", "run", "madonna"], "every item is published under its own name"),
        (["apply", "run", "paper.csv", "--out", "new"], "which cluster new rows would belong to"),
        ([*RUN, "--engine", "parts", "--out", "new"], "is not computed in parts"),
        (
            ["anonymize", *PLAIN, "--engine", "spark", "--out", "new"],
            "With --engine spark there are aa, exact",
        ),
        (
            ["apply", "run", "paper.csv", "--repair", "--union", "run", "--out", "new"],
            "which cluster new rows",
        ),
        (["risk", "run", "--absent", 1], "do not show which items are in the same row"),
        (["checker", "run"], "does not support this release, which guarantees disassociated"),
        (["certify", "run"], "this is a run of disassociation"),
        ([*RUN, "--certificate", "--out", "new"], "--certificate is of exact"),
        ([*RUN, "--checker", "--out", "new"], "The checker for recipients does not support this release"),
        ([*RUN, "--classes", "--out", "new"], "not by disassociation"),
        ([*RUN, "--counts-min", 5, "--out", "new"], "It tells of items under their own names already"),
        ([*RUN, "--bound", "--out", "new"], "not for disassociation"),
        ([*RUN, "--sensitive", "nothing", "--out", "new"], "not in the data: 'nothing'"),
        (
            [*TABLE, "-a", "disassociation", "-k", 2, "-m", 1, "--out", "new"],
            "disassociated is about rows of items. Hint: For tables there is --model kkm, without another "
            "--model or --algorithm.",
        ),
        (
            [*TABLE, "-a", "disassociation", "--model", "kkm", "-k", 2, "-m", 1, "--out", "new"],
            "disassociation does not give kkm",
        ),
        (
            ["measure", "paper.csv", "run", "--qi", "age"],
            "the release is about rows of items. Hint: Omit --qi.",
        ),
        (
            ["query", "run", "madonna,music"],
            "'music' is not an item of the release. Hint: Items are published",
        ),
        ([*RUN[:-3], 11, "-m", 2, "--out", "new"], "The greatest possible k is 10"),
        ([*RUN, "--sensitive", "viagra", "--rho", "1/5", "--out", "new"], "a cluster needs k / rho = 15"),
        ([*RUN, "--cluster-size", 4, "--out", "new"], "less than 5"),
        ([*RUN, "--rho", "1/5", "--out", "new"], "none is named"),
        (
            [*RUN, "--output-format", "fimi", "--out", "new"],
            "always published as data.json and two csv files",
        ),
        (["verify", "bad.json", "-k", 3, "-m", 2], "there is no 'rows'"),
        (["verify", "run", "-k", 3, "-m", 2, "--model", "km-anonymity"], "rows in chunks"),
    ],
)
def test_refused(folder: tuple[Path, list[Done]], command: list[Any], text: str) -> None:
    place, _ = folder
    write(
        place / "bad.json", '{"model": "disassociation", "k": 3, "m": 2, "empty_rows": 0, "clusters": [{}]}'
    )
    done = setveil(*command, cwd=place)
    assert done.code in {2, 3, 4}
    assert text in " ".join(done.err.split())
    assert not (place / "new").exists()

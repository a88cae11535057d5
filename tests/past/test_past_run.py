"""An earlier run is read once, by one reader, with the same error for any damage."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from setveil.report.record import read_record
from setveil.rows.data.layout import FORMATS
from setveil.work.past.run import past_run, read_recoding
from workbooks import xlsx

ROWS = [["tea", "milk"], ["coffee", "milk"], ["tea"], ["coffee"], ["coffee"], ["milk"]]


def test_a_folder_says_what_the_release_in_memory_does(tmp_path: Path) -> None:
    release = sv.anonymize(ROWS, sv.KmAnonymity(k=2, m=2))
    release.write(tmp_path / "run")
    read, taken = past_run(tmp_path / "run"), past_run(release, "the release")
    assert (read.name, taken.name) == (str(tmp_path / "run"), "the release")
    assert read.uniform
    assert read.image == dict(taken.image)
    assert read.promise() == taken.promise() == taken.guarantee == sv.KmAnonymity(2, 2)
    assert (read.model, read.objective) == (taken.model, taken.objective) == ("km-anonymity", "lm")


@pytest.mark.parametrize("form", FORMATS)
def test_a_run_is_read_again_whatever_it_is_published_as(tmp_path: Path, form: str) -> None:
    rows = [["1", "2"], ["3", "2"], ["1"], ["3"], ["3"], ["2"]]
    sv.anonymize(rows, sv.KmAnonymity(k=2, m=1)).write(tmp_path / "run", format=form)
    assert dict(past_run(tmp_path / "run").image) == {"1": "1", "2": "2", "3": "3"}
    report = tmp_path / "run" / "internal" / "report.json"
    assert read_record(report)["published"]["layout"]["format"] == form
    assert sv.why(tmp_path / "run", "1", data=rows)["rows"] == 2


GOODS = [(f"p{at}", ["tea", "milk", "coffee"][at % 3], "ham") for at in range(12)]


def sources(folder: Path) -> dict[str, dict[str, Any]]:
    """Write the same rows in each way that is read with columns named, and say how."""
    table = pl.DataFrame(GOODS, ["id", "main", "other"], orient="row")
    cells = table.select("id", cell=pl.col("main") + "," + pl.col("other"))
    table.write_csv(folder / "wide.csv", separator=";")
    cells.write_csv(folder / "cells.csv")
    cells.write_parquet(folder / "cells.parquet")
    (folder / "cells.xlsx").write_bytes(xlsx({"A": [cells.columns, *map(list, cells.rows())]}))
    with contextlib.closing(sqlite3.connect(folder / "goods.db")) as base:
        base.execute("CREATE TABLE goods (id, cell)")
        base.executemany("INSERT INTO goods VALUES (?, ?)", cells.rows())
        base.commit()
    by_id, by_line = {"id_column": "id", "item_column": "cell"}, {"item_columns": "cell"}
    files = {
        f"{name} {how}": {"source": folder / name, **said, "delimiter": ","}
        for name in ("cells.csv", "cells.parquet", "cells.xlsx")
        for how, said in (("by id", by_id), ("by line", by_line))
    }
    records = table.unpivot(["main", "other"], index="id").to_dicts()
    (folder / "records.json").write_text(json.dumps(records))
    lists = [{"id": one, "goods": goods} for one, *goods in GOODS]
    (folder / "lists.json").write_text(json.dumps(lists, indent=1))
    json_by_id = {"source": folder / "lists.json", "id_column": "id", "item_column": "goods"}
    query = {"query": "SELECT * FROM goods", "connection": f"sqlite:///{folder / 'goods.db'}"}
    return {
        **files,
        "records": {"source": folder / "records.json", "id_column": "id", "item_column": "value"},
        "lists": {"source": folder / "lists.json", "item_column": "goods"},
        "lists by id": json_by_id,
        "wide": {"source": folder / "wide.csv", "item_columns": "main,other"},
        "a query": {"source": None, **query, **by_id, "delimiter": ","},
        "a query by line": {"source": None, **query, **by_line, "delimiter": ","},
    }


def test_the_rows_of_a_run_from_python_are_found_again(tmp_path: Path) -> None:
    for name, how in sources(tmp_path).items():
        data = sv.read(how.pop("source"), **how)
        assert sorted(data.rows()) == sorted(tuple(sorted(row[1:])) for row in GOODS), name
        folder = tmp_path / name
        sv.anonymize(data, sv.KmAnonymity(k=2, m=2)).write(folder)
        assert sv.why(folder, "tea")["rows"] == 4, name


@pytest.mark.parametrize("how", ["options", "read"])
def test_a_record_sends_no_query_to_a_server(tmp_path: Path, how: str) -> None:
    (tmp_path / "rows.csv").write_text("".join(f"{','.join(row)}\n" for row in ROWS))
    sv.anonymize(sv.read(tmp_path / "rows.csv", format="basket"), k=2, m=1).write(tmp_path / "run")
    file = tmp_path / "run" / "internal" / "report.json"
    report = json.loads(file.read_text())
    query, server = "DELETE FROM visits", "mysql://root@127.0.0.1:1/shop"
    if how == "options":
        report["options"] = {"query": query, "connection": server}
    else:
        report["input"]["read"] |= {"query": query, "files": [{"path": server, "sha256": None}]}
    file.write_text(json.dumps(report))
    with pytest.raises(sv.RequestError, match=r"Only the record .*'mysql:.*Expected that you name it"):
        sv.why(tmp_path / "run", "tea")


def test_rows_that_were_recoded_apart_have_no_labels_of_items(tmp_path: Path) -> None:
    release = sv.anonymize(ROWS, sv.TransactionalKAnonymity(k=2), algorithm=sv.LG)
    release.write(tmp_path / "run")
    for run in (past_run(tmp_path / "run"), past_run(release, "the release")):
        assert (run.uniform, dict(run.image)) == (False, {})


def test_a_recoding_is_read(tmp_path: Path) -> None:
    file = tmp_path / "recoding.csv"
    with pytest.raises(sv.DataError, match="cannot be read as a recoding"):
        read_recoding(file)
    file.write_text('item,published\n"a,b",food\nc,\n')
    assert read_recoding(file) == {"a,b": "food", "c": None}
    file.write_text("row,what\n1,2\n")
    with pytest.raises(sv.DataError, match="expected item,published"):
        read_recoding(file)
    file.write_bytes(b"item,published\n\xff,x\n")
    with pytest.raises(sv.DataError, match="cannot be read as a recoding"):
        read_recoding(file)

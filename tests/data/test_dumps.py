"""SQL dumps: the rows of a table, as the database that wrote them has them."""

from __future__ import annotations

import csv
import io
import random
import sqlite3
from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.base.errors import DataError, RequestError, TableError
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.dumps import is_dump, without_sql

ROWS = [("E11.9", "I10"), ("I10",), ("O'Neil; K21, x",), ()]
MYSQL = """-- MySQL dump 10.13  Distrib 8.0.33, for Linux (x86_64)
/*!40101 SET NAMES utf8 */;
DROP TABLE IF EXISTS `visits`;
CREATE TABLE `visits` (
  `pid` int NOT NULL COMMENT 'a, b (it\\'s)',
  `fee` decimal(10,2) DEFAULT '0.00',
  `icd` varchar(20) DEFAULT NULL,
  PRIMARY KEY (`pid`,`icd`),
  KEY `icd` (`icd`)
) ENGINE=InnoDB;
LOCK TABLES `visits` WRITE;
INSERT INTO `visits` VALUES (1,2.50,'E11.9'),(1,-1,'I10'),(2,NULL,'I10'),
(3,1e3,'O\\'Neil; K21, x'),(4,0,NULL);
UNLOCK TABLES;
"""
SQLITE = """PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE visits(pid INTEGER, icd TEXT);
INSERT INTO visits VALUES(1,'E11.9');INSERT INTO visits VALUES(1,'I10');
INSERT INTO visits VALUES(2,'I10');
INSERT INTO visits VALUES(3,'O''Neil; K21, x');
INSERT INTO visits VALUES(4,NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('visits',4);
COMMIT;
"""
POSTGRES = """--
-- PostgreSQL database dump
--
SET statement_timeout = 0;
INSERT INTO public.visits (pid, icd) VALUES (1, 'E11.9');
INSERT INTO public.visits (pid, icd) VALUES
\t(1, 'I10'),
\t(2, 'I10'),
\t(3, 'O''Neil; K21, x') ON CONFLICT DO NOTHING;
INSERT INTO public.visits (pid, icd) VALUES (4, NULL);
"""
COPY = """-- PostgreSQL database dump
CREATE TABLE public.visits (
    pid integer,
    icd text
);
COPY public.visits (pid, icd) FROM stdin;
1\tE11.9
1\tI10
2\tI10
3\tO'Neil; K21, x
4\t\\N
\\.

SELECT pg_catalog.setval('x', 1);
"""
SERVER = """USE [clinic]
GO
INSERT [dbo].[visits] ([pid], [icd]) VALUES (1, N'E11.9')
GO
INSERT [dbo].[visits] ([pid], [icd]) VALUES (1, N'I10')
INSERT [dbo].[visits] ([pid], [icd]) VALUES (2, N'I10')
INSERT [dbo].[visits] ([pid], [icd]) VALUES (3, N'O''Neil; K21, x')
INSERT [dbo].[visits] ([pid], [icd]) VALUES (4, NULL)
GO
"""
DUMPS = {"mysql": MYSQL, "sqlite": SQLITE, "postgres": POSTGRES, "copy": COPY, "server": SERVER}


@pytest.mark.parametrize("text", DUMPS.values(), ids=DUMPS)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_rows_of_a_dump_are_read(tmp_path: Path, text: str, encoding: str) -> None:
    path = tmp_path / "visits.sql"
    path.write_text(text, encoding=encoding)
    assert sv.read(path, id_column="pid", item_column="icd").rows() == ROWS


def test_the_columns_of_a_dump_are_proposed(tmp_path: Path) -> None:
    (tmp_path / "visits.sql").write_text(MYSQL)
    done = setveil("read", "visits.sql", "--show", cwd=tmp_path)
    assert "one row per value of pid, items from icd" in done.err


def test_a_dump_may_be_a_table_of_people(tmp_path: Path) -> None:
    path = tmp_path / "ward.sql"
    path.write_text("INSERT INTO ward (sex, icd) VALUES ('f','I10;E11.9'),('m','I10'),('f',NULL);\n")
    table = sv.read_table(path, qi=["sex"], set="icd")
    assert table.rows() == [("E11.9", "I10"), ("I10",), ()]


def test_any_text_in_a_database_is_read_as_it_is(tmp_path: Path) -> None:
    draw = random.Random(7)
    signs = [
        "'",
        '"',
        ",",
        ";",
        "\\",
        "(",
        ")",
        "\n",
        "\t",
        "é",
        " ",
        "a",
        "1",
        "\u2028",
        "\nINSERT INTO t VALUES (9,'x');",
    ]
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (a INTEGER, b TEXT, c TEXT)")
    values = [[n, *("".join(draw.choices(signs, k=draw.randrange(6))) for _ in range(2))] for n in range(300)]
    base.executemany("INSERT INTO t VALUES (?, ?, ?)", values)
    dump = "\n".join(base.iterdump())
    found = without_sql(Text("t.sql", dump.encode()), None)
    rows = list(csv.reader(io.StringIO(found.content.decode(), newline="")))
    assert rows == [["a", "b", "c"], *([str(n), b, c] for n, b, c in values)]


def test_a_table_is_chosen_by_its_name(tmp_path: Path) -> None:
    more = "INSERT INTO drugs (pid, atc) VALUES (1, 'C07');\n"
    (tmp_path / "both.sql").write_text(POSTGRES + more)
    done = setveil("read", "both.sql", cwd=tmp_path)
    assert done.code == 4
    assert "both.sql fills 2 tables: 'visits', 'drugs'" in done.err
    assert "setveil read both.sql --sheet visits --id-column pid --item-column icd" in done.err
    rows = sv.read(tmp_path / "both.sql", sheet="drugs", id_column="pid", item_column="atc").rows()
    assert rows == [("C07",)]
    with pytest.raises(TableError, match=r"both\.sql fills 2 tables"):
        sv.read(tmp_path / "both.sql", sheet="drug", id_column="pid", item_column="atc")
    (tmp_path / "plain.csv").write_text("pid,icd\n1,I10\n")
    with pytest.raises(RequestError, match="sheet"):
        sv.read(tmp_path / "plain.csv", sheet="drugs", id_column="pid", item_column="icd")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("INSERT INTO t VALUES (1, X'00FF');", "line 3: found \"X'00FF'"),
        ("INSERT INTO t VALUES (1, lower('A'));", "line 3"),
        ("INSERT INTO t SELECT * FROM s;", "line 3: found 'SELECT"),
        ("INSERT INTO t (b, a) VALUES ('I10', 2);", "line 3"),
        ("INSERT INTO t VALUES (2, 'I10', 3);", "a row of 't' that begins with '2' has 3 values, expected 2"),
        ("INSERT INTO t VALUES (2, 'I10') ON DUPLICATE KEY UPDATE a = 3;", "line 3"),
        ("INSERT INTO t VALUES (2, 'I10')\nON DUPLICATE KEY UPDATE a = 3;", "line 3"),
        ("CREATE TABLE t (a int, b text);\nINSERT INTO t VALUES (2, 'I10');", "line 3"),
        ("INSERT INTO other.t VALUES (2, 'I10');", "fills 2 tables: 't', 'other.t'"),
        ("INSERT INTO t VALUES (2, 'I10", "line 3"),
    ],
)
def test_what_is_no_plain_value_is_an_error(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "t.sql"
    path.write_text(f"CREATE TABLE t (a int, b text);\nINSERT INTO t VALUES (1, 'I10');\n{line}\n")
    with pytest.raises(DataError) as caught:
        sv.read(path, id_column="a", item_column="b")
    assert words in str(caught.value)


def test_a_dump_is_not_read_in_parts(tmp_path: Path) -> None:
    (tmp_path / "visits.sql").write_text(SQLITE)
    command = ("risk", "visits.sql", "--engine", "parts", "--format", "basket", "--m", "1")
    done = setveil(*command, cwd=tmp_path)
    assert done.code == 2
    assert "visits.sql is read as a dump in SQL, which is not read in parts" in done.err


@pytest.mark.parametrize(
    "text",
    [
        "tea,INSERT INTO t VALUES (1)\nmilk\n",
        "SELECT,tea\nmilk,COPY\n",
        "2026-01-01 INSERT INTO t VALUES (1)\n",
    ],
)
def test_other_texts_are_no_dumps(text: str) -> None:
    assert not is_dump(text.encode())

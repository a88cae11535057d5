"""Tables as files for other processes: reading gives the same table."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import numpy as np

from setveil.rows.tables.files import table_files
from setveil.rows.tables.roles import Known, Roles, read_roles, write_roles
from setveil.rows.tables.table import Table, TextColumn
from setveil.work.studies.compare.files import read_data
from tables import fast, hierarchy, random_tables


def test_a_table_is_read_again_as_it_was(tmp_path: Path) -> None:
    for at, (rng, naive) in enumerate(random_tables(60, 7)):
        made = fast(naive)
        if not made.n_rows:
            continue
        codes = np.array([rng.randrange(3) for _ in range(made.n_rows)], np.int32)
        kept = (TextColumn("note", codes, ("a b", "", "1")),)
        table = Table(
            made.indptr, made.items, made.vocabulary, columns=made.columns, kept=kept,
            header=(*made.header, "note"), set_name="items", tree=hierarchy(naive),
        )  # fmt: skip
        folder = tmp_path / str(at)
        folder.mkdir()
        data, roles = table_files(table, folder)
        again = read_data([data], {}, roles)
        assert isinstance(again, Table)
        assert list(again) == list(table)
        assert again.tree.paths() == table.tree.paths()
        assert len(again.columns) == len(table.columns)
        for mine, theirs in zip(again.columns, table.columns, strict=True):
            assert (mine.name, mine.numeric, mine.weight) == (theirs.name, theirs.numeric, theirs.weight)
            assert np.array_equal(mine.rank[mine.codes], theirs.rank[theirs.codes])
            assert [mine.labels[v] for v in mine.codes] == [theirs.labels[v] for v in theirs.codes]
        parts = np.array([rng.randrange(2) for _ in range(made.n_rows)])
        parts = np.unique(parts, return_inverse=True)[1]
        assert again.relational_loss(parts) == table.relational_loss(parts)
        (column,) = again.kept
        assert [column.labels[v] for v in column.codes] == [kept[0].labels[v] for v in codes]


def test_which_value_counts_and_ages_are_read_again(tmp_path: Path) -> None:
    ages, ways = {"age": ("born", "2024-12-31")}, {"age": "first", "outcome": "most-frequent"}
    roles = Roles({"age": Known()}, "codes", ("outcome",), id_column="who", per_person=ways, ages=ages)
    write_roles(roles, tmp_path / "roles.toml")
    assert read_roles(tmp_path / "roles.toml") == roles


def test_roles_are_read_again_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "tree.csv").write_text("a;*\nb;*\n")
    tree = tmp_path / "tree.csv"
    roles = Roles(
        {
            "age": Known("numeric", ranges=Fraction(5, 2), weight=Fraction(1, 3)),
            "days": Known(ranges=True),
            'q"u\\o\nte\x7f.é': Known("categorical", tree),
        },
        "codes", ("outcome",), ("name",), "name", tree, "|",
    )  # fmt: skip
    write_roles(roles, tmp_path / "roles.toml")
    tomllib.loads((tmp_path / "roles.toml").read_text())
    again = read_roles(tmp_path / "roles.toml")
    assert again == Roles(roles.qi, "codes", ("outcome",), (), "name", tree, "|")

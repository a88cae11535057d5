"""The sizes in footers of Parquet files, compared with pyarrow, and the errors for too large ones."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as arrow
import pytest

import setveil as sv
from setveil.base.errors import DataError
from setveil.rows.data.io.footer import least_memory
from strategies import examples, seeded

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in


def written(frame: pl.DataFrame, **options: Any) -> bytes:
    out = io.BytesIO()
    frame.write_parquet(out, **options)
    return out.getvalue()


def by_arrow(content: bytes) -> int:
    about = arrow.ParquetFile(io.BytesIO(content)).metadata
    found: Counter[str] = Counter()
    for group in range(about.num_row_groups):
        for at in range(about.num_columns):
            column = about.row_group(group).column(at)
            size = 16 * column.num_values + column.total_uncompressed_size
            found[column.path_in_schema.split(".")[0]] += size
    return max(found.values(), default=0)


def test_sizes_are_those_of_the_footer() -> None:
    rng = seeded(415)
    for _ in range(examples(200, 40)):
        n = rng.randint(0, 40)
        columns: dict[str, Any] = {
            "number": pl.Series([rng.randint(-5, 9) for _ in range(n)], dtype=pl.Int64),
            "text": pl.Series([rng.choice("abc") * rng.randint(0, 9) for _ in range(n)], dtype=pl.String),
            "list": pl.Series([["x"] * rng.randint(0, 5) for _ in range(n)], dtype=pl.List(pl.String)),
            "day": pl.Series([rng.random() for _ in range(n)], dtype=pl.Float64),
        }
        names = rng.sample(list(columns), rng.randint(1, 4))
        frame = pl.DataFrame({name: columns[name] for name in names})
        options = {"row_group_size": rng.choice((3, 100)), "statistics": rng.random() < 0.5}
        content = written(frame, compression=rng.choice(("zstd", "uncompressed")), **options)
        assert least_memory(content) == by_arrow(content)
        out = io.BytesIO()
        arrow.write_table(frame.to_arrow(), out)
        assert least_memory(out.getvalue()) == by_arrow(out.getvalue())


def test_damaged_footers_say_nothing() -> None:
    rng = seeded(416)
    whole = written(pl.DataFrame({"item": ["a", "b"], "n": [1, 2]}))
    assert least_memory(whole) > 0
    for _ in range(examples(2000, 200)):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 5)):
            content[rng.randrange(4, len(content) - 4)] = rng.randrange(256)
        assert least_memory(bytes(content)) >= 0
    for size in (0, 1, 1 << 31):
        assert least_memory(whole[:-8] + size.to_bytes(4, "little") + b"PAR1") == 0


@pytest.mark.parametrize("lists", [False, True])
def test_many_values_in_a_few_bytes(tmp_path: Path, lists: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    many = pl.Series(["x"]).new_from_index(0, 2_000_000)
    frame = pl.DataFrame({"item": many.implode() if lists else many, "age": 1 if lists else many})
    path = tmp_path / "a.parquet"
    path.write_bytes(written(frame))
    assert path.stat().st_size < 20_000
    how: dict[str, Any] = {} if lists else {"item_columns": "item"}
    with monkeypatch.context() as patched:
        patched.setenv("SETVEIL_UNPACKED_LIMIT", "30")
        with pytest.raises(DataError, match=r"(?s)a.parquet takes more than 30 MB .*--unpacked-limit MB"):
            sv.read(path, **how)
        with pytest.raises(DataError, match="more than 30 MB"):
            sv.read_table(path, qi=["age"], set="item")
    assert sv.read(path, **how).n_items == 1

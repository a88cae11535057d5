"""How a file of rows is read: the options that every command that reads one has, and a study's data."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from setveil.fields import Text, parameter


@dataclass(frozen=True)
class Reading:
    """Options of `setveil.read`; None: detected from the file."""

    format: str | None = parameter(
        Text("a format"),
        "fimi, basket, long, spmf, parquet or jsonl; by default detected from the file.",
        default=None,
    )
    encoding: str | None = parameter(Text("an encoding"), "Of text files (default utf-8).", default=None)
    separator: str | None = parameter(Text(), "Between fields of basket and long files.", default=None)
    id_column: str | None = parameter(
        Text("a column"), "Long table: column that names the row.", default=None
    )
    item_column: str | None = parameter(
        Text("a column"), "Long table: column that holds the item.", default=None
    )

    @property
    def text_encoding(self) -> str:
        """Encoding of text files, named or not."""
        return self.encoding or "utf-8"

    def given(self) -> dict[str, Any]:
        """Return what was given, as arguments of `setveil.read`."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def arguments(self) -> list[str]:
        """Return what was given, as it is written on the command line."""
        words = ((f"--{name.replace('_', '-')}", str(value)) for name, value in self.given().items())
        return [word for pair in words for word in pair]


DETECTED = Reading()

"""Conversion to data frames: polars, and from it pandas and pyarrow."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError

if TYPE_CHECKING:
    import polars as pl


class Framed:
    """A source of a polars frame, and so of pandas and pyarrow frames."""

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame."""
        raise NotImplementedError

    def to_pandas(self, *, long: bool = False) -> Any:
        """Make a pandas data frame, as `to_polars` does.

        Raises
        ------
        RequestError
            If pandas is not installed.

        Examples
        --------
        >>> import setveil as sv
        >>> data = sv.Transactions.from_rows([["tea", "milk"], ["tea"]])
        >>> data.to_pandas(long=True).groupby("item").size().to_dict()
        {'milk': 1, 'tea': 2}
        """
        pandas = _library("pandas")
        table = self.to_polars(long=long)
        return pandas.DataFrame({name: table[name].to_list() for name in table.columns})

    def to_arrow(self, *, long: bool = False) -> Any:
        """Make a pyarrow table, as `to_polars` does.

        Raises
        ------
        RequestError
            If pyarrow is not installed.

        Examples
        --------
        >>> import setveil as sv
        >>> sv.Transactions.from_rows([["tea", "milk"], ["tea"]]).to_arrow().column_names
        ['items']
        """
        return _library("pyarrow").table(self.to_polars(long=long))


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise RequestError(f"{name} is not installed.", hint=f"pip install {name}") from None

"""The origin of data, for tests that know that it came from a file."""

from setveil.rows.data.layout import Layout, Origin
from setveil.rows.data.transactions import Transactions


def origin_of(data: Transactions) -> Origin:
    assert data.origin is not None
    return data.origin


def layout_of(data: Transactions) -> Layout:
    return origin_of(data).layout

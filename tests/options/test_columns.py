"""Descriptions of the columns of a table."""

from __future__ import annotations

import pytest

from setveil.base.errors import RequestError
from setveil.runs.options.columns import Columns


def test_one_column_of_items_may_be_a_text_or_in_a_list() -> None:
    for said in ("codes", ["codes"], ("codes",)):
        words = Columns(qi="age", set=said)
        assert words.as_roles().set_name == "codes"
        assert words.arguments() == ["--qi", "age", "--set", "codes"]
    with pytest.raises(RequestError, match="set"):
        Columns(qi="age", set=("codes", "drugs")).as_roles()

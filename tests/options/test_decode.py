"""Values of options: the same from the command line and from a study, or a clear error."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil.base.errors import DataError, RequestError
from setveil.base.values import kinds as module
from setveil.base.values.declared import Option
from setveil.base.values.kinds import (
    Choice,
    ColumnLabels,
    Flag,
    GroupsOfItems,
    Integer,
    ItemFile,
    Items,
    Itemsets,
    ItemsOrColumns,
    ItemsOrLeaves,
    ItemWeights,
    Kind,
    LabelWeights,
    LinesFile,
    Number,
    OneFile,
    Positive,
    Probability,
    QueryFile,
    Reference,
    RowSupport,
    Share,
    Size,
    Sizes,
    Text,
    Texts,
    UpTo,
)
from setveil.base.values.per_column import PerColumn
from setveil.methods import algorithms
from setveil.methods.constraints.pgen import pgen
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table, TextColumn
from setveil.runs.options.decode import Inputs, as_typed, decode, decode_parameters
from setveil.work.studies.compare.settings import accepted
from strategies import transactions

pytestmark = pytest.mark.usefixtures("command_line")  # whose dialect the messages below are in

DATA = transactions([frozenset(row) for row in ("abs", "abc", "bc", "ac", "a", "b")])
TREE = Hierarchy({"a": "X", "b": "X", "c": "Y", "s": "Y", "X": "*", "Y": "*", "*": None})
FILES = {
    "some.txt": "c\na\n",
    "others.txt": "zz\na\n",
    "sets.txt": "a,b\nc\n",
    "groups.txt": "a,b\nc,s\n",
    "weights.csv": "a,2\nb,0.5\n",
    "labels.csv": "A,0.5\nc,0.25\n",
    "unknown.txt": "a\nzz\n",
    "minus.csv": "a,-1\n",
    "coarsest.csv": "age,20-39\nage,40-59\ncodes,Heart\n",
}

# A kind, the value on the command line, the value in a study file, and the result.
COARSEST = {"age": ["20-39", "40-59"], "codes": ["Heart"]}
SAME: list[tuple[Kind, Any, Any, Any]] = [
    (ColumnLabels(), "coarsest.csv", "coarsest.csv", COARSEST),
    (Flag(), True, True, True),
    (Integer(), "3", 3, 3),
    (Integer(0), 0, 0, 0),
    (UpTo(), "3", 3, 3),
    (UpTo(), "true", True, True),
    (UpTo(), "any", True, True),  # the meaning of the bare option
    (Size(), "3", 3, 3),
    (Sizes(), "3", 3, 3),
    (Sizes(), "code=2,drug=1", "code=2,drug=1", PerColumn({"code": 2, "drug": 1})),
    (Size(), "inf", "inf", math.inf),
    (Size(), "∞", math.inf, math.inf),
    (Number("seconds"), 1.5, 1.5, 1.5),
    (Share("the items"), "5%", 0.05, Fraction(1, 20)),
    (Share("the items"), "0.05", "5%", Fraction(1, 20)),
    (Share("the items"), "1", 1, Fraction(1)),
    (Share(), "1/3", "1/3", Fraction(1, 3)),
    (Share(), "12.5%", "1/8", Fraction(1, 8)),
    (Probability(), "0.5", 0.5, "0.5"),
    (Choice(("ncp", "lm")), "lm", "lm", "lm"),
    (ItemFile(), Path("some.txt"), "some.txt", ("a", "c")),
    (LinesFile(), Path("others.txt"), "others.txt", ("a", "zz")),
    (Positive(), "1/3", "1/3", "1/3"),
    (ItemWeights(), Path("weights.csv"), "weights.csv", {"a": 2, "b": 0.5}),
    (LabelWeights(), Path("labels.csv"), "labels.csv", {"A": 0.5, "c": 0.25}),
    (Items(), "c, a,c", "c, a,c", ("c", "a")),
    (Items(), "some.txt", "some.txt", ("a", "c")),
    (Items(), "s", "s", ("s",)),
    (Itemsets(), "all", "all", None),
    (Itemsets(), "pgen", "pgen", pgen(DATA, 2)),
    (Itemsets(), "sets.txt", "sets.txt", (("a", "b"), ("c",))),
    (GroupsOfItems(), "any", "any", ()),
    (GroupsOfItems(), "siblings", "siblings", (("a", "b"), ("c", "s"))),
    (GroupsOfItems(), "siblings:0", "siblings:0", (("a", "b", "c", "s"),)),
    (GroupsOfItems(), "groups:2", "groups:2", (("a", "b"), ("c", "s"))),
    (GroupsOfItems(), "groups.txt", "groups.txt", (("a", "b"), ("c", "s"))),
]

# A kind, a value, and words of the error.
BAD: list[tuple[Kind, Any, type[Exception], str]] = [
    (Integer(), "x", RequestError, r"--some-option must be an integer, got 'x'"),
    (Integer(), "1.5", RequestError, r"--some-option must be an integer, got '1\.5'"),
    (Integer(), "", RequestError, r"--some-option must be an integer, got ''"),
    (UpTo(), "x", RequestError, r"--some-option must be an integer, got 'x'"),
    (Size(), "x", RequestError, r"--some-option must be an integer of at least 1, or inf, got 'x'"),
    (Sizes(), "code=2,code=1", RequestError, r"--some-option says twice how many of 'code'"),
    (Sizes(), "code=x", RequestError, r"--some-option code must be an integer, got 'x'"),
    (Size(), 1.5, RequestError, r"--some-option must be an integer of at least 1, or inf, got '1\.5'"),
    (Share(), "x", RequestError, r"A share must be 0% to 100%, .*got 'x'"),
    (Share(), "101%", RequestError, r"A share must be 0% to 100%, .*got '101%'"),
    (Share(), "-0.1", RequestError, r"A share must be 0% to 100%, .*got '-0\.1'"),
    (ItemFile(), "gone.txt", DataError, r"no file .*gone\.txt"),
    (LinesFile(), "gone.txt", DataError, r"no file .*gone\.txt"),
    (ItemWeights(), "minus.csv", DataError, r"minus\.csv, line 1: found 'a,-1'"),
    (Items(), "a,zz", DataError, r"In 'a,zz', 1 item is not in the data: 'zz'"),
    (Items(), ["a", "zz"], DataError, r"In 'a,zz', 1 item is not in the data: 'zz'"),
    (Items(), "unknown.txt", DataError, r"In 'unknown\.txt', 1 item is not in the data: 'zz'"),
    (Itemsets(), "unknown.txt", DataError, r"(?s)unknown\.txt .*line 2: there is no item 'zz'"),
    (GroupsOfItems(), "groups:x", RequestError, r"--utility groups:SIZE must be an integer, got 'x'"),
    (GroupsOfItems(), "siblings:x", RequestError, r"--utility siblings:LEVEL must be an integer, got 'x'"),
]

OTHERS = {"k": 2}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)


def from_study(kind: Kind, value: Any) -> Any:
    """Read a value as from a study file, through the JSON that a worker receives."""
    taken = accepted(kind, value, "study.toml: some_option", Path.cwd())
    path_record = {"path": str(taken.path)} if isinstance(taken, Reference) else taken
    return as_typed(Option(kind, ""), json.loads(json.dumps(path_record)))


@pytest.mark.parametrize(("kind", "text", "study", "value"), SAME)
def test_command_line_and_study_give_the_same(kind: Kind, text: Any, study: Any, value: Any) -> None:
    inputs = Inputs(DATA, hierarchy=TREE)
    for found in (text, from_study(kind, study)):
        decoded = decode("some_option", kind, found, inputs, OTHERS)
        assert decoded == value
        assert type(decoded) is type(value)


def test_every_kind_is_tried() -> None:
    tried = {type(kind) for kind, *_ in SAME} | {Text, Texts, OneFile}  # only where files are read
    kinds = {kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Kind)}
    kinds = {kind for kind in kinds if not kind.__name__.startswith("_")} - {Kind, QueryFile, RowSupport}
    assert tried == kinds - {ItemsOrLeaves, ItemsOrColumns}


def test_a_probability_is_taken_as_written() -> None:
    """1/3 is no number of a study file; no value of the command line is rounded."""
    assert decode("h", Probability(), "1/3", Inputs(DATA), {}) == "1/3"


@pytest.mark.parametrize(("kind", "value", "error", "said"), BAD)
def test_refused(kind: Kind, value: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        decode("some_option", kind, value, Inputs(DATA, hierarchy=TREE), OTHERS)


def test_kept_columns_may_be_named_beside_items() -> None:
    column = TextColumn("outcome", np.zeros(DATA.n_rows, np.int32), ("dead",))
    table = Table(DATA.indptr, DATA.items, DATA.vocabulary, kept=(column,))
    published = PublishedTable((), DATA, (column,))
    for text in ("outcome, a", ["outcome", "a"]):
        assert decode("sensitive", ItemsOrColumns(), text, Inputs(table), {}) == ("outcome", "a")
        with pytest.raises(DataError, match="1 item is not in the data: 'outcome'"):
            decode("sensitive", ItemsOrColumns(), text, Inputs(DATA), {})
    with pytest.raises(DataError, match="1 item is not in the data: 'ward'"):
        decode("sensitive", ItemsOrColumns(), "outcome,ward", Inputs(table), {})
    suppressed = Inputs(published, named_here=True)  # type: ignore[arg-type]  # items may have been suppressed
    assert decode("sensitive", ItemsOrColumns(), "outcome,zz", suppressed, {}) == ("outcome", "zz")


@pytest.mark.parametrize("text", ["siblings", "siblings:1", "groups:2"])
def test_groups_are_made_of_a_hierarchy(text: str) -> None:
    with pytest.raises(RequestError, match=f"--utility {text} takes groups from a hierarchy"):
        decode("utility", GroupsOfItems(), text, Inputs(DATA), {})


@pytest.mark.parametrize("text", ["a,zz", ["a", "zz"], "unknown.txt"])
def test_published_rows_may_lack_items(text: Any) -> None:
    inputs = Inputs(DATA, image={"a": "a", "zz": None}, named_here=False)
    assert decode("private", Items(), text, inputs, {}) == ("a", "zz")
    assert decode("privacy", Itemsets(), "unknown.txt", inputs, {}) == (("a",), ("zz",))


def test_files_have_the_encoding_that_is_named() -> None:
    data = transactions([frozenset({"é", "a"})])
    Path("latin.txt").write_bytes("é\n".encode("latin-1"))
    assert decode("private", Items(), "latin.txt", Inputs(data, "latin-1"), {}) == ("é",)
    with pytest.raises(DataError, match=r"latin\.txt"):
        decode("private", Items(), "latin.txt", Inputs(data), {})


PARAMETERS: list[tuple[str, Mapping[str, Any], dict[str, Any]]] = [
    ("border", {"k_nugget": "3", "p_nugget": "inf"}, {"k_nugget": 3, "p_nugget": math.inf}),
    ("cahd", {"alpha": None, "rounds": 0}, {"rounds": 0}),
    (
        "coat",
        {"utility": "groups:2", "max_suppressed_items": "50%"},
        {"utility": (("a", "b"), ("c", "s")), "max_suppressed_items": 0.5},
    ),
    (
        "exact",
        {"objective": "lm", "suppress": True, "keep": "some.txt", "weights": "weights.csv", "gap": 0.1},
        {"objective": "lm", "suppress": True, "keep": ("a", "c"), "weights": {"a": 2, "b": 0.5}, "gap": 0.1},
    ),
    ("lg", {"refine": True}, {"refine": True}),  # lg does not have such a parameter, and will say so
]


@pytest.mark.parametrize(("algorithm", "texts", "values"), PARAMETERS)
def test_parameters_of_algorithms(algorithm: str, texts: Mapping[str, Any], values: dict[str, Any]) -> None:
    parameters = algorithms.load(algorithm).Parameters
    assert decode_parameters(parameters, texts, Inputs(DATA, hierarchy=TREE)) == values


def test_parameters_name_their_options() -> None:
    with pytest.raises(RequestError, match="--k-nugget must be an integer, got 'x'"):
        decode_parameters(algorithms.load("border").Parameters, {"k_nugget": "x"}, Inputs(DATA))


@pytest.mark.parametrize("share", [0.37, "0.37", "37%", "37/100", Fraction(37, 100)])
def test_a_share_is_exact_from_the_start(share: Any) -> None:
    for parameters in (sv.RT(share=share), sv.Forest(share=share)):
        assert parameters.share == Fraction(37, 100)
    assert sv.Exact(max_suppressed=share).max_suppressed == Fraction(37, 100)
    assert sv.PCTA(max_suppressed_items=share).max_suppressed_items == Fraction(37, 100)

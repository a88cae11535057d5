"""An argument of a wrong kind is an error in words, whichever function and parameter it is."""

import inspect
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from setveil.commands.wrong_kinds import _fits, _parts, _words

FUNCTIONS = [name for name in sv.__all__ if inspect.isfunction(getattr(sv, name)) and name != "warm"]
SIGNATURES = {name: inspect.signature(getattr(sv, name)).parameters for name in FUNCTIONS}
PLACES = [(name, parameter) for name in FUNCTIONS for parameter in SIGNATURES[name]]
ROWS = [["tea", "milk"], ["tea"], ["tea"], ["milk"]]
TREE = sv.Hierarchy({"*": None, "tea": "*", "milk": "*"})
NEEDED: dict[str, Any] = {
    "data": ROWS, "original": ROWS, "source": ROWS, "release": "run", "run": "run", "folder": "run", "k": 2,
    "guarantee": sv.Coherence(k=2, p=1, h=1, private=["tea"]), "name": "tea", "id": "a", "sets": "b",
    "set": "b", "qi": ["a"], "output": "made.csv", "out": "made", "file": "run", "path": "made.csv",
    "tree": TREE, "study": "study.toml",
}  # fmt: skip


class Wrong:
    """Something of no kind that a function knows."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wrong")
    sv.anonymize(ROWS, k=2, m=1).write(place / "run")
    return place


@pytest.mark.parametrize(("name", "parameter"), PLACES)
def test_only_errors_of_setveil_are_raised(
    name: str, parameter: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    one = SIGNATURES[name][parameter]
    required = (key for key, of in SIGNATURES[name].items() if of.default is of.empty)
    needed = {key: NEEDED[key] for key in required if SIGNATURES[name][key].kind != one.VAR_KEYWORD}
    for value in (Wrong(), 5, "\0", {"a": 1}):
        if one.kind in (one.VAR_KEYWORD, one.VAR_POSITIONAL) or _fits(value, one.annotation):
            continue  # accepted, or of a class that annotations name
        try:
            getattr(sv, name)(**{**needed, parameter: value})
        except sv.SetveilError as error:
            assert "defect" not in str(error)  # noqa: PT017


def test_what_is_wrong_and_what_was_expected_is_said() -> None:
    frame = pl.DataFrame({"zip": ["10115", "20095"], "items": ["tea", "milk"]})
    with pytest.raises(sv.RequestError, match=r"hierarchies must be a dict or None, got the text 'zip"):
        sv.read_table(frame, qi=["zip"], set="items", hierarchies="zip.csv")  # type: ignore[arg-type]


def test_other_errors_stay_as_they_are() -> None:
    def stop(phase: str, share: float | None) -> None:
        raise ZeroDivisionError(phase)

    with pytest.raises(ZeroDivisionError):
        sv.anonymize(ROWS, k=2, m=1, progress=stop)
    with pytest.raises(TypeError, match="unexpected keyword"):
        sv.read(ROWS, nonsense=1)  # type: ignore[call-arg]


def test_functions_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(sv.risk)) is sv.risk  # noqa: S301


@pytest.mark.parametrize(
    ("annotation", "fitting", "others", "words"),
    [
        ("str | PathLike[str] | None", ["a", Path("a"), None], [5, b"a", ["a"]], "a text or a path or None"),
        ("int | None", [5, None], [True, 5.0, "5"], "an integer or None"),
        ("Iterable[str]", [["a"], {"a"}, iter([5])], ["a", [5], {"a": 1}, 5], "a list of texts"),
        ("Sequence[str | int]", [["a", 1]], [[1.5], "a"], "a list of integers or texts"),
        ("Mapping[str, str | Sequence[str]]", [{"a": ["b"]}], [{"a": 5}, {1: "a"}, ["a"]], "a dict"),
        ("Literal['sum', 'mean']", ["sum"], ["least"], "'sum' or 'mean'"),
        ("Guarantee | None", [5, object()], [], ""),
    ],
)
def test_kinds(annotation: str, fitting: list[object], others: list[object], words: str) -> None:
    assert [_fits(value, annotation) for value in fitting] == [True] * len(fitting)
    assert [_fits(value, annotation) for value in others] == [False] * len(others)
    if words:
        assert " or ".join(map(_words, _parts(annotation))) == words

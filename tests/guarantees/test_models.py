"""Requirements of every privacy model. The tests find a new model by its file."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from importlib import import_module
from typing import Any

import pytest

import setveil as sv
from group_cases import publish
from setveil.base.errors import RequestError
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Integer, Kind, Positive, Probability, Share, Size
from setveil.judges.guarantees import Facts, Guarantee, Model, Words, model_named, models, module_of, names
from setveil.judges.guarantees.verify import verify
from setveil.methods import algorithms
from setveil.releases.published import kind_named, kinds
from setveil.releases.published import publish as publish_any
from setveil.releases.published.blocks import NoisyBlocks
from setveil.releases.published.chunk_files import as_chunks
from setveil.report.models import check, items_known, promise
from setveil.report.verdict import verdict_text
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee, missing
from strategies import transactions
from tables import as_table, published_as_it_is

ROWS = [frozenset(row) for row in ("abs", "abc", "bc", "a", "a", "b")]
DATA = transactions(ROWS)
TABLE = as_table(DATA)
SINGLES = [[x] for x in range(len(ROWS))]

every_model = pytest.mark.parametrize("name", list(models()))


def example(model: Model) -> Guarantee:
    return make_guarantee(model.name, model.example, Inputs(DATA))


def data_for(model: Model) -> sv.Transactions:
    """Return the rows, with a column if the model is about tables."""
    return TABLE if model.release == "tables" else DATA


def tree_for(model: Model) -> sv.Hierarchy | None:
    """Return a hierarchy if the list of all items must be known."""
    return sv.Hierarchy.from_paths([[x, "*"] for x in "abcs"]) if model.release == "blocks" else None


def unprotected(model: Model) -> tuple[Any, dict[str, Any]]:
    """Return unprotected rows in the form for the model's verifier, and its other arguments."""
    rows: Any = publish(ROWS, frozenset("s"), SINGLES) if model.release == "groups" else DATA
    if model.release == "tables":
        rows = published_as_it_is(TABLE)
    if model.release == "blocks":
        noisy = NoisyBlocks(Fraction(1), (("rows", Fraction(2), 1, 0.5),), 1, (("a",),), (1, 0))
        rows = publish_any(DATA, noisy, 0).exposed()
    if model.release == "chunks":
        rows = as_chunks(1, 1, [1, 3], 0, [([1], ["a"], [["a"]] * 3)], 0, [["a"], ["b"]])
    return rows, {"image": {item: item for item in "abcs"}} if "image" in model.knows else {}


def verdicts(model: Model) -> tuple[Facts, Facts]:
    """Return the verdicts about a release by the model's first choice, and about unprotected rows."""
    guarantee = example(model)
    rows, more = unprotected(model)
    kept = sv.anonymize(
        data_for(model), guarantee, hierarchy=tree_for(model), details=False
    ).verdict.as_dict()
    return kept, verify(rows, guarantee, **more).as_dict()


@every_model
def test_the_example_makes_a_guarantee(name: str) -> None:
    model = model_named(name)
    assert model.example.keys() <= model.options.keys()
    assert missing(model, model.example) == []
    guarantee = example(model)
    assert guarantee.model == name
    assert guarantee.phrase
    assert set(guarantee.secrets) <= set("abcs")
    assert guarantee.as_dict()["model"] == name
    guarantee.require_feasible(DATA)


@every_model
def test_the_first_choice_gives_it(name: str) -> None:
    model = model_named(name)
    assert model.algorithm in algorithms.giving(name)
    release = sv.anonymize(data_for(model), example(model), hierarchy=tree_for(model), details=False)
    assert release.verdict.holds
    kind = kind_named(model.release)
    assert release.report["recoding"] in kind.info.recodings


@every_model
def test_there_is_a_verifier(name: str) -> None:
    module = module_of(name).__name__.rpartition(".")[2]
    assert callable(getattr(import_module(f"setveil.judges.guarantees.verify.{module}"), f"verify_{module}"))
    kept, broken = verdicts(model_named(name))
    assert kept["model"] == broken["model"] == name
    assert (kept["holds"], kept["violations"], kept["first"]) == (True, 0, [])
    assert not broken["holds"]
    assert broken["violations"] >= len(broken["first"]) > 0


@every_model
def test_the_words_speak_for_a_verdict(name: str) -> None:
    model = model_named(name)
    words = model.words
    assert isinstance(words, Words)
    guarantee = example(model)
    said = guarantee.as_dict()
    assert words.known in {"", *words.parameters}
    for facts in verdicts(model):
        assert promise(facts).endswith(".")
        assert ("It holds" in check(facts)) == facts["holds"]
        known = items_known(facts)
        assert known is None or known == said[words.known]
        for bold, text in (*words.not_covered(facts), *words.reading(facts)):
            assert bold
            assert text.endswith(".")
        assert all(isinstance(line, str) and line for line in words.beyond(facts))
        answer = verdict_text(facts, guarantee.phrase)
        assert answer.startswith("Yes: " if facts["holds"] else "No: ")
        for entry in facts["first"]:
            assert words.violation(entry) in answer


@every_model
def test_options_are_declared(name: str) -> None:
    model = model_named(name)
    for option in model.options.values():
        assert isinstance(option, Option)
        assert isinstance(option.kind, Kind)
        assert option.help.endswith(".")
        assert option.instead_of in {"", *model.options}
        assert option.only_with is None or option.only_with[0] in model.options
        assert option.drawn_with is None or option.instead_of
        assert set(option.drawn_with or ()) <= model.options.keys()
    numeric = (Integer, Positive, Probability, Share, Size)
    drawn = {key for key, option in model.options.items() if option.drawn_with is not None}
    assert set(model.axes) == {
        key for key, option in model.options.items() if isinstance(option.kind, numeric) and key not in drawn
    }


def test_names_are_those_of_the_models_in_their_order() -> None:
    assert [model.name for model in models().values()] == list(models()) == names()
    assert [model_named(name) for name in names()] == list(models().values())
    assert len({module_of(name) for name in models()}) == len(models())


def test_every_kind_of_release_has_a_model() -> None:
    """Guarantees about rows are kept in classes and of facts, too, and verified there."""
    of_releases = {kind_named(model.release) for model in models().values()}
    in_classes = kind_named("classes")
    assert of_releases | {in_classes, kind_named("facts")} == set(kinds())
    assert in_classes.info.rows_of_items
    release = sv.anonymize([*ROWS] * 4, sv.KmAnonymity(2, 2), classes=2, class_size=8)
    assert release.report["recoding"] in in_classes.info.recodings
    assert release.verdict.holds


def test_no_such_model() -> None:
    with pytest.raises(RequestError, match=r"no privacy model 'l-diversity'; there are km-anonymity, "):
        model_named("l-diversity")


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ([["a", "s"], ["s"], ["s"]], "At least two such rows are needed for any k."),
        ([["a", "s"], ["b"], ["s"]], "The greatest possible k is 2."),
    ],
)
def test_the_greatest_k_of_rows_with_public_items(rows: list[list[str]], hint: str) -> None:
    with pytest.raises(sv.InfeasibleError, match=r"of 3 rows contain items that are not sensitive") as caught:
        sv.anonymize(rows, sv.KmRho(3, 1, rho="1/2", sensitive=["s"]))
    assert caught.value.hint == hint
    assert caught.value.greatest_k == (2 if "greatest" in hint else None)


K_M = sv.KmAnonymity(2, 1)
DISEASES = "".join(f"{who},{'as'[who % 2]},2024-01-0{who}\n" for who in range(1, 9))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, sv.VerifiedRelease]:
    """Make a release of each kind, and one of rows with counts and one without."""
    log = tmp_path_factory.mktemp("log") / "log.csv"
    log.write_text(f"who,code,day\n{DISEASES}")
    return {
        "rows": sv.anonymize(DATA, K_M, counts=False),
        "counted": sv.anonymize(DATA, K_M),
        "facts": sv.anonymize(sv.read_facts(log, id="who", sets="code", when=["day:month"]), K_M),
        "tables": sv.anonymize(TABLE, sv.KKmAnonymity(2, 1)),
        "groups": sv.anonymize(DATA, sv.PrivacyDegree(2, ["s"])),
        "chunks": sv.anonymize(DATA, sv.Disassociated(2, 1)),
    }


@every_model
def test_any_promise_is_checked_of_a_release_of_its_kind_and_refused_of_others(
    name: str, released: dict[str, sv.VerifiedRelease]
) -> None:
    """Check also releases for another guarantee, with everything that it allows."""
    guarantee, kind = example(models()[name]), models()[name].release
    checked = set()
    for what, release in released.items():
        with suppress(sv.SetveilError):
            assert sv.verify(release, guarantee).holds in (True, False)
            checked.add(what)
    of_rows = {"rows", "counted"} | ({"facts"} if not guarantee.secrets else set())
    assert checked == (of_rows if kind == "rows" else {kind} & released.keys())

"""The estimator: the requirements of scikit-learn, and the releases behind it."""

from __future__ import annotations

import pytest

import setveil as sv
from setveil.judges.guarantees import models

PATHS = [["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "cold", "*"], ["juice", "cold", "*"]]
ROWS = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]] * 3


def tree() -> sv.Hierarchy:
    return sv.Hierarchy.from_paths(PATHS)


def test_rows_come_back_in_order() -> None:
    step = sv.Anonymizer(k=4, m=2, hierarchy=tree())
    rows = step.fit_transform(ROWS)
    assert [len(row) for row in rows] == [len(row) for row in ROWS]
    assert sorted(map(sorted, rows)) == sorted(map(sorted, step.release_.published))
    meaning = {"tea": "hot", "coffee": "hot", "milk": "milk"}
    assert [sorted(row) for row in rows] == [sorted(meaning[item] for item in row) for row in ROWS]
    direct = sv.anonymize(ROWS, k=4, m=2, hierarchy=tree())
    assert sorted(direct.published) == sorted(step.release_.published)
    assert step.fit(ROWS).transform(ROWS) == rows


def test_other_people_are_verified() -> None:
    step = sv.Anonymizer(k=2, m=2, hierarchy=tree()).fit(ROWS)
    assert step.transform([["coffee"], ["coffee"]]) == [["coffee"], ["coffee"]]
    assert step.applied_.verdict.holds
    with pytest.raises(sv.InfeasibleError):
        step.transform([["coffee"], ["tea"]])
    assert step.set_params(repair=True).transform([["coffee"], ["tea"]]) == [["hot"], ["hot"]]


@pytest.mark.parametrize(
    "arguments",
    [
        {"k": 2},
        {"k": 2, "algorithm": "aa", "hierarchy": None},
        {"guarantee": sv.KmAnonymity(k=2, m=1), "algorithm": sv.AA(refine=True)},
        {"k": 2, "parameters": {"suppress": False}},
    ],
)
def test_it_is_a_step_of_a_pipeline(arguments: dict[str, object]) -> None:
    from sklearn.base import clone
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline
    from sklearn.utils.validation import check_is_fitted

    step = sv.Anonymizer(**{"hierarchy": tree(), **arguments})  # type: ignore[arg-type]
    pipeline = make_pipeline(step, CountVectorizer(analyzer=list))
    counts = pipeline.fit_transform(ROWS)
    assert counts.shape[0] == len(ROWS)
    assert (pipeline.transform(ROWS) != counts).nnz == 0
    copied = clone(step)
    assert copied.get_params().keys() == step.get_params().keys()
    assert not hasattr(copied, "release_")
    check_is_fitted(step)
    assert pipeline.set_params(anonymizer__k=3)[0].k == 3


def test_mistakes() -> None:
    with pytest.raises(sv.RequestError, match="not fitted yet"):
        sv.Anonymizer(k=2).transform(ROWS)
    for neither_or_both in (sv.Anonymizer(), sv.Anonymizer(k=2, guarantee=sv.KmAnonymity(2, 2))):
        with pytest.raises(sv.RequestError, match="either k"):
            neither_or_both.fit(ROWS)
    with pytest.raises(sv.RequestError, match="no parameter 'minimum'"):
        sv.Anonymizer(k=2).set_params(minimum=3)
    groups = sv.Anonymizer(guarantee=sv.PrivacyDegree(p=2, sensitive=["milk"]))
    groups.fit([["milk"], ["tea"], ["tea"], ["coffee"]])
    with pytest.raises(sv.RequestError):
        groups.transform(ROWS)
    assert repr(sv.Anonymizer(k=5, repair=True)) == "Anonymizer(k=5, repair=True)"


def test_guarantees_by_the_names_of_their_models() -> None:
    for name, model in models().items():
        spelled = "".join(part.capitalize() for part in name.split("-"))
        assert getattr(sv, spelled).model == name == model.name

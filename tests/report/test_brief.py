"""The four lines that a run answers with."""

from __future__ import annotations

from typing import Any

import pytest
from test_report import ALL, FAILING, LOSSLESS, REPORT, SUPPRESSED, changed

from setveil.judges.guarantees.km import KmAnonymity
from setveil.report.run.brief import brief, little_left
from setveil.runs.run import anonymize

LABELS = ["Holds", "Kept", "Best", "Share"]


def lines_of(report: Any) -> dict[str, str]:
    """Undo the wrapping: the text of each label."""
    found: dict[str, str] = {}
    for line in brief(report, "out").split("\n"):
        label, text = line[:9].strip(), line[9:].strip()
        last = label or list(found)[-1]
        found[last] = f"{found.get(last, '')} {text}".strip()
    return found


@pytest.mark.parametrize("name", ALL)
def test_there_are_four_lines(name: str) -> None:
    report: Any = ALL[name]
    found = brief(report, "out").split("\n")
    assert list(lines_of(report)) == LABELS
    assert max(map(len, found)) <= 88
    assert len(found) <= 12
    assert all(line.rstrip() == line for line in found)


def test_they_say_what_matters() -> None:
    assert lines_of(REPORT) == {
        "Holds": "Anyone who knows up to 2 items of a person's row finds at least 5 rows that fit, or none. "
        "Rechecked: the smallest group found has 6 rows.",
        "Kept": "96.1% of items are unchanged, 3.9% have a broader label.",
        "Best": "At most 25% above the smallest loss (NCP) of any cut of this hierarchy (proven to be 0.041 "
        "or more).",
        "Share": "out/published    Never share out/internal.",
    }


def test_a_guarantee_that_does_not_hold_leaves_nothing_to_share() -> None:
    found = lines_of(FAILING)
    assert found["Holds"].startswith("NO. ")
    assert "It does NOT hold." in found["Holds"]
    assert "Rechecked" not in found["Holds"]
    assert found["Share"] == "Nothing: the guarantee does not hold."


def test_nothing_lost_and_the_least_loss() -> None:
    assert lines_of(LOSSLESS)["Kept"] == "All items are unchanged."
    assert "0.039% are suppressed." in lines_of(SUPPRESSED)["Kept"]
    proven: Any = changed(optimality={"objective": "lm", "model": "cut with suppression", "gap": 0})
    assert lines_of(proven)["Best"] == "No release with this hierarchy loses less (proven)."


def test_the_loss_that_was_not_minimal_is_never_called_so() -> None:
    for difference in ({"gap": 0.1}, {"weighted": True}, {"limited": True}, {"objective": "ncp"}):
        found = {"objective": "lm", "model": "cut with suppression", "gap": 0, **difference}
        assert lines_of(changed(optimality=found))["Best"] != (
            "No release with this hierarchy loses less (proven)."
        )
    unknown: Any = {key: value for key, value in REPORT.items() if key != "optimality"}
    assert lines_of(unknown)["Best"] == "Nothing is proven: another release may lose less."


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("purchases", "purchases"), ("diagnoses", "diagnoses"), ("item", "items"), ("Items", "items"),
        ("icd10", "values of icd10"), ("diagnosis", "values of diagnosis"), ("status", "values of status"),
    ],
)  # fmt: skip
def test_items_have_the_name_of_their_column(column: str, said: str) -> None:
    read = {"item_columns": [column]}
    assert f"% of {said} are unchanged" in lines_of(changed(input={"read": read}))["Kept"]


def test_little_left_is_said() -> None:
    whole = REPORT["input"]["occurrences"]

    def kept(number: int) -> Any:
        parts = {"unchanged_occurrences": number, "generalized_occurrences": whole - number}
        return changed(utility=parts)

    assert little_left(kept(whole // 9)) == []
    assert little_left(kept(whole // 11)) == ["items"]
    assert lines_of(kept(whole // 11))["Kept"].endswith("Little detail is left in items.")


def test_a_release_made_in_python() -> None:
    from setveil.rows.data.transactions import Transactions

    release = anonymize(Transactions.from_rows([["a", "b"]] * 3 + [["a"]]), KmAnonymity(2, 2))
    assert list(lines_of(release.report | {"published": {}})) == LABELS

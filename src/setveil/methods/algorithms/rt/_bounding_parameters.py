"""How the bounding methods make classes and merge them, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from setveil.base.errors import RequestError
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Choice, Flag, Integer, Share

Number = int | float | Fraction | Any  # or a text that says one, such as "1/3"
RELATIONAL = ("mondrian", "cluster", "incognito", "topdown", "bottomup", "exact")
ITEMS = ("exact", "aa", "hghs", "coat", "pcta", "lra", "vpa")


@dataclass(frozen=True)
class Bounding(Declared):
    r"""The bounding methods and their parameters.

    Attributes
    ----------
    relational : {"mondrian", "cluster", "incognito", "topdown", "bottomup", "exact"}
        What makes classes of the rows, by their quasi-identifiers alone.
    items : {"exact", "aa", "hghs", "coat", "pcta", "lra", "vpa"}
        What anonymizes the items of each class.
    merge : {"none", "r", "t", "rt"}
        Which classes are merged: those with similar quasi-identifiers (Rmerger), with similar items
        (Tmerger), or similar in both (RTmerger).
    delta : number between 0 and 1, or None
        The bound, as written (0.3 is 3/10); needed where classes are merged.
    bounded : {"relational", "items"}
        What it bounds: R, while classes are merged for the sake of their items; or the NCP of the items, down
        to which they are merged.
    evaluate : {"ends", "all"}
        After which mergers the items are looked at, to keep the classes whose items lose least: none and all
        of them, or each.
    least : int or None
        Rows of a class of mondrian, at least; None: k.
    suppress : bool
        Allow items to be suppressed, all their occurrences in a class. Without it, classes in which some, but
        fewer than k rows hold items are rejected.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("ward.csv").write_text("age,codes\n34,I21;J18\n36,I21\n41,J18;J44\n45,J44\n")
    >>> ward = sv.read_table("ward.csv", qi=["age"], set="codes")
    >>> release = sv.anonymize(ward, sv.KKmAnonymity(k=2, m=2), algorithm=sv.Bounding(relational="cluster"))
    >>> release.verdict.holds
    True
    """

    relational: Literal["mondrian", "cluster", "incognito", "topdown", "bottomup", "exact"] = parameter(
        Choice(RELATIONAL), "Method that makes the classes (default mondrian).", default="mondrian"
    )
    items: Literal["exact", "aa", "hghs", "coat", "pcta", "lra", "vpa"] = parameter(
        Choice(ITEMS),
        "Algorithm for the items of each class (default exact).",
        default="exact",
        study_name="items_by",  # a study's table has a column of this name
    )
    merge: Literal["none", "r", "t", "rt"] = parameter(
        Choice(("none", "r", "t", "rt")),
        "Merge classes with similar columns (r), items (t), or both (default none).",
        default="none",
    )
    delta: Number | None = parameter(Share(), "Merge classes within this bound.", default=None)
    bounded: Literal["relational", "items"] = parameter(
        Choice(("relational", "items")),
        "What delta bounds: the loss of the columns (the default) or of the items.",
        default="relational",
    )
    evaluate: Literal["ends", "all"] = parameter(
        Choice(("ends", "all")),
        "Look at the items before and after all mergers (the default), or after each.",
        default="ends",
    )
    least: int | None = parameter(Integer(2), "Fewest rows of a class (default k).", default=None)
    suppress: bool = parameter(Flag(), "Items may also be suppressed (the default).", default=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delta is None and (self.merge != "none" or self.bounded == "items"):
            raise RequestError(
                "Classes are merged within a bound, and none was given.",
                hint="Give delta: 0.3 allows R, the average loss of the columns, to grow to 0.3.",
            )
        if self.least is not None and self.relational != "mondrian":
            raise RequestError(
                f"least says how large the classes of mondrian are, and {self.relational} was chosen."
            )
        if self.items == "hghs" and not self.suppress:
            raise RequestError(
                "hghs suppresses items, and none may be suppressed.",
                hint="Choose aa, or exact, which finds the least loss without suppression, too.",
            )

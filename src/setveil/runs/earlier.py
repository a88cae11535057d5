"""An earlier run: its recoding, its promise, its hierarchy, and whether other rows are of its people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil import algorithms
from setveil.algorithms.exact.exact import Exact
from setveil.data.io import read_ids
from setveil.data.transactions import Transactions
from setveil.errors import DataError, RequestError, listed
from setveil.guarantees import Guarantee
from setveil.guarantees.constraints import PrivacyConstraints
from setveil.guarantees.km import KmAnonymity
from setveil.options.decode import Given
from setveil.options.guarantees import make_guarantee, require_options
from setveil.published import tables
from setveil.published.mapping import Image, read_recoding
from setveil.runs.run import VerifiedRelease
from setveil.wording import are, count

MODELS = (KmAnonymity.model, PrivacyConstraints.model)
_USED = {
    "input": ("path",),
    "algorithm": ("name", "title", "parameters"),
    "guarantee": ("model",),
}  # of a record


@dataclass(frozen=True, eq=False)
class Earlier:
    """What is used of an earlier run.

    Attributes
    ----------
    name : str
        The folder, or what it is called in messages.
    image : mapping of str to (str or None)
        Its recoding: the label of each item, None where it is suppressed.
    report : mapping
        Its record.
    """

    name: str
    image: Image
    report: Mapping[str, Any]

    def __post_init__(self) -> None:
        made = self.report["recoding"]
        model = self.report["guarantee"]["model"]
        if made == "local":
            global_ones = algorithms.giving(KmAnonymity.model, "global")
            raise RequestError(
                f"The recoding of {self.name} is local: an item stands under several labels, and nothing "
                "says which of them other rows should have.",
                hint=f"The recoding of a run of {', '.join(global_ones)} can be applied to other rows.",
            )
        if made in tables.info.recodings:
            raise RequestError(
                f"{self.name} is the run of a table, whose recoding is applied to no other rows: nothing "
                "says which class they would belong to.",
                hint="Anonymize the new rows by themselves, or all rows together.",
            )
        if model not in MODELS or made != "global":
            raise RequestError(
                f"The promise of {self.name} is {model}: recodings are applied to other rows for "
                f"{' and '.join(MODELS)} only.",
                hint="Anonymize the new rows by themselves.",
            )

    @property
    def hierarchical(self) -> bool:
        """Whether its labels are nodes of a hierarchy; else they are groups of items."""
        return self.model == KmAnonymity.model

    @property
    def model(self) -> str:
        """Name of the privacy model."""
        name: str = self.report["guarantee"]["model"]
        return name

    @property
    def hierarchy(self) -> Mapping[str, Any] | None:
        """What its record says of its hierarchy; None where it had none, or one made for its rows alone."""
        told: Mapping[str, Any] | None = self.report.get("hierarchy") if self.hierarchical else None
        return None if told is None or told["source"] == "co-occurrence" else told

    def promise(self, wanted: Guarantee | None) -> Guarantee:
        """Take the promise of the run, or a stronger one of the same model.

        Raises
        ------
        RequestError
            If the one wanted is weaker or of another model, or none is wanted and the record does not hold
            all of the run's.
        """
        then = self.report["guarantee"]
        if wanted is None:
            if "m" not in then:
                raise RequestError(
                    f"The record of {self.name} does not hold the itemsets that it protects.",
                    hint="Name them: --privacy FILE (in Python guarantee=PrivacyConstraints(k, ...)).",
                )
            if self.hierarchical:
                return KmAnonymity(then["k"], math.inf if then["m"] == "inf" else then["m"])
            return PrivacyConstraints(then["k"], m=then["m"])
        if wanted.model != self.model:
            raise RequestError(f"The promise of {self.name} is {self.model}, not {wanted.model}.")
        now = wanted.as_dict()
        for name in ("k", "m"):
            if name in then and name in now and _number(now[name]) < _number(then[name]):
                raise RequestError(
                    f"The promise of {self.name} has {name} = {then[name]}: it may be raised, not lowered, "
                    f"got {name} = {now[name]}.",
                    hint="Under a weaker promise anonymize the new rows by themselves.",
                )
        return wanted

    def raised(self, texts: Mapping[str, Any], given: Given) -> Guarantee | None:
        """Make the promise that options ask for; what they do not say is as the run promised.

        Parameters
        ----------
        texts : mapping
            By option; None: was not given.
        given : Given
            The new rows, and what else values depend on.

        Returns
        -------
        Guarantee or None
            None where no option was given.
        """
        asked = {name: text for name, text in texts.items() if text is not None}
        if not asked:
            return None
        then = self.report["guarantee"]
        known = {name: then[name] for name in ("k", "m") if name in then}
        if self.model == PrivacyConstraints.model:
            if "privacy" in asked:
                known.pop("m", None)
            else:
                self.promise(None)  # which refuses what the record does not hold
                known["privacy"] = "all"
        require_options(self.model, {**dict.fromkeys(texts), **known, **asked})
        return make_guarantee(self.model, known | asked, given)

    def search(self, **given: Any) -> Exact:
        """Take what its algorithm kept low, and whether it suppressed items: the terms of a repair.

        Parameters
        ----------
        **given
            Parameters of `Exact` that are to be different.
        """
        told = self.report["algorithm"]
        then = told["parameters"]
        if "suppress" in then and "objective" in then:
            terms = {"objective": then["objective"], "suppress": then["suppress"]}
        else:
            objective = algorithms.load(told["name"]).info.minimizes
            terms = {"objective": objective, "suppress": objective == "lm"}
        return Exact(**((terms if self.hierarchical else {}) | given))


def _number(written: Any) -> float:
    return math.inf if written == "inf" else float(written)


def read_earlier(path: Path) -> Earlier:
    """Read what is used of the folder of a run.

    Raises
    ------
    DataError
        If it is none, or what must stay inside is missing.
    RequestError
        If its recoding cannot be applied to other rows.
    """
    record = path / "internal" / "report.json"
    if not record.is_file():
        raise DataError(
            f"{path} is not the folder of a run: it has no internal/report.json.",
            hint="Name the folder that `setveil anonymize` wrote, with what stays inside.",
        )
    try:
        report = json.loads(record.read_text(encoding="utf-8"))
        lacking = [
            f"{part} {name}" for part, names in _USED.items() for name in names if name not in report[part]
        ]
        if report["guarantee"].get("model") in MODELS and not isinstance(report["guarantee"].get("k"), int):
            lacking.append("guarantee k")
        kept = report["recoding"] == "global"
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{record} is not the record of a run: {error}.") from error
    if lacking:
        raise DataError(f"{record} is not the record of a run: it lacks {listed(lacking)}.")
    return Earlier(str(path), read_recoding(path / "internal" / "recoding.csv") if kept else {}, report)


def taken_from(release: VerifiedRelease) -> Earlier:
    """Take what is used of a run in memory."""
    uniform = release.report["recoding"] == "global"
    return Earlier("the earlier run", release.release.image() if uniform else {}, release.report)


def people_of(earlier: Earlier, data: Transactions, told: str | None) -> dict[str, Any]:
    """Find out whether other rows are of the people of a run, as far as the ids of both can be read again.

    Parameters
    ----------
    earlier : Earlier
        The run.
    data : Transactions
        Other rows.
    told : {"same", "other"}, optional
        What is known of it: some of them are, or none is, whatever the ids say.

    Returns
    -------
    dict
        For the record: `told`; `checked`, whether ids could be compared; `ids`, how many the earlier rows
        have; `shared`, how many of them the others have.

    Raises
    ------
    DataError
        If the rows are in the same file, or share ids, and nobody said what that means.
    """
    same = (
        "Two releases of the same people may tell together what each hides (docs/apply.md). Leave these "
        "people out, or release one union instead. To go on nevertheless: --people same (in Python "
        'people="same")'
    )
    then = earlier.report["input"].get("read") or {}
    now = data.origin.as_dict() if data.origin else {}
    hashes = {file.get("sha256") for file in then.get("files") or ()} - {None}
    again = [file["path"] for file in now.get("files", ()) if file["sha256"] in hashes]
    if again and told != "same":
        raise DataError(
            f"{listed(again)} {'was' if len(again) == 1 else 'were'} read by the earlier run, too: these are "
            "the same rows.",
            hint=f"{same}.",
        )
    before = after = None
    if now.get("id_column") and now["id_column"] == then.get("id_column"):
        before, after = read_ids(then), read_ids(now)
    if before is None or after is None:
        return {"told": told, "checked": False}
    shared = sorted(before & after)
    if shared and told is None:
        raise DataError(
            f"{count(len(shared), 'id')} of the new rows {are(len(shared))} among those of the earlier run, "
            f"too: {listed(shared)}.",
            hint=f"{same}; if ids are mere numbers of rows and the people are others: --people other.",
        )
    return {"told": told, "checked": True, "ids": len(before), "shared": len(shared)}

"""What can satisfy a guarantee: the algorithms that `recommend` tries, with their parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from setveil.base.values.kinds import Value
from setveil.judges.guarantees.km import KmAnonymity, m_as_json
from setveil.judges.guarantees.km_rho import PUBLIC, KmRho
from setveil.judges.utility.relational import SHARE

DELTA = "0.4"  # to which classes are merged: what the best classes of patients lose (docs/table_methods.md)
GREATEST_PROBABILITY = "0.5"  # h where private items are named and no h
FOR_COUNTS = "entropy-max"  # the objective whose releases answered counts best (docs/query.md)


@dataclass(frozen=True)
class Candidate:
    """A way to satisfy the guarantee."""

    algorithm: str
    options: Mapping[str, Value]  # its parameters and those of its model, as in a study
    keeps: str  # what it guarantees, in a few words
    # whether that is the guarantee asked for (or a stronger one); others are shown, but not recommended
    as_asked: bool = True
    # Whether it merges items whatever they mean, so that its labels are no nodes of a hierarchy. Where one is
    # given, such a release is shown, but not recommended.
    any_items: bool = False
    label: str = ""  # what sentences and tables call it, where that is not told by its options
    model: str = ""  # what it gives of several models that its algorithm can give; empty: the first

    @property
    def name(self) -> str:
        """What sentences and tables call it."""
        if self.label:
            return self.label
        if self.options.get("suppress") is False:
            return f"{self.algorithm} without suppression"
        return f"{self.algorithm} for counts" if "objective" in self.options else self.algorithm


def candidates(guarantee: KmAnonymity, private: Value | None = None, h: str | None = None) -> list[Candidate]:
    """List what can satisfy k^m-anonymity.

    `private`: items that nobody may learn of a person with a probability above `h`, by default 0.5. Without
    them: k^m-anonymity by generalization, with and without suppression, by least LM and for readers of the
    counts, also in classes; the same as constraints on all itemsets of m items; by suppression alone, which
    is coherence without private items; and the stronger k-anonymity of whole rows. With them coherence
    guarantees both, by least loss or greedily. CAHD's groups hide private items but leave people unique by
    the others, so they are a weaker guarantee; so is disassociation, here in its safe form.
    """
    k, m = guarantee.k, m_as_json(guarantee.m)
    promise: dict[str, Value] = {"k": k, "m": m}
    coherence: dict[str, Value] = {"k": k, "p": m, "h": h or GREATEST_PROBABILITY}
    if private is not None:
        coherence["private"] = private
        degree = math.ceil(1 / Fraction(coherence["h"]))  # type: ignore[arg-type]
        both = f"coherence (h={coherence['h']}, k={k}, p={m})"
        return [
            Candidate("exact", coherence, both, model="coherence"),
            Candidate("border", coherence, both),
            Candidate("mm", coherence, both),
            Candidate(
                "cahd",
                {"p": degree, "sensitive": private},
                f"private items in one row of {degree} in a group; people can be found",
                as_asked=False,
            ),
            _disassociation({**promise, "rho": coherence["h"], "sensitive": private}),
        ]
    km = f"k^m-anonymity (k={k}, m={m})"
    found = [
        Candidate("exact", promise, km),
        Candidate("exact", {**promise, "objective": FOR_COUNTS}, km),
        Candidate("exact", {**promise, "suppress": False}, km),
        Candidate("classes", promise, f"{km} in every published class"),
        Candidate("mhghs", promise, km),
        Candidate("aa", promise, km),
        Candidate("lg", {"k": k}, f"k-anonymity of whole rows (k={k}, more than asked)"),
        Candidate("border", coherence, km),
        Candidate("mm", coherence, km),
    ]
    if m != "inf":
        found.insert(5, Candidate("coat", {**promise, "privacy": "all"}, km, any_items=True))
    return [*found, _disassociation(promise)]


def _disassociation(options: Mapping[str, Value]) -> Candidate:
    """Offer rows in chunks, which guarantee less: that k rows fit is not certain, but cannot be ruled out."""
    keeps = f"weaker than k^m-anonymity: that {options['k']} rows fit cannot be ruled out, but is not certain"
    bounded = "; sensitive items as asked" if "sensitive" in options else ""
    return Candidate("disassociation", options, f"{keeps}{bounded}", as_asked=False)


def inference_candidates(guarantee: KmRho, rho: str, sensitive: Value) -> list[Candidate]:
    """List what can make rows (k, rho)^m-anonymous; `rho` as it was written.

    These are the least loss with single occurrences of sensitive items suppressed, and with whole items;
    local generalization of whole rows; and changes of public items alone, which are coherence with h = rho
    and p = m. Occurrences alone may be suppressed if k = 1. Only the least loss with whole items suppressed
    protects against attackers who know sensitive items. Safe disassociation bounds what is learned as
    requested, but is a weaker guarantee otherwise.
    """
    k, m, knows = guarantee.k, m_as_json(guarantee.m), guarantee.knows
    promise: dict[str, Value] = {"k": k, "m": m, "rho": rho, "sensitive": sensitive}
    also = "" if knows == PUBLIC else ", sensitive items known, too"
    keeps = f"(k,rho)^m-anonymity (k={k}, rho={rho}, m={m}{also})"
    if knows != PUBLIC:
        return [Candidate("exact", {**promise, "knows": knows}, keeps, model="km-rho")]
    coherence: dict[str, Value] = {"k": k, "p": m, "h": rho, "private": sensitive}
    found = [
        Candidate("exact", promise, keeps, model="km-rho"),
        Candidate("exact", {**promise, "hide": "items"}, keeps, label="exact, whole items", model="km-rho"),
        Candidate("lg", promise, keeps, model="km-rho"),
        Candidate("exact", coherence, keeps, label="exact, public items", model="coherence"),
        Candidate("border", coherence, keeps),
        Candidate("mm", coherence, keeps),
    ]
    if k == 1:
        found.append(Candidate("partial", promise, keeps, model="km-rho"))
    return [*found, _disassociation(promise)]


def uncertainty_candidates(rho: str, sensitive: Value) -> list[Candidate]:
    """List what can make rows rho-uncertain (see `inference_candidates`).

    These are the least loss of cuts with whole items suppressed; items suppressed greedily, with
    generalization or without; and single occurrences of any items suppressed.
    """
    promise: dict[str, Value] = {"rho": rho, "sensitive": sensitive}
    keeps = f"rho-uncertainty (rho={rho})"
    return [
        Candidate("exact", promise, keeps, model="rho-uncertainty"),
        Candidate("suppress-control", {**promise, "refine": True}, keeps),
        Candidate("td-control", {**promise, "objective": "lm"}, keeps, label="td-control"),
        Candidate("partial", promise, keeps, model="rho-uncertainty"),
    ]


def table_candidates(guarantee: KmAnonymity, share: Fraction = SHARE) -> list[Candidate]:
    """List what can make a table (k,k^m)-anonymous: attackers know any quasi-identifiers, and up to m items.

    These are classes of the size that loses least, by sweep and gain or by the sweep alone; classes of at
    least k rows, as narrow as possible, by two methods, with and without merging those that are alike in
    columns and items; and one recoding for the table. `share`: of the quasi-identifiers in the loss f, for
    those that can minimize it.
    """
    promise: dict[str, Value] = {"k": guarantee.k, "m": m_as_json(guarantee.m)}
    weighed = promise if share == SHARE else {**promise, "share": str(share)}
    merged: dict[str, Value] = {"merge": "rt", "delta": DELTA}
    keeps = f"(k,k^m)-anonymity (k={guarantee.k}, m={guarantee.m})"
    return [
        Candidate("rt", weighed, keeps),
        Candidate("rt", {**weighed, "search": "sweep"}, keeps, label="rt, sweep alone"),
        *(
            Candidate("bounding", {**promise, "relational": one, **how}, keeps, label=f"{one}{name}")
            for one in ("mondrian", "cluster")
            for name, how in (("", {}), (", merged", merged))
        ),
        Candidate("forest", weighed, keeps, label="forest (one recoding)"),
    ]


def known_items(m: int | str) -> int:
    """Choose how many items the attacker knows by whom releases are weighed: one more than guaranteed."""
    return 4 if isinstance(m, str) else m + 1

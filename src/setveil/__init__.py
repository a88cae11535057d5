"""Publish transaction data (rows that are sets of items) with a privacy guarantee that is re-checked.

    import setveil as sv
    data = sv.read("baskets.csv")
    tree = sv.read_hierarchy("products.csv")
    release = sv.anonymize(data, sv.KmAnonymity(k=5, m=2), hierarchy=tree)
    release.write("out")

Names are resolved on first use, so that importing the package (and ``setveil --help``) stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.version import __version__ as __version__

if TYPE_CHECKING:
    from setveil.attacker.attack import attack_risk
    from setveil.data.io import read
    from setveil.data.transactions import Transactions
    from setveil.errors import (
        DataError,
        GuaranteeError,
        HierarchyError,
        InfeasibleError,
        MissingItemsError,
        OutputError,
        RequestError,
        SetveilError,
    )
    from setveil.guarantees.coherence import Coherence
    from setveil.guarantees.constraints import PrivacyConstraints
    from setveil.guarantees.kanonymity import TransactionalKAnonymity
    from setveil.guarantees.km import KmAnonymity
    from setveil.guarantees.privacydegree import PrivacyDegree
    from setveil.guarantees.verify import Verdict, verify
    from setveil.hierarchy.io import read_hierarchy, write_hierarchy
    from setveil.hierarchy.tree import Hierarchy
    from setveil.published import Release
    from setveil.published.groups import Grouping
    from setveil.published.recoding import LocalRecoding, Recoding
    from setveil.runs.run import VerifiedRelease, anonymize
    from setveil.utility.measure import measure

_HOMES = {
    "Coherence": "guarantees.coherence",
    "DataError": "errors",
    "Grouping": "published.groups",
    "GuaranteeError": "errors",
    "Hierarchy": "hierarchy.tree",
    "HierarchyError": "errors",
    "InfeasibleError": "errors",
    "KmAnonymity": "guarantees.km",
    "LocalRecoding": "published.recoding",
    "MissingItemsError": "errors",
    "OutputError": "errors",
    "PrivacyConstraints": "guarantees.constraints",
    "PrivacyDegree": "guarantees.privacydegree",
    "Recoding": "published.recoding",
    "Release": "published",
    "RequestError": "errors",
    "SetveilError": "errors",
    "TransactionalKAnonymity": "guarantees.kanonymity",
    "Transactions": "data.transactions",
    "Verdict": "guarantees.verify",
    "VerifiedRelease": "runs.run",
    "anonymize": "runs.run",
    "attack_risk": "attacker.attack",
    "measure": "utility.measure",
    "read": "data.io",
    "read_hierarchy": "hierarchy.io",
    "verify": "guarantees.verify",
    "write_hierarchy": "hierarchy.io",
}

__all__ = [
    "Coherence",
    "DataError",
    "Grouping",
    "GuaranteeError",
    "Hierarchy",
    "HierarchyError",
    "InfeasibleError",
    "KmAnonymity",
    "LocalRecoding",
    "MissingItemsError",
    "OutputError",
    "PrivacyConstraints",
    "PrivacyDegree",
    "Recoding",
    "Release",
    "RequestError",
    "SetveilError",
    "TransactionalKAnonymity",
    "Transactions",
    "Verdict",
    "VerifiedRelease",
    "anonymize",
    "attack_risk",
    "measure",
    "read",
    "read_hierarchy",
    "verify",
    "write_hierarchy",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'setveil' has no attribute {name!r}")
    import importlib

    module, _, attribute = home.partition(":")
    value = getattr(importlib.import_module(f"setveil.{module}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

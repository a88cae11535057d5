"""Publish transaction data (rows that are sets of items) with a privacy guarantee that is re-checked.

    import setveil as sv
    release = sv.anonymize("baskets.csv", sv.KmAnonymity(k=5, m=2), hierarchy="products.csv")
    release.write("out")

The functions are named like the commands: `anonymize`, `verify`, `measure`, `query`, `reconstruct`, `risk`,
`attack`, `evidence`, `explore`, `recommend`, `compare`, `why`, `apply`, `moles`, `convert`, `warm`, `read`,
`trace`. `plugin` loads measures, guarantees and algorithms of your own.
They take rows as a file, a data frame, a list of lists or `Transactions`.

Names are resolved on first use, so that importing the package (and ``setveil --help``) stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.version import __version__ as __version__

if TYPE_CHECKING:
    from setveil.algorithms.aa import AA
    from setveil.algorithms.cahd.cahd import CAHD
    from setveil.algorithms.classes.classes import Classes
    from setveil.algorithms.coat.coat import COAT
    from setveil.algorithms.coherence.border import Border
    from setveil.algorithms.coherence.mm import MM
    from setveil.algorithms.da import DA
    from setveil.algorithms.disassociation.disassociation import Disassociation
    from setveil.algorithms.exact.exact import Exact
    from setveil.algorithms.hghs.hghs import HgHs
    from setveil.algorithms.hghs.mhghs import MHgHs
    from setveil.algorithms.lg.lg import LG
    from setveil.algorithms.lra.lra import LRA
    from setveil.algorithms.noisy.dp_blocks import DPBlocks
    from setveil.algorithms.oa import OA
    from setveil.algorithms.pcta.pcta import PCTA
    from setveil.algorithms.rho.partial import Partial
    from setveil.algorithms.rho.suppress_control import SuppressControl
    from setveil.algorithms.rho.td_control import TDControl
    from setveil.algorithms.rt.bounding import Bounding
    from setveil.algorithms.rt.forest import Forest
    from setveil.algorithms.rt.rt import RT
    from setveil.algorithms.vpa import VPA
    from setveil.anonymizer import Anonymizer
    from setveil.commands.anonymize import anonymize
    from setveil.commands.apply import apply
    from setveil.commands.attack import Attacked, attack
    from setveil.commands.certify import certify
    from setveil.commands.checker import checker
    from setveil.commands.compare import compare
    from setveil.commands.convert import convert
    from setveil.commands.evidence import evidence
    from setveil.commands.explore import explore
    from setveil.commands.measure import measure
    from setveil.commands.moles import moles
    from setveil.commands.query import query
    from setveil.commands.read import read
    from setveil.commands.read_facts import read_facts
    from setveil.commands.read_published import read_published
    from setveil.commands.read_table import read_published_table, read_table
    from setveil.commands.recommend import recommend
    from setveil.commands.reconstruct import Reconstruction, reconstruct
    from setveil.commands.risk import risk
    from setveil.commands.series import Series
    from setveil.commands.trace import trace
    from setveil.commands.verify import verify
    from setveil.commands.verify_sql import verify_sql
    from setveil.commands.warm import warm
    from setveil.commands.why import why
    from setveil.data.transactions import Transactions
    from setveil.errors import (
        DataError,
        GuaranteeError,
        HierarchyError,
        InfeasibleError,
        MissingItemsError,
        OutputError,
        PersonalDataError,
        RequestError,
        SetveilError,
        TableError,
        UnfinishedError,
    )
    from setveil.facts.facts import Facts
    from setveil.guarantees.coherence import Coherence
    from setveil.guarantees.constraints import PrivacyConstraints
    from setveil.guarantees.differential_privacy import DifferentialPrivacy
    from setveil.guarantees.disassociated import Disassociated
    from setveil.guarantees.kanonymity import TransactionalKAnonymity
    from setveil.guarantees.kkm import KKmAnonymity
    from setveil.guarantees.km import KmAnonymity
    from setveil.guarantees.km_rho import KmRho
    from setveil.guarantees.mixed_km import MixedKmAnonymity
    from setveil.guarantees.privacydegree import PrivacyDegree
    from setveil.guarantees.rho_uncertainty import RhoUncertainty
    from setveil.guarantees.verify import Verdict
    from setveil.hierarchy.io import read_hierarchy, write_hierarchy
    from setveil.hierarchy.tree import Hierarchy
    from setveil.options.plugins import plugin
    from setveil.published import Release
    from setveil.published.groups import Grouping
    from setveil.published.recoding import LocalRecoding, Recoding
    from setveil.runs.run import VerifiedRelease
    from setveil.tables.table import Table

_HOMES = {
    "AA": "algorithms.aa",
    "Anonymizer": "anonymizer",
    "Attacked": "commands.attack",
    "Border": "algorithms.coherence.border",
    "Bounding": "algorithms.rt.bounding",
    "CAHD": "algorithms.cahd.cahd",
    "COAT": "algorithms.coat.coat",
    "Classes": "algorithms.classes.classes",
    "Coherence": "guarantees.coherence",
    "DA": "algorithms.da",
    "DPBlocks": "algorithms.noisy.dp_blocks",
    "DataError": "errors",
    "DifferentialPrivacy": "guarantees.differential_privacy",
    "Disassociated": "guarantees.disassociated",
    "Disassociation": "algorithms.disassociation.disassociation",
    "Exact": "algorithms.exact.exact",
    "Facts": "facts.facts",
    "Forest": "algorithms.rt.forest",
    "Grouping": "published.groups",
    "GuaranteeError": "errors",
    "HgHs": "algorithms.hghs.hghs",
    "Hierarchy": "hierarchy.tree",
    "HierarchyError": "errors",
    "InfeasibleError": "errors",
    "KKmAnonymity": "guarantees.kkm",
    "KmAnonymity": "guarantees.km",
    "KmRho": "guarantees.km_rho",
    "LG": "algorithms.lg.lg",
    "LRA": "algorithms.lra.lra",
    "LocalRecoding": "published.recoding",
    "MHgHs": "algorithms.hghs.mhghs",
    "MM": "algorithms.coherence.mm",
    "MissingItemsError": "errors",
    "MixedKmAnonymity": "guarantees.mixed_km",
    "OA": "algorithms.oa",
    "OutputError": "errors",
    "PCTA": "algorithms.pcta.pcta",
    "Partial": "algorithms.rho.partial",
    "PrivacyConstraints": "guarantees.constraints",
    "PrivacyDegree": "guarantees.privacydegree",
    "RT": "algorithms.rt.rt",
    "Recoding": "published.recoding",
    "Reconstruction": "commands.reconstruct",
    "Release": "published",
    "RequestError": "errors",
    "RhoUncertainty": "guarantees.rho_uncertainty",
    "Series": "commands.series",
    "SetveilError": "errors",
    "SuppressControl": "algorithms.rho.suppress_control",
    "TDControl": "algorithms.rho.td_control",
    "Table": "tables.table",
    "PersonalDataError": "errors",
    "TableError": "errors",
    "TransactionalKAnonymity": "guarantees.kanonymity",
    "Transactions": "data.transactions",
    "UnfinishedError": "errors",
    "VPA": "algorithms.vpa",
    "Verdict": "guarantees.verify",
    "VerifiedRelease": "runs.run",
    "anonymize": "commands.anonymize",
    "apply": "commands.apply",
    "attack": "commands.attack",
    "certify": "commands.certify",
    "checker": "commands.checker",
    "compare": "commands.compare",
    "convert": "commands.convert",
    "evidence": "commands.evidence",
    "explore": "commands.explore",
    "measure": "commands.measure",
    "moles": "commands.moles",
    "plugin": "options.plugins",
    "query": "commands.query",
    "read": "commands.read",
    "read_facts": "commands.read_facts",
    "read_hierarchy": "hierarchy.io",
    "read_published": "commands.read_published",
    "read_published_table": "commands.read_table",
    "read_table": "commands.read_table",
    "recommend": "commands.recommend",
    "reconstruct": "commands.reconstruct",
    "risk": "commands.risk",
    "trace": "commands.trace",
    "verify": "commands.verify",
    "verify_sql": "commands.verify_sql",
    "warm": "commands.warm",
    "why": "commands.why",
    "write_hierarchy": "hierarchy.io",
}

# Guarantees by the name of their model on the command line, where the class is called otherwise.
_NAMED_BY_MODEL = {
    "Constraints": "PrivacyConstraints",
    "KAnonymity": "TransactionalKAnonymity",
    "Kkm": "KKmAnonymity",
    "MixedKm": "MixedKmAnonymity",
}

__all__ = [
    "AA",
    "CAHD",
    "COAT",
    "DA",
    "LG",
    "LRA",
    "MM",
    "OA",
    "PCTA",
    "RT",
    "VPA",
    "Anonymizer",
    "Attacked",
    "Border",
    "Bounding",
    "Classes",
    "Coherence",
    "DPBlocks",
    "DataError",
    "DifferentialPrivacy",
    "Disassociated",
    "Disassociation",
    "Exact",
    "Facts",
    "Forest",
    "Grouping",
    "GuaranteeError",
    "HgHs",
    "Hierarchy",
    "HierarchyError",
    "InfeasibleError",
    "KKmAnonymity",
    "KmAnonymity",
    "KmRho",
    "LocalRecoding",
    "MHgHs",
    "MissingItemsError",
    "MixedKmAnonymity",
    "OutputError",
    "Partial",
    "PersonalDataError",
    "PrivacyConstraints",
    "PrivacyDegree",
    "Recoding",
    "Reconstruction",
    "Release",
    "RequestError",
    "RhoUncertainty",
    "Series",
    "SetveilError",
    "SuppressControl",
    "TDControl",
    "Table",
    "TableError",
    "TransactionalKAnonymity",
    "Transactions",
    "UnfinishedError",
    "Verdict",
    "VerifiedRelease",
    "anonymize",
    "apply",
    "attack",
    "certify",
    "checker",
    "compare",
    "convert",
    "evidence",
    "explore",
    "measure",
    "moles",
    "plugin",
    "query",
    "read",
    "read_facts",
    "read_hierarchy",
    "read_published",
    "read_published_table",
    "read_table",
    "recommend",
    "reconstruct",
    "risk",
    "trace",
    "verify",
    "verify_sql",
    "warm",
    "why",
    "write_hierarchy",
]


def __getattr__(name: str) -> Any:
    name = _NAMED_BY_MODEL.get(name, name)
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'setveil' has no attribute {name!r}")
    import importlib

    value = getattr(importlib.import_module(f"setveil.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

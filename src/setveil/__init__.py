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

from setveil.base.version import __version__ as __version__

if TYPE_CHECKING:
    from setveil.base.errors import (
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
    from setveil.commands.anonymize import anonymize
    from setveil.commands.anonymizer import Anonymizer
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
    from setveil.judges.guarantees.coherence import Coherence
    from setveil.judges.guarantees.constraints import PrivacyConstraints
    from setveil.judges.guarantees.differential_privacy import DifferentialPrivacy
    from setveil.judges.guarantees.disassociated import Disassociated
    from setveil.judges.guarantees.kanonymity import TransactionalKAnonymity
    from setveil.judges.guarantees.kkm import KKmAnonymity
    from setveil.judges.guarantees.km import KmAnonymity
    from setveil.judges.guarantees.km_rho import KmRho
    from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
    from setveil.judges.guarantees.privacydegree import PrivacyDegree
    from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
    from setveil.judges.guarantees.verify import Verdict
    from setveil.methods.algorithms.aa import AA
    from setveil.methods.algorithms.cahd.cahd import CAHD
    from setveil.methods.algorithms.classes.classes import Classes
    from setveil.methods.algorithms.coat.coat import COAT
    from setveil.methods.algorithms.coherence.border import Border
    from setveil.methods.algorithms.coherence.mm import MM
    from setveil.methods.algorithms.da import DA
    from setveil.methods.algorithms.disassociation.disassociation import Disassociation
    from setveil.methods.algorithms.exact.exact import Exact
    from setveil.methods.algorithms.hghs.hghs import HgHs
    from setveil.methods.algorithms.hghs.mhghs import MHgHs
    from setveil.methods.algorithms.lg.lg import LG
    from setveil.methods.algorithms.lra.lra import LRA
    from setveil.methods.algorithms.noisy.dp_blocks import DPBlocks
    from setveil.methods.algorithms.oa import OA
    from setveil.methods.algorithms.pcta.pcta import PCTA
    from setveil.methods.algorithms.rho.partial import Partial
    from setveil.methods.algorithms.rho.suppress_control import SuppressControl
    from setveil.methods.algorithms.rho.td_control import TDControl
    from setveil.methods.algorithms.rt.bounding import Bounding
    from setveil.methods.algorithms.rt.forest import Forest
    from setveil.methods.algorithms.rt.rt import RT
    from setveil.methods.algorithms.vpa import VPA
    from setveil.releases.published import Release
    from setveil.releases.published.groups import Grouping
    from setveil.releases.published.recoding import LocalRecoding, Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.facts.facts import Facts
    from setveil.rows.hierarchy.io import read_hierarchy, write_hierarchy
    from setveil.rows.hierarchy.tree import Hierarchy
    from setveil.rows.tables.table import Table
    from setveil.runs.options.plugins import plugin
    from setveil.runs.run import VerifiedRelease

_HOMES = {
    "AA": "methods.algorithms.aa",
    "Anonymizer": "commands.anonymizer",
    "Attacked": "commands.attack",
    "Border": "methods.algorithms.coherence.border",
    "Bounding": "methods.algorithms.rt.bounding",
    "CAHD": "methods.algorithms.cahd.cahd",
    "COAT": "methods.algorithms.coat.coat",
    "Classes": "methods.algorithms.classes.classes",
    "Coherence": "judges.guarantees.coherence",
    "DA": "methods.algorithms.da",
    "DPBlocks": "methods.algorithms.noisy.dp_blocks",
    "DataError": "base.errors",
    "DifferentialPrivacy": "judges.guarantees.differential_privacy",
    "Disassociated": "judges.guarantees.disassociated",
    "Disassociation": "methods.algorithms.disassociation.disassociation",
    "Exact": "methods.algorithms.exact.exact",
    "Facts": "rows.facts.facts",
    "Forest": "methods.algorithms.rt.forest",
    "Grouping": "releases.published.groups",
    "GuaranteeError": "base.errors",
    "HgHs": "methods.algorithms.hghs.hghs",
    "Hierarchy": "rows.hierarchy.tree",
    "HierarchyError": "base.errors",
    "InfeasibleError": "base.errors",
    "KKmAnonymity": "judges.guarantees.kkm",
    "KmAnonymity": "judges.guarantees.km",
    "KmRho": "judges.guarantees.km_rho",
    "LG": "methods.algorithms.lg.lg",
    "LRA": "methods.algorithms.lra.lra",
    "LocalRecoding": "releases.published.recoding",
    "MHgHs": "methods.algorithms.hghs.mhghs",
    "MM": "methods.algorithms.coherence.mm",
    "MissingItemsError": "base.errors",
    "MixedKmAnonymity": "judges.guarantees.mixed_km",
    "OA": "methods.algorithms.oa",
    "OutputError": "base.errors",
    "PCTA": "methods.algorithms.pcta.pcta",
    "Partial": "methods.algorithms.rho.partial",
    "PrivacyConstraints": "judges.guarantees.constraints",
    "PrivacyDegree": "judges.guarantees.privacydegree",
    "RT": "methods.algorithms.rt.rt",
    "Recoding": "releases.published.recoding",
    "Reconstruction": "commands.reconstruct",
    "Release": "releases.published",
    "RequestError": "base.errors",
    "RhoUncertainty": "judges.guarantees.rho_uncertainty",
    "Series": "commands.series",
    "SetveilError": "base.errors",
    "SuppressControl": "methods.algorithms.rho.suppress_control",
    "TDControl": "methods.algorithms.rho.td_control",
    "Table": "rows.tables.table",
    "PersonalDataError": "base.errors",
    "TableError": "base.errors",
    "TransactionalKAnonymity": "judges.guarantees.kanonymity",
    "Transactions": "rows.data.transactions",
    "UnfinishedError": "base.errors",
    "VPA": "methods.algorithms.vpa",
    "Verdict": "judges.guarantees.verify",
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
    "plugin": "runs.options.plugins",
    "query": "commands.query",
    "read": "commands.read",
    "read_facts": "commands.read_facts",
    "read_hierarchy": "rows.hierarchy.io",
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
    "write_hierarchy": "rows.hierarchy.io",
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
    from types import FunctionType

    value = getattr(importlib.import_module(f"setveil.{home}"), name)
    if isinstance(value, FunctionType):
        from setveil.commands.wrong_kinds import in_words

        value = in_words(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]

"""Names for algorithms, guarantees and measures of your own, each imported when it is first used.

from setveil.extend import AlgorithmInfo, Declared, Integer, Recoding, parameter
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from setveil.base.errors import DataError, GuaranteeError, InfeasibleError, RequestError
    from setveil.base.progress import Progress
    from setveil.base.values.declared import Declared, Option, parameter
    from setveil.base.values.kinds import Choice, Flag, Integer, Number, Share, integer
    from setveil.judges.guarantees import Guarantee, Model, Words
    from setveil.judges.guarantees.verify import PlainVerdict, Verdict
    from setveil.judges.utility import Case, Measure
    from setveil.methods.algorithms import AlgorithmInfo
    from setveil.releases.published.recoding import LocalRecoding, Recoding

_HOMES = {
    "AlgorithmInfo": "methods.algorithms",
    "Case": "judges.utility",
    "Choice": "base.values.kinds",
    "DataError": "base.errors",
    "Declared": "base.values.declared",
    "Flag": "base.values.kinds",
    "Guarantee": "judges.guarantees",
    "GuaranteeError": "base.errors",
    "InfeasibleError": "base.errors",
    "Integer": "base.values.kinds",
    "LocalRecoding": "releases.published.recoding",
    "Measure": "judges.utility",
    "Model": "judges.guarantees",
    "Number": "base.values.kinds",
    "Option": "base.values.declared",
    "PlainVerdict": "judges.guarantees.verify",
    "Progress": "base.progress",
    "Recoding": "releases.published.recoding",
    "RequestError": "base.errors",
    "Share": "base.values.kinds",
    "Verdict": "judges.guarantees.verify",
    "Words": "judges.guarantees",
    "integer": "base.values.kinds",
    "parameter": "base.values.declared",
}

__all__ = [
    "AlgorithmInfo",
    "Case",
    "Choice",
    "DataError",
    "Declared",
    "Flag",
    "Guarantee",
    "GuaranteeError",
    "InfeasibleError",
    "Integer",
    "LocalRecoding",
    "Measure",
    "Model",
    "Number",
    "Option",
    "PlainVerdict",
    "Progress",
    "Recoding",
    "RequestError",
    "Share",
    "Verdict",
    "Words",
    "integer",
    "parameter",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'setveil.extend' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"setveil.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__

"""All measures of a release at once."""

from __future__ import annotations

from typing import Any

from setveil.data.transactions import Transactions
from setveil.recoding import AnyRecoding
from setveil.utility.counts import counts
from setveil.utility.lm import lm
from setveil.utility.ncp import ncp
from setveil.utility.supports import support_errors


def measure(original: Transactions, published: Transactions, recoding: AnyRecoding) -> dict[str, Any]:
    """Measure what a release lost.

    Parameters
    ----------
    original, published : Transactions
        The rows before and after; their order does not matter.
    recoding : Recoding
        What each item of the original became.

    Returns
    -------
    dict
        `ncp`, `lm`, the counts of `setveil.utility.counts`, the errors of `setveil.utility.supports`.
    """
    return {
        "ncp": ncp(original, recoding),
        "lm": lm(original, recoding),
        **counts(original, published, recoding),
        **support_errors(original, published, recoding),
    }

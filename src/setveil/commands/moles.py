"""List what betrays people."""

from __future__ import annotations

from os import PathLike
from typing import Any

from setveil.base.errors import RequestError, described
from setveil.commands.arguments import Listener, heard, integer_or_none, rows_of
from setveil.judges.guarantees.coherence import Coherence
from setveil.methods.algorithms.coherence._moles import list_maximal, list_moles


def moles(
    data: str | PathLike[str] | object,
    guarantee: Coherence,
    *,
    show: int | None = None,
    progress: Listener = None,
) -> dict[str, Any]:
    """List what betrays people: the smallest sets of public items that find few rows or tell a secret.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow stream, list of lists, or Transactions
        The rows.
    guarantee : Coherence
        Which items are private, and what must not be found out.
    show : int, optional
        How many to list; by default all.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        What ``setveil moles --json`` prints (docs/suppression.md): the guarantee, `moles` (their number),
        `first` (each with its `itemset`, its `support`, and what it `betrays`), `maximal_sets` (how many
        largest sets of items are no mole alone), and `largest` (these).

    Raises
    ------
    RequestError
        If the guarantee is no `Coherence`, or a private item does not occur.
    InfeasibleError
        If not even the empty set is safe.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["tea", "rum"], ["tea", "milk"], ["tea"]]
    >>> found = sv.moles(rows, sv.Coherence(h=0.5, k=2, p=2, private=["rum"]))
    >>> found["moles"], found["largest"]
    (0, [{'itemset': ['milk', 'tea'], 'rows': 2}])
    """
    if not isinstance(guarantee, Coherence):
        raise RequestError(
            f"Moles are those of a Coherence, got {described(guarantee)}.",
            hint='Such as setveil.Coherence(h=0.5, k=5, p=2, private=["rum"]).',
        )
    most, listening = integer_or_none("show", show, 0), heard(progress)
    rows = rows_of(data)
    entries = [
        {"itemset": list(itemset), "support": support}
        | ({} if betrayed is None else {"betrays": betrayed, "private_rows": int(share * support)})
        for itemset, support, betrayed, share in list_moles(rows, guarantee, listening)
    ]
    largest = [
        {"itemset": list(itemset), "rows": number}
        for itemset, number in list_maximal(rows, guarantee, listening)
    ]
    return {
        **guarantee.as_dict(),
        "moles": len(entries),
        "first": entries[:most],
        "maximal_sets": len(largest),
        "largest": largest[:most],
    }

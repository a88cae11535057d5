"""Check all that is published of a release: its rows, and the counts beside them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.data.transactions import Transactions
from setveil.guarantees import Guarantee
from setveil.guarantees.verify import Verdict, verify
from setveil.guarantees.verify.counts import CountsFile, check_counts
from setveil.published.counts import Counts


def check(
    published: Any,
    guarantee: Guarantee,
    counts: Counts | None,
    about: Mapping[str, Any],
    *,
    show: int = 10,
    **more: Any,
) -> Verdict:
    """Check what is published by the verifiers of the rows and of the counts.

    Parameters
    ----------
    published : Transactions or PublishedGroups
        What is published.
    guarantee : Guarantee
        What was promised.
    counts : Counts or None
        What stands beside the rows.
    about : mapping
        Of about.json, where there are counts: `labels`, `recoding`, and `domain` if it is known.
    show : int
        How many violations to list.
    **more
        What the verifier of the rows takes besides.
    """
    verdict = verify(published, guarantee, show=show, **more)
    if counts is None:
        return verdict
    rows: Transactions = published
    file = CountsFile(
        counts.lines(), counts.least, counts.suppressed, about["labels"],
        local=about.get("recoding") == "local", domain=about.get("domain"),
    )  # fmt: skip
    k: int = guarantee.k  # type: ignore[attr-defined]  # of every model of single rows
    return verdict.with_counts(check_counts(rows, file, k, secrets=guarantee.secrets, show=show))

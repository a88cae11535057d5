"""Rows in classes that are published, each recoded by itself with the least possible loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import SETVEIL, VLDB_2008, together
from setveil.methods.algorithms.classes._parameters import Classes, Parameters

if TYPE_CHECKING:
    from setveil.judges.guarantees import Guarantee
    from setveil.releases.published.class_recoding import ClassRecoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

__all__ = ["Classes", "Parameters", "anonymize", "info"]

info = AlgorithmInfo(
    title="Classes with counts",
    guarantees=("km-anonymity", "km-rho"),
    needs=("hierarchy",),
    summary="Splits the rows into published classes, and recodes each with the least possible loss: "
    "counts of items together come out far better.",
    reference="setveil, docs/classes.md; the guarantee: VLDB 2008, doi:10.14778/1453856.1453874",
    bibtex=together(SETVEIL, VLDB_2008),
    minimizes="entropy-max",
    recoding="classes",
)


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: Guarantee,
    parameters: Classes = Classes(),
    progress: Progress = silent,
) -> tuple[ClassRecoding, dict[str, Any]]:
    """Satisfy the guarantee in every class of rows, anyone who knows the class of a person.

    Rows are cut on single items by greatest gain (`_splitting.Splitting`), each class is recoded with the
    least possible loss (`_solving.Solver`), and cuts are taken back where answers do not get better
    (`_worth.Worth`); one class where that is best.

    Returns
    -------
    recoding : ClassRecoding
        The class of each row, and what each occurrence becomes.
    details : dict
        `classes`: of each class its rows, labels, items suppressed, cost, whether that is proven, and the
        gap; `optimality` of all together; `split`: the fewest rows of a class, the cuts that were tried and
        those that were taken back, errors of both ways; `suppressed`: items that are suppressed in all rows.
    """
    from setveil.methods.algorithms.classes._search import ClassSearch

    guarantee.require_feasible(data)
    return ClassSearch(data, hierarchy, guarantee, parameters, progress).run()

"""Transactional k-anonymity: k-anonymity of whole rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import InfeasibleError
from setveil.base.values.kinds import integer
from setveil.base.wording import are, count
from setveil.judges.guarantees import Facts, Guarantee, Model, Words
from setveil.judges.guarantees.km import K

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


@dataclass(frozen=True)
class TransactionalKAnonymity(Guarantee):
    """Every published row occurs at least k times.

    So nobody, whatever they know of a person, can narrow that person down to fewer than k rows by comparing
    rows. Rows without items are rows, too: they stay as they are, so there are none or at least k.

    Parameters
    ----------
    k : int
        At least 2.

    References
    ----------
    He, Naughton, "Anonymization of Set-valued Data via Top-down, Local Generalization", VLDB 2009,
    doi:10.14778/1687627.1687733

    Examples
    --------
    >>> TransactionalKAnonymity(k=5).phrase
    'k-anonymity (k=5)'
    """

    k: int

    model: ClassVar[str] = "k-anonymity"

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", integer("k", self.k, 2))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameter."""
        return f"k-anonymity (k={self.k})"

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameter as JSON types."""
        return {"model": self.model, "k": self.k}

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data that no generalization can make k-anonymous.

        Raises
        ------
        InfeasibleError
            If there are rows without items but fewer than k, or rows with items but fewer than k: no
            generalization makes the one look like the other.
        """
        filled = int((data.row_lengths() > 0).sum())
        counts = {"contain items": filled, "contain none": data.n_rows - filled}
        rare = [f"{n:,} {what}" for what, n in counts.items() if 0 < n < self.k]
        if not rare:
            return
        greatest = min(n for n in counts.values() if n > 0)
        hint = ""
        if greatest < 2:
            one = "without items" if counts["contain none"] == 1 else "with items"
            hint = f"The only row {one} cannot be hidden at any k"
            rest = data.n_rows - 1
            hint += f"; without it, k can be as great as {rest}." if rest >= 2 else "."
        raise InfeasibleError(
            f"{self.phrase} cannot be met: of {count(data.n_rows, 'row')}, {' and '.join(rare)}, "
            f"and fewer than k = {self.k} rows of a kind hide nobody.",
            hint=hint,
            greatest_k=greatest if greatest >= 2 else None,
        )


# --- in words


def _beyond(g: Facts) -> list[str]:
    greatest = g["greatest_k"]
    if greatest is None:
        return ["There are no rows: every k is satisfied."]
    return [f"greatest k: {greatest if greatest >= 2 else 'none (a row is the only one of its kind)'}"]


model = Model(
    name="k-anonymity",
    title="k-anonymity of whole rows",
    make=TransactionalKAnonymity,
    options={"k": K},
    algorithm="lg",
    words=Words(
        parameters=("k",),
        promise=lambda g: f"Every published row is one of at least {count(g['k'])} that are the same.",
        fulfilled=lambda g: (
            "there are no rows"
            if g["greatest_k"] is None
            else f"the rarest row stands there {count(g['greatest_k'], 'time')}"
        ),
        broken=lambda g: (
            f"{count(g['violations'], 'different row')} that {are(g['violations'])} found fewer than "
            f"{count(g['k'], 'time')}"
        ),
        not_covered=lambda _: [],
        reading=lambda g: [("k:", f"how often every row must stand there, here {count(g['k'])}.")],
        violation=lambda entry: (
            f"{count(entry['support'], 'time')}: {', '.join(entry['itemset']) or 'a row without items'}"
        ),
        beyond=_beyond,
    ),
    family="rows",
    axes={"k": "rows that fit at least (k)"},
    example={"k": 2},
    counts=True,
)

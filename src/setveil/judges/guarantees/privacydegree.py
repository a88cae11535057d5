"""Privacy degree: how surely a sensitive item cannot be tied to a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import DataError, InfeasibleError, RequestError, listed, shorten
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Integer, Items, integer
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Words
from setveil.rows.data.vocabulary import item_order

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


@dataclass(frozen=True)
class PrivacyDegree(Guarantee):
    """In every published group, at most one row in p holds any one sensitive item.

    Rows are published in groups: their other items (the quasi-identifiers) as they are, of the sensitive ones
    only how often each occurs in the group. So even who knows all other items of a person can say of no
    sensitive item that this person has it with a probability above 1/p.

    Parameters
    ----------
    p : int
        At least 2.
    sensitive : tuple of str
        The sensitive items, kept without repeats in item order; other iterables and integers are taken, too.
        Empty: those that a release names itself (to verify one).

    References
    ----------
    Ghinita, Tao, Kalnis, "On the Anonymization of Sparse High-Dimensional Data", ICDE 2008, section 2,
    doi:10.1109/ICDE.2008.4497480

    Examples
    --------
    >>> PrivacyDegree(10, ("pregnancy test",)).phrase
    'privacy degree 10'
    """

    p: int
    sensitive: Sequence[str] = ()

    model: ClassVar[str] = "privacy-degree"

    def __post_init__(self) -> None:
        object.__setattr__(self, "p", integer("p", self.p, 2))
        object.__setattr__(self, "sensitive", _labels(self.sensitive))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameter."""
        return f"privacy degree {self.p}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive items."""
        return tuple(self.sensitive)

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types."""
        return {"model": self.model, "p": self.p, "sensitive": list(self.sensitive)}

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data that cannot be published in groups of this privacy degree, or not with any use.

        Raises
        ------
        RequestError
            If no item is named as sensitive, or all items are.
        DataError
            If a sensitive item does not occur in the data.
        InfeasibleError
            If a sensitive item is in more than one row of p: so it is in every group at best.
        """
        if not self.sensitive:
            raise RequestError("No sensitive item is named, expected at least one.")
        if data.n_items == 0:
            return  # rows without items have nothing to hide
        ids = data.vocabulary.ids
        unknown = [label for label in self.sensitive if label not in ids]
        if unknown:
            some = "is" if len(unknown) == 1 else f"are {len(unknown):,}"
            raise DataError(
                f"Among the sensitive items {some} not in the data: {listed(unknown)}.",
                hint="Name items exactly as in the data.",
            )
        if len(self.sensitive) == data.n_items:
            raise RequestError(
                f"All {data.n_items:,} items of the data are sensitive: no other is left to be published.",
                hint="Name as sensitive only what must not be tied to a person.",
            )
        supports = data.supports()[[ids[label] for label in self.sensitive]]
        worst = int(supports.argmax())  # the first in item order
        if int(supports[worst]) * self.p > data.n_rows:
            greatest = data.n_rows // int(supports[worst])
            label = shorten(self.sensitive[worst])
            raise InfeasibleError(
                f"{self.phrase} cannot be met: {label} is in {supports[worst]:,} of {data.n_rows:,} "
                f"rows, more than one in p = {self.p}.",
                hint=f"The greatest possible p is {greatest}."
                if greatest >= 2
                else f"No p of at least 2 is possible while {label} is sensitive.",
            )


def _labels(sensitive: Iterable[object]) -> tuple[str, ...]:
    if isinstance(sensitive, str | bytes) or not isinstance(sensitive, Iterable):
        raise RequestError(f"sensitive must be a collection of items, got {sensitive!r}.")
    labels = set()
    for item in sensitive:
        if isinstance(item, Integral) and not isinstance(item, bool):
            labels.add(str(int(item)))
        elif isinstance(item, str) and item:
            labels.add(item)
        else:
            raise RequestError(f"A sensitive item must be a non-empty string or an integer, got {item!r}.")
    return tuple(item_order(labels))


# --- in words


def _fulfilled(g: Facts) -> str:
    if g["smallest_degree"] is None:
        return "no group contains a sensitive item"
    return (
        f"{count(g['groups'], 'group')}; the most frequent sensitive item of any group is in one row of "
        f"{g['smallest_degree']:.4g}"
    )


def _violation(entry: Facts) -> str:
    items, hits, rows = ", ".join(entry["itemset"]), entry["count"], entry["rows"]
    return {
        "degree": f"group {entry['group']}: {items} in {hits} of {count(rows, 'row')}",
        "leak": f"{items} is in {count(hits, 'row')}, first in group {entry['group']}",
        "total": f"{items}: counted {count(hits, 'time')}, in {count(rows, 'row')} of the original",
        "row": f"{count(hits, 'row')}, in the original {count(rows)}: {items or 'without items'}",
    }[entry["kind"]]


model = Model(
    name="privacy-degree",
    title="groups with a privacy degree",
    make=PrivacyDegree,
    options={
        "p": Option(Integer(2), "A sensitive item is in at most one row of p in any group.", needed=True),
        "sensitive": Option(
            Items(), "Sensitive items: a file, or a list with commas.", needed=True, secret=True
        ),
        "sensitive_random": Option(
            Integer(1),
            "For experiments: draw this many sensitive items by --seed, from items in at most one row of p.",
            instead_of="sensitive",
            secret=True,
            drawn_with=("p",),
        ),
    },
    algorithm="cahd",
    words=Words(
        parameters=("p", "sensitive"),
        promise=lambda g: (
            f"In every group at most one row in {count(g['p'])} contains any one sensitive item: nobody "
            f"learns one about a person with a probability above {1 / g['p']:.3g}."
        ),
        fulfilled=_fulfilled,
        broken=lambda g: f"{count(g['violations'], 'breach', 'breaches')}",
        not_covered=lambda _: [
            (
                "Being found.",
                "All other items are published unchanged. Someone who knows some of them may find a person's "
                "very row, and all other items in it; only the sensitive ones are hidden.",
            ),
            (
                "Knowing who has a sensitive item.",
                "Anyone who can rule out rows of a group learns more about the rest.",
            ),
        ],
        reading=lambda g: [
            (
                "p:",
                f"a sensitive item is in at most one of this many rows in its group, here {count(g['p'])}.",
            )
        ],
        violation=_violation,
        beyond=lambda _: [],
        hides_sensitive=True,
    ),
    family="groups",
    axes={"p": "rows per sensitive one (p)"},
    example={"p": 2, "sensitive": ["s"]},
    release="groups",
    knows=("original",),
)

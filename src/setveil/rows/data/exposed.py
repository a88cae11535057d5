"""Everything that is published of one release, and its answers to the questions of commands."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

from setveil.base.errors import RequestError, SetveilError
from setveil.rows.data.framed import Framed


@dataclass(frozen=True)
class Refusal:
    """A question that a kind of release does not answer: the reason, and an alternative."""

    reason: str
    instead: str = ""
    kind: type[SetveilError] = RequestError

    def error(self) -> SetveilError:
        """Make the error that says so."""
        return self.kind(self.reason, hint=self.instead)

    def raised(self, *_about: object) -> NoReturn:
        """Refuse, in place of a function that answers."""
        raise self.error()

    @classmethod
    def of(cls, answering: Callable[..., Any]) -> Refusal | None:
        """Return the refusal that is in place of a function; None: the function answers."""
        owner = getattr(answering, "__self__", None)
        return owner if isinstance(owner, cls) else None


class Exposed(Framed):
    """The published part of a release. The defaults suit a kind that publishes no rows of people."""

    kind: ClassVar[str]  # the file of `setveil.releases.published` that holds its kind of release
    is_table: ClassVar[bool] = False  # whether columns are published next to the items
    has_facts: ClassVar[bool] = False  # whether items are facts: codes with dates or amounts
    nobodys: ClassVar[bool] = False  # whether rows are published that are nobody's
    shows_absence: ClassVar[bool] = False  # whether a row can show that its person lacks an item
    unfindable: ClassVar[Refusal | None] = Refusal(
        "This release contains no rows of people, so that no person can be found in it.",
        "`setveil verify` checks its guarantee.",
    )  # None: an attacker can count the rows that match known items

    final: ClassVar[Refusal | None] = None  # why it cannot be anonymized again; None: it can
    unpublished: ClassVar[Refusal | None] = None  # why no guarantee of it can be verified; None: one can
    secretless: ClassVar[Refusal | None] = None  # why no item of it can be private; None: items can

    @property
    def only_facts(self) -> bool:
        """Return whether it is rows of facts, without further columns."""
        return self.has_facts and not self.is_table

    @property
    def only_items(self) -> bool:
        """Return whether it is rows of items, without further columns."""
        return not (self.has_facts or self.is_table)

    @property
    def facts(self) -> Any:
        """The original facts, without further columns (`setveil.Facts`); None: there are none."""
        return None

    @property
    def item_rows(self) -> Any:
        """The rows of items; of a table those next to its columns."""
        return self

    @property
    def named_rows(self) -> Any:
        """The rows whose items a guarantee can name."""
        return self

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the columns of items; empty if no column has a name."""
        return ()

    def became(self, _place: int) -> dict[str, Any]:
        """Return what is published of the row, or the cluster, that an input row became."""
        return {"items": []}

    def marked(self, _secrets: Collection[str] = ()) -> Any:
        """Return the rows to an attacker who also knows the published class of each person."""
        return self

    def views(self, _secrets: Collection[str] = ()) -> dict[str, Any]:
        """Return what attackers see, by their names; no name if all see the same."""
        return {"": self}

    def shows(self, other: Any) -> bool:
        """Return whether another release publishes the same, in the same order."""
        raise NotImplementedError

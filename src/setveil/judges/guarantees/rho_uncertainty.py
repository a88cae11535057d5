"""rho-uncertainty: whatever is known of a person, nothing sensitive is learned with confidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.values.numbers import as_json, as_written, written
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words
from setveil.judges.guarantees.coherence import labels_of
from setveil.judges.guarantees.km_rho import (
    RHO,
    SENSITIVE,
    confidences_beyond,
    greatest_words,
    inference_not_covered,
    require_public,
    sensitive_words,
    violation_words,
)

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


@dataclass(frozen=True, init=False)
class RhoUncertainty(Guarantee):
    """No set of items that some row holds gives another, sensitive item away with a confidence above rho.

    The attacker may know any number of items of a person, sensitive ones too, or none.

    Parameters
    ----------
    rho : number or str
        Above 0 and at most 1, taken as written: 0.3, "0.3" and "30%" are 3/10; "1/3" is allowed. A confidence
        of exactly rho is allowed.
    sensitive : iterable of str
        Labels of the sensitive items; they need not occur.

    References
    ----------
    Cao, Karras, Raïssi, Tan, "rho-uncertainty: inference-proof transaction anonymization", PVLDB 3(1), 2010,
    doi:10.14778/1920841.1920971 (which says "less than rho", and of known sets of at least one item)

    Examples
    --------
    >>> RhoUncertainty(rho=0.2, sensitive=["HIV"]).phrase
    'rho-uncertainty (rho=0.2)'
    """

    rho: Fraction
    sensitive: tuple[str, ...]

    model: ClassVar[str] = "rho-uncertainty"

    def __init__(self, rho: Fraction | float | str, sensitive: Iterable[str] = ()) -> None:
        object.__setattr__(self, "rho", as_written(rho, "rho"))
        object.__setattr__(self, "sensitive", labels_of(sensitive, "sensitive"))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameter."""
        return f"rho-uncertainty (rho={written(self.rho)})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The sensitive items."""
        return self.sensitive

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types (rho as text if it is no decimal)."""
        return {"model": self.model, "rho": as_json(self.rho), "sensitive": list(self.sensitive)}

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data in which every item is sensitive (see `require_public`)."""
        require_public(data, self.sensitive)


# --- in words


def _promise(g: Facts) -> str:
    return (
        "Anyone who knows any number of items of a person, sensitive ones too, is right about any other "
        f"{sensitive_words(g)} with a chance of at most {g['rho']}."
    )


def _broken(g: Facts) -> str:
    atleast = "" if g["complete"] else "at least "
    return (
        f"{atleast}{count(g['violations'], 'set')} of known items that reveal a sensitive item with a "
        f"chance above {g['rho']}"
    )


def _not_covered(g: Facts) -> Points:
    text = "Rows are not hidden among others: someone who knows some items of a person may find the very row."
    return [("Being found.", text), *inference_not_covered(g)]


model = Model(
    name="rho-uncertainty",
    title="rho-uncertainty",
    make=RhoUncertainty,
    options={"rho": RHO, "sensitive": SENSITIVE},
    algorithm="exact",
    words=Words(
        parameters=("rho", "sensitive"),
        promise=_promise,
        fulfilled=greatest_words,
        broken=_broken,
        not_covered=_not_covered,
        reading=lambda g: [
            ("rho:", f"the greatest chance with which a sensitive item may be learned, here {g['rho']}.")
        ],
        violation=violation_words,
        beyond=confidences_beyond,
        hides_sensitive=True,
    ),
    family="inference",
    axes={"rho": "greatest chance of a sensitive item (rho)"},
    example={"rho": "0.4", "sensitive": ["s"]},
)

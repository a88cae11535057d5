"""(h, k, p)-coherence."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.base.errors import InfeasibleError, RequestError, described, listed, require_type, shorten
from setveil.base.values.declared import Option
from setveil.base.values.kinds import Items, Probability, Share, Size, integer, size
from setveil.base.values.numbers import as_json, as_written, written
from setveil.base.wording import count
from setveil.judges.guarantees import Facts, Guarantee, Model, Points, Words
from setveil.judges.guarantees.km import K, known_words, not_covered_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from setveil.rows.data.transactions import Transactions


@dataclass(frozen=True, init=False)
class Coherence(Guarantee):
    """Nobody who knows at most p public items of a person learns much about that person.

    Every set of at most p public items that occurs at all (the empty set, too) occurs in at least k rows, and
    none of its rows' private items is in more than a share h of them. Items that are not private are public.

    Parameters
    ----------
    h : number or str, optional
        Above 0 and at most 1, taken as written: 0.3, "0.3" and "30%" are 3/10; "1/3" is allowed. At 1, the
        default if nothing is private, only the rows are counted.
    k : int
        At least 1 (1: only private items are protected).
    p : int or float
        At least 1, or `math.inf`.
    private : iterable of str
        Labels of the private items; they need not occur. With none this is k^p-anonymity of the public items.

    References
    ----------
    Xu, Fung, Wang, Fu, Pei, "Publishing Sensitive Transactions for Itemset Utility", ICDM 2008, section 3,
    doi:10.1109/ICDM.2008.98

    Examples
    --------
    >>> Coherence(h=0.4, k=5, p=4, private=["HIV"]).phrase
    'coherence (h=0.4, k=5, p=4)'
    """

    h: Fraction
    k: int
    p: int | float
    private: tuple[str, ...]

    model: ClassVar[str] = "coherence"

    def __init__(
        self,
        h: Fraction | float | str | None = None,
        k: int | None = None,
        p: int | float = 2,
        private: Iterable[str] = (),
    ) -> None:
        object.__setattr__(self, "k", integer("k", k, 1))
        object.__setattr__(self, "p", size("p", p))
        object.__setattr__(self, "private", labels_of(private, "private"))
        if h is None and self.private:
            raise RequestError(
                "h is needed: the greatest probability of a private item.", hint="Such as 0.4, or 1/3."
            )
        object.__setattr__(self, "h", Fraction(1) if h is None else as_written(h))

    @property
    def phrase(self) -> str:
        """Name of the guarantee with its parameters."""
        return f"coherence (h={written(self.h)}, k={self.k}, p={self.p})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The private items."""
        return self.private

    def as_dict(self) -> dict[str, Any]:
        """Return model and parameters as JSON types ("inf" for infinity, h as text if it is no decimal)."""
        return {
            "model": self.model,
            "h": as_json(self.h),
            "k": self.k,
            "p": "inf" if self.p == math.inf else self.p,
            "private": list(self.private),
        }

    def is_private(self, data: Transactions) -> NDArray[np.bool_]:
        """Tell which items of the data are private: bool (n_items,)."""
        import numpy as np

        private = set(self.private)
        return np.fromiter((label in private for label in data.vocabulary.labels), bool, data.n_items)

    def betrays(self, count: int, support: int) -> bool:
        """Whether a private item in `count` of `support` rows is too likely."""
        return count * self.h.denominator > support * self.h.numerator

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data for which not even the empty set is safe.

        Raises
        ------
        InfeasibleError
            If there are rows, but fewer than k, or a private item is in more than a share h of all rows.
        """
        n = data.n_rows
        if 0 < n < self.k:
            raise InfeasibleError(
                f"{self.phrase} cannot be met: {'1 row is' if n == 1 else f'{n:,} rows are'} fewer than "
                f"k = {self.k}.",
                greatest_k=n,
            )
        supports = data.supports()
        private = self.is_private(data).nonzero()[0]
        likely = [i for i in private.tolist() if self.betrays(int(supports[i]), n)]
        if not likely:
            return
        worst = max(likely, key=lambda i: (supports[i], -i))
        labels = data.vocabulary.labels
        count = int(supports[worst])
        named = shorten(labels[worst], 40) + (
            f" (the most frequent of {len(likely)})" if len(likely) > 1 else ""
        )
        all_named = f" Too frequent: {listed([labels[i] for i in likely])}." if len(likely) > 1 else ""
        share = Fraction(count, n)
        raise InfeasibleError(
            f"{self.phrase} cannot be met: the private item {named} is in {count:,} of {n:,} rows, a "
            f"share of {float(share):.4g}, more than h = {written(self.h)} without any knowledge.{all_named}",
            hint=f"The least possible h is {written(share)}."
            if share < 1
            else "Every row contains it: no h below 1 is possible. Do not publish it.",
        )


def labels_of(items: Any, kind: str) -> tuple[str, ...]:
    """Take labels of items as they were given, each once."""
    if isinstance(items, str):
        raise RequestError(f"The {kind} items must be a collection of labels, got the text {shorten(items)}.")
    require_type(f"The {kind} items must be a collection of labels", items, Iterable)
    labels = tuple(items)
    wrong = [label for label in labels if not isinstance(label, str) or not label]
    if wrong:
        raise RequestError(f"A {kind} item must be a non-empty text, got {described(wrong[0])}.")
    return tuple(dict.fromkeys(labels))


# --- in words


def _promise(g: Facts) -> str:
    known = known_words(g["p"]).replace("item", "public item")
    rows = f"finds at least {count(g['k'], 'row')} that fit, or none" if g["k"] > 1 else ""
    private = (
        f"learns no private item ({count(len(g['private']))} named) with a probability above {g['h']}"
        if g["private"] and Fraction(str(g["h"])) < 1
        else ""
    )
    promised = ", and ".join(filter(None, (rows, private)))
    return f"Anyone who knows {known} of a person {promised or 'may learn anything: it bounds nothing'}."


def _not_covered(g: Facts) -> Points:
    lines = [] if g["p"] == "inf" else not_covered_words({"m": g["p"], "k": g["k"]})
    text = "Someone who already knows a private item of a person may find fewer rows and learn more."
    return [*lines, ("Knowing private items.", text)]


def _violation(entry: Facts) -> str:
    known = ", ".join(entry["itemset"]) or "nothing known"
    if "betrays" not in entry:
        return f"support {entry['support']}: {known}"
    return f"{known}: {entry['betrays']} in {entry['private_rows']} of {count(entry['support'], 'row')}"


model = Model(
    name="coherence",
    title="(h, k, p)-coherence",
    make=Coherence,
    options={
        "h": Option(
            Probability(),
            "Greatest probability of a private item, such as 0.4 or 1/3; needed if an item is private.",
        ),
        "k": K,
        "p": Option(Size(), "Public items that an attacker may know: 1, 2, ... or inf.", needed=True),
        "private": Option(Items(), "Private items: a file, or a list with commas.", secret=True),
        "private_share": Option(
            Share("the items"),
            "For experiments: draw this share of all items by --seed, among those in at most one row of 5.",
            instead_of="private",
            secret=True,
            drawn_with=(),
        ),
    },
    algorithm="border",
    words=Words(
        parameters=("h", "k", "p", "private"),
        promise=_promise,
        fulfilled=lambda _: "no set of public items finds fewer rows or reveals more",
        broken=lambda g: (
            f"{'' if g['complete'] else 'at least '}{count(g['violations'], 'smallest set')} of public items "
            "that single out too few rows or give a private item away"
        ),
        not_covered=_not_covered,
        reading=lambda g: [
            ("h:", f"the greatest probability with which a private item may be learned, here {g['h']}."),
            ("k:", f"how many rows must fit, here {count(g['k'])}."),
            ("p:", f"how many public items someone may know, here {g['p']}."),
        ],
        violation=_violation,
        beyond=lambda _: [],
        hides_sensitive=True,
        known="p",
    ),
    family="coherence",
    axes={
        "k": "rows that fit at least (k)",
        "p": "what someone may know (p)",
        "h": "greatest probability (h)",
    },
    example={"h": "0.5", "k": 2, "p": 2, "private": ["s"]},
)

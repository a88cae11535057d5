"""The recoding of items in classes of rows: each class has a separate recoding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.kernels.rows import frozen
from setveil.releases.published.recoding import LocalRecoding

Cuts = tuple[tuple[str, bool], ...]  # items that rows were cut on, one after the other, and who holds them


@dataclass(frozen=True, eq=False)
class ClassRecoding(LocalRecoding):
    """A recoding for each class of rows, published with each row; every class has rows."""

    release: ClassVar[str] = "classes"

    # of each class: items that it was cut on, and whether its rows contain them. Internal
    cuts: tuple[Cuts, ...] = ()
    secrets: tuple[str, ...] = ()  # sensitive items, which are never counted

    kind: ClassVar[str] = "classes"
    bounds_all: ClassVar[bool] = False  # other classes might lose less

    @classmethod
    def of(
        cls,
        made: LocalRecoding,
        class_of_row: NDArray[np.int64],
        cuts: tuple[Cuts, ...],
        secrets: tuple[str, ...] = (),
    ) -> ClassRecoding:
        """Say which class each row is in, of a recoding of its occurrences."""
        return cls(
            made.items, made.published, made.label_starts, made.label_items, made.image, made.domain,
            frozen(class_of_row, np.int64), cuts, secrets,
        )  # fmt: skip

    def promised(self) -> dict[str, Any]:
        """Return the recoding, and the sensitive items, which are not counted."""
        secrets = {"guarantee": {"sensitive": list(self.secrets)}} if self.secrets else {}
        return {**super().promised(), **secrets}

    @property
    def class_of_row(self) -> NDArray[np.int64]:
        """The class of each row: int64 (n,), read-only."""
        assert self.part_of_row is not None  # noqa: S101  (`of` sets it)
        return self.part_of_row

    @property
    def number(self) -> int:
        """Number of classes."""
        return len(self.cuts)

    def numbered(self, place: NDArray[np.int64]) -> ClassRecoding:
        """Give the classes new numbers; `place`: that of each."""
        cuts = dict(zip(place.tolist(), self.cuts, strict=True))
        return replace(
            self,
            part_of_row=frozen(place[self.class_of_row], np.int64),
            cuts=tuple(cuts[number] for number in range(len(cuts))),
        )

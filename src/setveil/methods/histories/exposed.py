"""Who is found when the rows of all releases are linked."""

from __future__ import annotations

import numpy as np

from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ints
from setveil.methods.histories._forest import nothing
from setveil.methods.histories._joined import join
from setveil.methods.histories._walk import NO_OPTIONS, Walk
from setveil.rows.data.people import SeriesPeople


def exposed(series: SeriesPeople, promise: SeriesAnonymity) -> Ints:
    """Find the people, ascending, for whom up to m known items fit fewer than k.

    With k = 2 these are alone. It counts as the search does; the verifier has loops of its own.
    """
    joined = join(series.releases, series.n_people, len(series.items), promise, nothing(), (), -1)
    rows = Walk(joined, NO_OPTIONS).exposed(promise.m)
    people: Ints = np.flatnonzero(rows[joined.row])
    return people

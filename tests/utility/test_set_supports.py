"""Supports of many itemsets, one by one or by a table of all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.base.threads import use_threads
from setveil.judges.utility import _set_supports
from setveil.judges.utility._set_supports import supports_of_sets
from setveil.kernels.rows import frozen
from strategies import examples, random_case, seeded


@pytest.mark.parametrize("worth", [0, 10**9])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_supports(worth: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_set_supports, "WORTH", worth)
    monkeypatch.setattr(_set_supports, "AT_ONCE", 2)
    use_threads(threads)
    rng = seeded(1750)
    tables = 0
    for _ in range(examples(150, 40)):
        data = random_case(rng, most_rows=20).data
        n = data.n_items + rng.choice((0, 0, 2))
        pairs = rng.random() < 0.5 and n > 1
        sets = [
            sorted(rng.sample(range(n), 2 if pairs else rng.randint(0, min(4, n))))
            for _ in range(rng.randint(0, 8))
        ]
        ends = frozen(np.cumsum([0, *map(len, sets)]), np.int64)
        ids = frozen([x for some in sets for x in some], np.int32)
        labels = [*data.vocabulary.labels, "none", "neither"]
        wanted = [{labels[x] for x in some} for some in sets]
        assert supports_of_sets(data, ends, ids).tolist() == [
            sum(some <= set(row) for row in data) for some in wanted
        ]
        tables += _set_supports._are_pairs(data, ends, ids) if sets and n == data.n_items else 0
    assert (tables > 5) == (worth > 0)

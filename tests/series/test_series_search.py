"""Labels of the next release, and who is held back: against all cuts and all sets of people."""

from __future__ import annotations

from random import Random

import pytest

from naive import series_search as naive
from series_search_cases import PROMISES, random_case
from setveil.series.search.hold_back import smallest
from strategies import examples


@pytest.mark.parametrize("promise", PROMISES, ids="-".join)
def test_the_fewest_people_are_held_back(promise):
    rng = Random(f"held {promise}")
    some = 0
    for _ in range(examples(200, 20)):
        case = random_case(rng, promise, rng.randint(1, 3))
        held = set(smallest(case.series, case.promise).tolist())
        stays = naive.who_stays(case.releases, case.recodings, *case.told)
        assert held == set(case.releases[-1]) - stays
        some += 0 < len(held) < len(case.releases[-1])
    assert some

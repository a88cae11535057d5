"""AA on public click-streams: as good as it was measured, verified, never better than the proven optimum."""

from __future__ import annotations

import pytest

from real_data import DATA, load
from releases import released
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import verify_km
from setveil.judges.utility.ncp import ncp
from setveil.methods.algorithms import aa
from setveil.releases.published import Release
from strategies import COMPILED

pytestmark = [
    pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)"),
    pytest.mark.skipif(not COMPILED, reason="real data take too long without compilation"),
]

# k = 5: m, NCP of AA at most, and the proven optimum (SPEC §3).
CASES = [
    ("bms_webview1", 2, 0.0504, 0.026009),
    ("bms_webview1", 3, 0.1082, 0.108119),
    ("bms_webview2", 2, 0.0201, 0.016493),
    ("bms_webview2", 3, 0.0373, 0.035817),
]


def run(name: str, m: int, refine: bool) -> tuple[Release, float]:
    data, tree = load(name)
    release = released(aa, data, tree, KmAnonymity(5, m), aa.Parameters(refine=refine))
    verdict = verify_km(release.published, KmAnonymity(5, m))
    assert verdict.holds
    assert verdict.greatest_k is not None
    assert verdict.greatest_k >= 5
    assert release.published.n_rows == data.n_rows
    return release, ncp(data, release.recoding)


def test_files_are_the_ones_meant() -> None:
    data, tree = load("bms_webview1")
    assert (data.n_rows, data.n_items, data.n_occurrences) == (59_601, 497, 149_638)
    assert tree.n_leaves == 497
    data, tree = load("bms_webview2")
    assert (data.n_rows, data.n_items) == (77_512, 3_340)
    assert tree.n_leaves == 3_340


@pytest.mark.parametrize(("name", "m", "most", "optimum"), CASES)
def test_loss(name: str, m: int, most: float, optimum: float) -> None:
    release, loss = run(name, m, refine=False)
    refined, less = run(name, m, refine=True)
    assert optimum - 1e-6 <= less <= loss <= most
    assert len(refined.recoding.published) >= len(release.recoding.published)

"""The solver."""

from __future__ import annotations

import numpy as np
import pytest

from setveil.base.solver import solver


def test_it_is_quiet_and_repeats_itself(capfd: pytest.CaptureFixture[str]) -> None:
    made = solver(presolve="off")
    nothing = np.zeros(0, np.int32)
    made.addCols(2, np.ones(2), np.full(2, 3.0), np.full(2, 5.0), 0, nothing, nothing, np.zeros(0))
    made.run()
    assert list(made.getSolution().col_value) == [3.0, 3.0]
    assert [made.getOptionValue(name)[1] for name in ("threads", "random_seed", "presolve")] == [1, 0, "off"]
    assert capfd.readouterr() == ("", "")

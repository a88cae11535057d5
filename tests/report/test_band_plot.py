"""The picture of --plot-band."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli_helpers import setveil, write
from setveil.base.errors import RequestError
from setveil.report.drawing.band import draw_band

ROWS = "wine,meat,viagra\nwine,meat\nstrawberries,cream\nstrawberries,meat\nwine,meat,cream\n"


def test_pictures_of_both_kinds(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    grid = np.array([[1.0, 0.0], [0.0, 0.25]])
    empty = np.zeros((0, 0))
    for kind in ("png", "svg"):
        path = tmp_path / f"band.{kind}"
        draw_band([("before <", grid), ("after", empty)], path)
        again = path.read_bytes()
        draw_band([("before <", grid), ("after", empty)], path)
        assert path.read_bytes() == again
    with image.open(tmp_path / "band.png") as picture:
        width, height = picture.size
        dark, white = picture.getpixel((60, 80)), picture.getpixel((width // 2 - 60, 80))
        assert height > 400
        assert sum(dark) < sum(white) == 3 * 255
    text = (tmp_path / "band.svg").read_text()
    assert text.count("<image") == 2
    assert "before &lt;" in text


def test_other_kinds_are_refused(tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image")
    with pytest.raises(RequestError, match=r"\.png or \.svg"):
        draw_band([], tmp_path / "band.gif")


def test_on_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image")
    write(tmp_path / "in.csv", ROWS)
    command = ["anonymize", "in.csv", "--algorithm", "cahd", "--p", 2, "--sensitive", "viagra"]
    setveil(*command, "--out", "out", "--plot-band", "band.svg", cwd=tmp_path).ok()
    assert "In band order" in (tmp_path / "band.svg").read_text()
    for options, named in ((["--plot-band", "band.svg"], "exists"), (["--plot-band", "band.gif"], ".svg")):
        done = setveil(*command, "--out", "other", *options, cwd=tmp_path)
        assert done.code == 2
        assert named in done.err
        assert not (tmp_path / "other").exists()

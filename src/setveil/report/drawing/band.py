"""The matrix of rows and items before and after reordering, as a picture."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import OutputError, RequestError
from setveil.base.staging import staged_file
from setveil.base.version import install

_SIDE = 480  # pixels of each square
_GAP, _HEAD = 24, 44
_DARK = np.array([12, 60, 110])


def require_pillow() -> Any:
    """Import the library that draws."""
    try:
        import PIL.Image
    except ImportError:
        raise RequestError("Drawing needs the library Pillow.", hint=install("plots")) from None
    return PIL.Image


def draw_band(squares: list[tuple[str, NDArray[np.float64]]], path: Path) -> None:
    """Draw densities side by side, each with a title, as `.png` or `.svg`.

    The file appears complete or not at all. `squares`: title, and the share of filled places: rows from top
    to bottom, items from left to right. Darker is more, on a scale of roots, so that single places show.
    """
    image = require_pillow()
    pictures = [(title, _picture(image, grid)) for title, grid in squares]
    width = len(pictures) * (_SIDE + _GAP) + _GAP
    height = _SIDE + _HEAD + _GAP
    kind = path.suffix.lower()
    if kind == ".svg":
        content = _svg(pictures, width, height).encode()
    elif kind == ".png":
        content = _png(image, pictures, width, height)
    else:
        raise RequestError(f"The picture must be a .png or .svg file, got {path.name}.")
    try:
        with staged_file(path, private=True) as beside:
            beside.write_bytes(content)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def _picture(image: Any, grid: NDArray[np.float64]) -> Any:
    most = grid.max(initial=0.0)
    shade = np.sqrt(grid / most)[:, :, None] if most > 0 else np.zeros((*grid.shape, 1))
    pixels = (255 + (_DARK - 255) * shade).round().astype(np.uint8)
    if not grid.size:
        pixels = np.full((1, 1, 3), 255, np.uint8)
    return image.fromarray(pixels).resize((_SIDE, _SIDE), image.Resampling.BOX)


def _png(image: Any, pictures: list[tuple[str, Any]], width: int, height: int) -> bytes:
    from PIL import ImageDraw

    sheet = image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(sheet)
    for i, (title, picture) in enumerate(pictures):
        x = _GAP + i * (_SIDE + _GAP)
        pen.text((x, _HEAD - 24), title, fill="black", font_size=15)
        sheet.paste(picture, (x, _HEAD))
        pen.rectangle((x - 1, _HEAD - 1, x + _SIDE, _HEAD + _SIDE), outline=(150, 150, 150))
    out = io.BytesIO()
    sheet.save(out, "PNG", optimize=True)
    return out.getvalue()


def _svg(pictures: list[tuple[str, Any]], width: int, height: int) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="15">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for i, (title, picture) in enumerate(pictures):
        x = _GAP + i * (_SIDE + _GAP)
        out = io.BytesIO()
        picture.save(out, "PNG", optimize=True)
        data = base64.b64encode(out.getvalue()).decode()
        parts += [
            f'<text x="{x}" y="{_HEAD - 10}">{html.escape(title)}</text>',
            f'<image x="{x}" y="{_HEAD}" width="{_SIDE}" height="{_SIDE}" '
            f'href="data:image/png;base64,{data}"/>',
            f'<rect x="{x}" y="{_HEAD}" width="{_SIDE}" height="{_SIDE}" fill="none" stroke="#969696"/>',
        ]
    return "\n".join([*parts, "</svg>", ""])

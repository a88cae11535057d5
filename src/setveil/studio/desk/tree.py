"""Questions about the hierarchy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ASKED: dict[str, Callable[..., dict[str, Any]]] = {}

"""Wheels with compiled kernels, where they are asked for; all others hold none and fit every machine.

`.ci/kernels` compiles into src/setveil/_kernels. Where the environment variable SETVEIL_WHEEL_PLATFORM names
a platform, such as manylinux_2_28_x86_64, a wheel holds what is there, for it and this version of Python.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Kernels(BuildHookInterface):
    """Adds compiled kernels to a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Say what the wheel holds besides, and what it fits."""
        platform = os.environ.get("SETVEIL_WHEEL_PLATFORM")
        if not platform or version == "editable":
            return
        kernels = sorted(Path(self.root, "src", "setveil", "_kernels").glob("*.kernel"))
        if not kernels:
            raise RuntimeError("there are no kernels for SETVEIL_WHEEL_PLATFORM: run .ci/kernels first")
        python = f"cp{sys.version_info.major}{sys.version_info.minor}"
        build_data["tag"] = f"{python}-{python}-{platform}"
        build_data["pure_python"] = False
        build_data["force_include"].update({str(path): f"setveil/_kernels/{path.name}" for path in kernels})

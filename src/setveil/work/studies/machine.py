"""What runs were done on: enough to judge seconds and memory by, and nothing that names a computer."""

from __future__ import annotations

import platform
from functools import cache

from setveil.base.threads import usable_cpus


@cache
def machine() -> str:
    """Name system, architecture, processors and Python, not the host.

    >>> machine().count(",")
    2
    """
    cpus = usable_cpus()
    processors = "1 processor" if cpus == 1 else f"{cpus} processors"
    return f"{platform.system()} {platform.machine()}, {processors}, Python {platform.python_version()}"

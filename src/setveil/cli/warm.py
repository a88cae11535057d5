"""The command ``warm``."""

from __future__ import annotations

from typing import Any

from setveil.cli.help import GENERAL
from setveil.cli.options import flag
from setveil.cli.session import Answer


def warm(
    progress: Any,
    everything: bool = flag(GENERAL, "Compile for all commands and algorithms.", "--all"),
) -> Answer:
    """Compile ahead, so that no first run has to wait.

    Compiled functions are in the user's cache folder, or in NUMBA_CACHE_DIR.

    $ setveil warm
    $ setveil warm --all
    """
    from setveil.base.wording import count
    from setveil.commands.warm import warm as compile_ahead

    made = compile_ahead(everything=everything, progress=progress)
    words = f"{count(made.functions, 'compiled function')} in {made.folder}, {made.compiled:,} of them new."
    if made.failed:
        words += f"\n{count(made.failed)} could not be compiled ahead, and will be when they are needed."
    return Answer(
        {
            "functions": made.functions, "compiled": made.compiled, "failed": made.failed,
            "folder": str(made.folder),
        },
        words,
    )  # fmt: skip

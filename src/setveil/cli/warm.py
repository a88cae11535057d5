"""The command ``warm``."""

from __future__ import annotations

from typing import Any

from setveil.cli.options import GENERAL, flag
from setveil.cli.session import Answer


def warm(
    progress: Any,
    everything: bool = flag(
        GENERAL, "For all commands and algorithms, not only for those that are used most.", "--all"
    ),
) -> Answer:
    """Compile for this machine what commands need, so that no first run has to wait for it.

    What is there already is not compiled again. Compiled functions are kept in the user's cache folder, or
    where the environment variable NUMBA_CACHE_DIR says.

    $ setveil warm
    $ setveil warm --all
    """
    from setveil.commands.warm import warm as compile_ahead
    from setveil.wording import count

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

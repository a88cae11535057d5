"""The command ``checker``."""

from __future__ import annotations

from typing import Any

from setveil.base.errors import RequestError
from setveil.cli.help import OUTPUT
from setveil.cli.options import argument, flag
from setveil.cli.session import Answer


def checker(
    progress: Any,
    folder: str | None = argument(
        "DIR", "Add the checker to this run's folder, or its published/.", default=None
    ),
    to_print: bool = flag(OUTPUT, "Print check.py instead.", "--print"),
) -> Answer:
    """Add a small checker to the published folder, for recipients.

    $ setveil checker release
    $ setveil checker --print
    """
    from setveil.commands.checker import checker as put
    from setveil.releases.recipients import CHECK

    if to_print == (folder is not None):
        raise RequestError(
            "Name a folder, or print the program, not both." if to_print else "Name the folder of a release.",
            hint="setveil checker release",
        )
    if folder is None:
        return Answer({"check.py": CHECK.read_text("utf-8")}, CHECK.read_text("utf-8").rstrip("\n"))
    program, page = put(folder)
    return Answer({"files": [str(program), str(page)]}, f"{program}\n{page}")

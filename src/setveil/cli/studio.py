"""The command ``studio``."""

from __future__ import annotations

from pathlib import Path

import typer

from setveil.cli.options import flag, integer, option
from setveil.cli.session import fail
from setveil.errors import RequestError, SetveilError
from setveil.version import install


def studio(
    project: Path | None = option(
        None,
        "Folder of a project to open; made where it is missing. Otherwise all projects are shown: they are "
        "in the folder setveil of your home.",
        "DIR",
    ),
    port: int = integer(None, "Port on this computer; 0: any free one.", 0, default=0),
    no_browser: bool = flag(
        None, "Do not open the browser: print a one-time address instead, valid for one minute."
    ),
) -> None:
    """Work in the browser: data, hierarchy, promise, run, release and comparison as pages.

    The pages are served to this computer alone, and nothing leaves it.

    $ setveil studio
    $ setveil studio --project pharmacy --no-browser
    """
    try:
        try:
            from setveil.studio.enter import start
        except ModuleNotFoundError as missing:
            if (missing.name or "").startswith("setveil"):
                raise
            raise RequestError(
                f"The studio needs the package {missing.name}, which is not installed.",
                hint=install("studio"),
            ) from None
        start(project, port, browser=not no_browser)
    except SetveilError as error:
        fail(error)
    except KeyboardInterrupt:
        raise typer.Exit from None


def main() -> None:
    """Open the studio from an icon, without a console."""
    from setveil.studio.enter import start

    start(None, 0, browser=True)

"""The command ``studio``."""

from __future__ import annotations

from pathlib import Path

import click

from setveil.base.errors import RequestError, SetveilError
from setveil.base.version import install
from setveil.cli.options import flag, integer, option
from setveil.cli.session import fail


def studio(
    project: Path | None = option(
        None,
        "Open the project in this folder, or create it.",
        "DIR",
    ),
    port: int = integer(None, "Use this port; 0 is any free one.", 0, default=0),
    no_browser: bool = flag(None, "Print a one-time address instead of opening the browser."),
) -> None:
    """Work in the browser, on this computer only.

    No data leave this computer.

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
        raise click.exceptions.Exit from None


def main() -> None:
    """Open the studio from an icon, without a console."""
    from setveil.studio.enter import start

    start(None, 0, browser=True)

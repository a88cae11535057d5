"""Put the checker for recipients next to a release."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from setveil.base.errors import DataError, OutputError, RequestError, described
from setveil.releases.published.about import about_beside, read_about
from setveil.releases.recipients import CHECK, PAGE, put_checker


def checker(release: str | PathLike[str]) -> tuple[Path, Path]:
    """Put check.py and check.html next to the data of a release, for those who are given it.

    Parameters
    ----------
    release : path
        The folder of a run, its ``published``, or the published file.

    Returns
    -------
    tuple of Path
        The two files: a program of Python's standard library, and a page for a browser, which count again
        whether the guarantee holds (docs/howto/check_a_release.md).

    Raises
    ------
    DataError
        If that is no release.
    RequestError
        If the checker does not support this release, or the argument is no path.
    OutputError
        If the files cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea"], ["tea"], ["milk"], ["milk"]]
    >>> _ = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1)).write("release")
    >>> [file.name for file in sv.checker("release")]
    ['check.py', 'check.html']
    """
    if not isinstance(release, str | PathLike):
        raise RequestError(f"The release must be a path, got {described(release)}.")
    if not Path(release).exists():
        raise DataError(f"{release} does not exist.", hint="Name the folder that `setveil anonymize` wrote.")
    about = about_beside(str(release))
    if about is None:
        raise DataError(
            f"There is no about.json with the data of {release}, so its guarantee is unknown.",
            hint="Name the folder that `setveil anonymize` wrote.",
        )
    try:
        put_checker(about.parent, read_about(about))
    except OSError as error:
        raise OutputError(f"Nothing can be written in {about.parent}: {error.strerror}.") from error
    return about.parent / CHECK.name, about.parent / PAGE.name

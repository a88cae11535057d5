"""A run's folder from outside: where its published file is, and what about.json says of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from setveil.errors import DataError
from setveil.published import kind_of_recoding


def published_folders(path: Path) -> tuple[Path, Path]:
    """Where the published files of a folder may be: a run's folder has them in `published`."""
    return path / "published", path


def published_file(path: Path) -> Path:
    """Find the file with the published rows: `path` itself, or the one in a run's folder or its `published`.

    Raises
    ------
    DataError
        If a folder holds no published data.
    """
    if not path.is_dir():
        return path
    for folder in published_folders(path):
        found = sorted(folder.glob("data.*"))
        if len(found) == 1:
            return found[0]
    raise DataError(
        f"{path} is a folder without published data: expected published/data.* or data.* in it.",
        hint="Name the file itself, or the folder that `setveil anonymize` wrote.",
    )


def published_layout(file: Path) -> dict[str, str]:
    """Read from about.json beside a published file how that file is to be read; {} where there is none."""
    about = file.parent / "about.json"
    if not about.is_file():
        return {}
    content = read_about(about)
    return {
        key: content[key] for key in ("format", "separator", "id_column", "item_column") if key in content
    }


def read_about(about: Path) -> dict[str, Any]:
    """Read an about.json.

    Raises
    ------
    DataError
        If it is none, or says nothing of what the published file means.
    """
    try:
        with about.open(encoding="utf-8") as file:
            content = json.load(file)
        kind = kind_of_recoding(content.get("recoding", "global")) or kind_of_recoding("global")
        content[kind.info.means]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{about} is not an about.json that setveil wrote: {error}.") from error
    return content  # type: ignore[no-any-return]


def about_beside(path: str) -> Path | None:
    """Find the about.json beside published rows; None where there is none."""
    about = published_file(Path(path)).parent / "about.json" if path != "-" else None
    return about if about is not None and about.is_file() else None

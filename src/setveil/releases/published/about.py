"""A run's folder from outside: where its published file is, and what about.json says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

from setveil.base.errors import DataError, listed, shorten, unreadable
from setveil.base.plain_json import read_json
from setveil.base.wording import count
from setveil.releases.published import kind_of_recoding
from setveil.releases.published.counts import FILE as COUNTS
from setveil.releases.published.listing import others_in
from setveil.rows.data.known_words import PUBLISHED_MISSING
from setveil.rows.data.layout import FORMATS


def published_folders(path: Path) -> tuple[Path, Path]:
    """Return the possible places of published files: a run's folder has them in `published`."""
    return path / "published", path


def published_file(path: Path) -> Path:
    """Find the file, or folder of files, with the published rows: `path`, or in a run's folder."""
    if not path.is_dir() or (path / f"00000{path.suffix}").is_file():
        return path
    for folder in published_folders(path):
        found = sorted(folder.glob("data.*"))
        if len(found) == 1:
            return found[0]
    if reconstruction_at(path) is not None:
        raise _synthetic(path)
    raise DataError(
        f"{path} is a folder without published data: expected published/data.* or data.* in it.",
        hint="Name the file itself, or the folder that `setveil anonymize` wrote.",
    )


def about_file(file: Path) -> dict[str, Any]:
    """Read the about.json next to a published file; {} where there is none, or it is about another file."""
    about = file.parent / "about.json"
    content = read_about(about) if about.is_file() else {}
    return content if content.get("file", file.name) == file.name else {}


def published_layout(about: Mapping[str, Any]) -> dict[str, Any]:
    """Take from an about.json how its file is to be read: arguments of `setveil.read`."""
    known = {"format", *(option for form in FORMATS.values() for option in form.takes)}
    return {key: value for key, value in about.items() if key in known}


def reading_of_rows(about: Mapping[str, Any]) -> dict[str, Any]:
    """Take from an about.json how the rows that setveil wrote are read: in wide rows NA is a label, too."""
    layout = published_layout(about)
    labels = ",".join(sorted(PUBLISHED_MISSING - {""}))
    return layout | ({"not_missing": labels} if layout.get("format") == "wide" else {})


def require_columns(name: str, others: Sequence[str]) -> None:
    """Refuse a published file with columns that its about.json says nothing of, which nobody would check."""
    if others:
        raise DataError(
            f"{name}: its about.json does not mention {count(len(others), 'column')}, "
            f"{listed(others)}, which may identify people.",
            hint="The two files must come from the same release.",
        )


def require_size(about: Mapping[str, Any], name: str, rows: int, empty: int, *, shown: bool = True) -> int:
    """Compare a published file with its about.json; return how many rows without items the file cannot show.

    `shown`: whether the file shows rows without items. All is well if about.json has no number of rows.
    """
    if "rows" not in about:
        return 0
    missing: int = about["rows"] - rows
    if missing < 0 or empty + missing != about["empty_rows"] or (missing and shown):
        said = f"{about['rows']:,} rows, {about['empty_rows']:,} of them without items"
        raise DataError(
            f"{name} contains {rows:,} rows, {empty:,} of them without items, but about.json says {said}.",
            hint="The two files must come from the same release, complete.",
        )
    return missing


def read_about(about: Path) -> dict[str, Any]:
    """Read an about.json."""
    try:
        content = read_json(about.read_text(encoding="utf-8"))
        drawn = "reconstruction" in content
        if not drawn:
            kind = kind_of_recoding(content.get("recoding", "global")) or kind_of_recoding("global")
            content[kind.info.means]
        wrong = "" if drawn else _wrong_entries(content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unreadable(about, "is not an about.json that setveil wrote", error) from None
    if drawn:
        raise _synthetic(about.parent)
    if wrong:
        raise DataError(f"{about} is not an about.json that setveil wrote: {wrong}.")
    return content  # type: ignore[no-any-return]


def reconstruction_at(folder: Path) -> dict[str, Any] | None:
    """Read the about.json of a folder of rows that were drawn from a release; None if the folder is none."""
    about = folder / "about.json"
    try:
        content = read_json(about.read_text(encoding="utf-8")) if about.is_file() else None
    except (OSError, ValueError):  # who reads it says so
        return None
    if isinstance(content, dict) and isinstance(content.get("reconstruction"), dict):
        return content
    return None


def _synthetic(folder: Path) -> DataError:
    return DataError(
        f"{folder} contains a reconstruction: its rows are synthetic, drawn at random from a release, and "
        "guarantee nothing of their own.",
        hint="Name the release that they were drawn from. `setveil measure` takes the folder of draws.",
    )


def _wrong_entries(content: Mapping[str, Any]) -> str:
    """Say which entries of an about.json cannot be; empty if all can."""
    if published_layout(content) and not isinstance(content.get("format"), str):
        return f"format is {shorten(str(content.get('format')))}, expected the format of the file"
    untold = [key for key, value in published_layout(content).items() if not _is_layout(key, value)]
    if untold:
        return f"{untold[0]} is {shorten(str(content[untold[0]]))}, expected how its file is read"
    paths = [key for key in ("file", "items_file") if not _is_name(content.get(key, "data.csv"))]
    if paths:
        return f"{paths[0]} is {shorten(str(content[paths[0]]))}, expected the name of a file next to it"
    numbers = [key for key in ("rows", "empty_rows", "domain") if not _is_size(content.get(key, 0))]
    if numbers:
        return f"{numbers[0]} is {shorten(str(content[numbers[0]]))}, expected a number"
    if ("rows" in content) != ("empty_rows" in content):
        return "it has one of rows and empty_rows, expected both"
    in_classes = content.get("recoding") == "classes"
    if in_classes and not _are_classes(content.get("classes")):
        return f"classes is {shorten(str(content.get('classes')))}, expected file, number and empty_rows"
    counts = content.get("counts")
    if counts is not None and not _is_counts(counts, classes=in_classes):
        entries = "file, least and untold" if in_classes else "file, least and suppressed"
        return f"counts is {shorten(str(counts))}, expected {entries}"
    if "roles" in content and not _are_roles(content):
        return "roles is no object of qi, set and keep, or delimiter is none"
    labels = content.get("labels", {})
    if not isinstance(labels, dict):
        return "labels is no object"
    if "" in labels:
        return "labels has a label without a name"
    if "others" in content and not _are_others(content["others"], labels):
        return f"others is {shorten(str(content['others']))}, expected least, and some of the labels"
    others = others_in(content)
    for label, items in labels.items():
        if (
            not isinstance(items, list)
            or not (items or label in others)
            or not all(isinstance(x, str) and x for x in items)
        ):
            return f"the label {shorten(label)} has {shorten(str(items))}, expected a list of items"
    return ""


def _is_layout(option: str, value: object) -> bool:
    """Return whether a value can say how a file is read: names of columns, or a text."""
    texts = value if option == "item_columns" and isinstance(value, list) else [value]
    return bool(texts) and all(isinstance(text, str) and text for text in texts)


def _is_name(value: object) -> bool:
    """Return whether a value names a file in the folder itself, and nothing elsewhere."""
    return isinstance(value, str) and value not in ("", "..") and PureWindowsPath(value).name == value


def _is_size(value: object) -> bool:
    from setveil.releases.published.group_files import MOST_ROWS

    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_ROWS


def _are_others(entry: object, labels: Mapping[str, object]) -> bool:
    """Return whether an entry says which labels may have members that are not listed."""
    return (
        isinstance(entry, dict)
        and _is_size(entry.get("least"))
        and isinstance(entry.get("labels"), list)
        and all(isinstance(label, str) and label in labels for label in entry["labels"])
    )


def _are_roles(content: Mapping[str, Any]) -> bool:
    roles = content["roles"]
    return (
        isinstance(roles, dict)
        and (isinstance(roles.get("set"), str) or ("facts" in content and _are_names(roles.get("set"))))
        and all(
            isinstance(roles.get(role), list) and all(isinstance(name, str) for name in roles[role])
            for role in ("qi", "keep")
        )
        and isinstance(content.get("delimiter"), str)
    )


def _are_names(names: object) -> bool:
    return isinstance(names, list) and len(names) > 1 and all(isinstance(name, str) for name in names)


def _is_counts(entry: object, *, classes: bool = False) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("file") == COUNTS
        and _is_size(entry.get("least"))
        and (_are_sizes(entry.get("untold")) if classes else isinstance(entry.get("suppressed"), bool))
    )


def _are_classes(entry: object) -> bool:
    return (
        isinstance(entry, dict)
        and entry.get("file") == "classes.csv"
        and _is_size(entry.get("number"))
        and _are_sizes(entry.get("empty_rows"))
        and len(entry["empty_rows"]) == entry["number"]
    )


def _are_sizes(entry: object) -> bool:
    return isinstance(entry, list) and all(map(_is_size, entry))


def named_beside(path: str, name: str) -> tuple[str, ...] | None:
    """Find the items that the guarantee of published rows names as its parameter `name`, in about.json."""
    if path == "-":
        return None
    file = published_file(Path(path))
    guarantee = about_file(file).get("guarantee")
    found = guarantee.get(name) if isinstance(guarantee, dict) else None
    if found is None:
        return None
    if not isinstance(found, list) or not all(isinstance(label, str) and label for label in found):
        raise DataError(
            f"{file.parent / 'about.json'} is not an about.json that setveil wrote: {name} is "
            f"{shorten(str(found))}, expected a list of items."
        )
    return tuple(found)


def promise_beside(path: str) -> dict[str, Any]:
    """Read ``model`` and parameters of the guarantee from the about.json next to published rows, if any."""
    found = about_file(published_file(Path(path))).get("guarantee") if path != "-" else None
    return found if isinstance(found, dict) and isinstance(found.get("model"), str) else {}


def about_beside(path: str) -> Path | None:
    """Find the about.json next to published rows; None where there is none, or it is about another file."""
    if path == "-":
        return None
    file = published_file(Path(path))
    return file.parent / "about.json" if about_file(file) else None

"""The errors that setveil raises on purpose.

::

    SetveilError                 exit code of the command line
    ├── RequestError             2  a parameter or an option is not acceptable
    │   └── OutputError          2  the output folder cannot be written
    ├── InfeasibleError          3  no release can satisfy the request
    ├── DataError                4  unreadable or inconsistent data
    │   ├── PersonalDataError    4  ... that a release would show of single persons
    │   ├── TableError           4  ... or a table of which nothing says which columns count
    │   └── HierarchyError       4  ... in a hierarchy
    │       └── MissingItemsError    ... that lacks items of the data
    └── GuaranteeError           1  a release failed its own verification and was not written

Every message says what, where, what was found, what is allowed; `hint` says what to do next.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

_COLUMNS = 24  # shown of a table
_STEPS = 3  # options that complete a reading
_FACES = re.compile("\ue000([^\ue001]*)\ue001([^\ue002]*)\ue002")
_OPTION = re.compile(
    r"""(?P<apart>(?<!\w)'[^'\n]*'|"[^"\n]*"|`[^`\n]*`)"""  # what is quoted, and whole commands, stay
    r"""|(?<![\w-])--(?P<no>no-)?(?P<name>[a-z][a-z-]*[a-z]|[a-z])"""
    r"""(?:(?:[ ]|=)(?P<value>'[^'\n]*'|[0-9][0-9./%]*(?<![.,])|[A-Z][A-Z_]+\b"""
    r"""|[a-z][a-z0-9-]*(?=[.,;)]|$|[ ]\()))?"""  # a word, where the sentence does not go on with it
)
_WORDED = frozenset({"algorithm", "encoding", "format", "knows", "people", "reading", "zeros"})  # take words
_FLAGS = frozenset({"force", "refine", "repair", "same-ids", "strict", "suppress"})
_speaking = [False]  # whether the command line speaks in this process


@contextmanager
def on_command_line() -> Iterator[None]:
    """Let the errors of this process name options as the command line does; else they speak Python."""
    before, _speaking[0] = _speaking[0], True
    try:
        yield
    finally:
        _speaking[0] = before


def faces(command_line: str, python: str) -> str:
    """Write a part of a message that the command line says otherwise than Python."""
    return f"\ue000{command_line}\ue001{python}\ue002"


def as_option(name: str, value: str = "") -> str:
    """Name an option, with a value or without: `--time-limit` on the command line, `time_limit` in Python."""
    words = f"--{name.replace('_', '-')}"
    return faces(f"{words} {value}", f"{name}={value!r}") if value else faces(words, name)


def spoken(text: str) -> str:
    """Write a message as the face of this process says it.

    Messages are written once, for the command line, and Python names its options by this rule. What the rule
    would not say well is written by `faces`.

    >>> spoken("Omit --time-limit, or --separator ';'; `setveil demo --out x` is one. --force does not.")
    "Omit time_limit, or separator=';'; `setveil demo --out x` is one. force=True does not."
    >>> spoken("--no-suppress, --max-suppressed 5%, --k 3 and --hierarchy FILE")
    'suppress=False, max_suppressed=0.05, k=3 and hierarchy=FILE'
    """
    if _speaking[0]:
        return _FACES.sub(r"\1", text)
    parts = _FACES.split(text)  # what both say, the command line's, Python's, what both say, ...
    return "".join(
        part if at % 3 == 2 else _OPTION.sub(_argument, part) for at, part in enumerate(parts) if at % 3 != 1
    )


def _argument(found: re.Match[str]) -> str:
    """Write an option as an argument of a function."""
    if found["apart"]:
        return found["apart"]
    name, value = found["name"].replace("-", "_"), found["value"]
    if found["no"]:
        return f"{name}=False" + (f" {value}" if value else "")
    if value is None:
        return f"{name}=True" if found["name"] in _FLAGS else name
    if value[0].islower() and found["name"] not in _WORDED:
        return f"{name} {value}"
    if value.endswith("%"):
        value = f"{Decimal(value[:-1]) / 100:f}"
    plain = value[0] == "'" or value.isupper() or value.replace(".", "", 1).isdigit()
    return f"{name}={value}" if plain else f"{name}={value!r}"


class SetveilError(Exception):
    """Base of every error that setveil raises on purpose.

    Parameters
    ----------
    message : str
        What is wrong, where, and what was expected.
    hint : str, optional
        What the user can do about it.

    Examples
    --------
    >>> import setveil as sv
    >>> try:
    ...     sv.read("nowhere.csv")
    ... except sv.SetveilError as error:
    ...     print(type(error).__name__, error.exit_code, bool(error.message))
    DataError 4 True
    """

    exit_code = 1
    unfit = ""  # an option that does not apply, so that the command line prints the command without it

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message, self.hint = message, hint
        super().__init__(self.message)

    @property
    def message(self) -> str:
        """What is wrong, where, and what was expected."""
        return self._message

    @message.setter
    def message(self, text: str) -> None:
        self._message = spoken(text)

    @property
    def hint(self) -> str:
        """What the user can do about it."""
        return self._hint

    @hint.setter
    def hint(self, text: str) -> None:
        self._hint = spoken(text)

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message


class RequestError(SetveilError, ValueError):
    """A parameter or an option is not acceptable.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.KmAnonymity(k=1)
    Traceback (most recent call last):
    setveil.base.errors.RequestError: k must be an integer of at least 2, got 1.
    """

    exit_code = 2


def superfluous(option: str, message: str, hint: str = "Omit it.") -> RequestError:
    """Make the error of an option that does not apply, which the command line prints a command without."""
    error = RequestError(message, hint=hint)
    error.unfit = option
    return error


class OutputError(RequestError):
    """The output cannot be written where it was asked for.

    Examples
    --------
    >>> import setveil as sv
    >>> path = sv.convert([["tea"], ["milk"]], "rows.csv")
    >>> sv.convert([["tea"], ["milk"]], "rows.csv")
    Traceback (most recent call last):
    setveil.base.errors.OutputError: rows.csv exists already.
    Hint: Choose another name, or force=True.
    """


class InfeasibleError(SetveilError, ValueError):
    """No release can satisfy the request; the message names the nearest feasible parameter.

    Examples
    --------
    >>> import setveil as sv
    >>> try:
    ...     sv.anonymize([["tea"], ["tea"], ["milk"]], sv.KmAnonymity(k=5, m=2))
    ... except sv.InfeasibleError as error:
    ...     print(error.hint)
    The greatest possible k is 3.
    """

    exit_code = 3

    def __init__(self, message: str, *, hint: str = "", greatest_k: int | None = None) -> None:
        if greatest_k is not None:
            hint = f"The greatest possible k is {greatest_k}."
        super().__init__(message, hint=hint)
        self.greatest_k = greatest_k  # that can be reached, if a smaller k is what is needed


class UnfinishedError(InfeasibleError):
    """No release was found in the time given; there may be one.

    Examples
    --------
    >>> import setveil as sv
    >>> issubclass(sv.UnfinishedError, sv.InfeasibleError)
    True
    """


class DataError(SetveilError, ValueError):
    """The data cannot be read or contradict themselves.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.read("nowhere.csv")
    Traceback (most recent call last):
    setveil.base.errors.DataError: ...
    """

    exit_code = 4
    # what was named that is not there, and what may have been meant; "": nothing is like it
    instead: tuple[str, str] | None = None


class PersonalDataError(DataError):
    """A release would contain values of the input that belong to one person each, and was not written.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [[f"P{number:04}", "tea"] for number in range(1000, 1100)]
    >>> try:
    ...     sv.anonymize(rows, k=2, m=1, list_members=True).write("out")
    ... except sv.PersonalDataError as error:
    ...     print(error.hint[-14:])
    add not_ids=1.
    """


class TableError(DataError):
    r"""A file may be a table, and nothing says which of its columns count.

    Parameters
    ----------
    message : str
        Which file, and what speaks for a table.
    columns : sequence of (str, sequence of str)
        The columns, each with some of its values.
    readings : sequence of (mapping, str)
        How it is likely to be read: options of `setveil.read`, and what they mean. An option that is None is
        to be omitted.
    trouble : str
        What must be mended before columns can be read; empty: nothing.
    options_named : str
        The options that say it, where there is no reading to show.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("visits.csv").write_text("patient,code,sex\n1,I10,f\n1,E11,f\n2,I10,m\n")
    >>> try:
    ...     sv.read("visits.csv")
    ... except sv.TableError as error:
    ...     print(error.readings[0][0])
    {'id_column': 'patient', 'item_column': 'code'}
    """

    def __init__(
        self,
        message: str,
        columns: Sequence[tuple[str, Sequence[str]]],
        readings: Sequence[tuple[Mapping[str, Any], str]],
        trouble: str = "",
        options_named: str = "--id-column, --item-column, --item-columns, --format",
    ) -> None:
        width = min(max((len(name) for name, _ in columns), default=0), 30)
        shown = [f"    {name:<{width}}  {listed(values, 3)}".rstrip() for name, values in columns[:_COLUMNS]]
        if len(columns) > _COLUMNS:
            shown.append(f"    and {len(columns) - _COLUMNS:,} more columns")
        super().__init__("\n".join([f"{message}:" if shown else f"{message}.", *shown]))
        self.columns = tuple(columns)
        self.readings = tuple(readings)
        self.tables: tuple[tuple[Mapping[str, Any], str], ...] = ()  # options of `setveil.read_table`
        self.logs: tuple[tuple[Mapping[str, Any], str], ...] = ()  # options of `setveil.read_facts`
        self.source: Any = None  # what was read, which standard input is only once
        self.likely_ids: tuple[str, ...] = ()  # columns that may say whose lines are, if none has a name
        self.trouble = trouble
        self.options_named = options_named
        self.call: tuple[str, Any, Mapping[str, Any]] | None = None  # in Python: function, source, arguments
        self.say_how()

    def in_python(self, function: str, source: Any, options: Mapping[str, Any]) -> None:
        """Write readings as calls of Python that can be pasted, with what was given already."""
        self.call = function, source, options
        self.say_how()

    def keep(self, works: Callable[[Mapping[str, Any]], bool]) -> None:
        """Omit readings that do not work.

        If `works` raises this error, for rows that would be events, the reading by people takes the place;
        for lines that are no data, or lack an ID, a reading without them.
        """
        found = []
        for options, meaning in self.readings:
            try:
                if works(options):
                    found.append((options, meaning))
            except TableError as question:
                found += _completed(options, meaning, question, works)
        self.readings = tuple(found)
        self.say_how()

    def name_ids(self, columns: Sequence[str]) -> None:
        """Make rows of the values of a column, one of some, in each reading that makes a row of each line."""
        same = ", if it identifies the same person in each release" if len(columns) > 1 else ""
        found: list[tuple[Mapping[str, Any], str]] = []
        for options, meaning in self.readings:
            if "id_column" in options:
                found.append((options, meaning))
                continue
            for column in columns:
                row = f"one row per value of {'column ' * (column in self.likely_ids)}{column}"
                how = meaning.replace("one row per line", row)
                found.append(({"id_column": column, **options}, f"{how}{same}"))
        self.readings = tuple(found)
        self.say_how()

    def write_as(self, written: Mapping[str, Any]) -> None:
        """Name in each reading how the file is written, in place of the separator that it was turned to."""
        if written:
            self.readings = tuple(
                (
                    {**written, **{name: value for name, value in options.items() if name != "separator"}},
                    meaning,
                )
                for options, meaning in self.readings
            )
            self.say_how()

    def say_how(self, command: Callable[..., str] | None = None) -> None:
        """Write the hint.

        `command` completes the options of a reading, as the command line takes them, and omits others.
        """
        likely = [*self.tables, *self.readings, *self.logs]
        if command is None and (self.call is not None or not _speaking[0]):
            ways = [_call_of(options, *(self.call or ("read", None, {}))) for options, _ in likely]
        else:
            ways = [_command_of(options, command) for options, _ in likely]
        lines = [f"    {way}\n        {meaning}" for way, (_, meaning) in zip(ways, likely, strict=True)]
        first = self.trouble or "say how it is to be read"
        self.hint = "\n".join(
            [f"{first}; for example" if lines and not self.trouble else f"{first}; or", *lines]
        )
        if not lines:
            self.hint = f"{first} ({self.options_named})." if self.options_named else f"{first}."


def _completed(
    options: Mapping[str, Any],
    meaning: str,
    question: TableError,
    works: Callable[[Mapping[str, Any]], bool],
) -> list[tuple[Mapping[str, Any], str]]:
    """Add to a reading, step by step, what the questions about it propose first; empty: it does not work."""
    for _ in range(_STEPS):
        more, how = question.readings[0] if question.readings else ({}, "")
        if all(name in options and options[name] == value for name, value in more.items()):
            return []
        options, meaning = {**options, **more}, how if "id_column" in more else f"{meaning}; {how}"
        try:
            return [(options, meaning)] if works(options) else []
        except TableError as another:
            question = another
    return []


def _command_of(options: Mapping[str, Any], command: Callable[..., str] | None) -> str:
    """Write a reading as options, or as a command; one that is None is to be omitted."""
    words = _words({name: value for name, value in options.items() if value is not None})
    omitted = [f"--{name.replace('_', '-')}" for name, value in options.items() if value is None]
    if command is None:
        return words or f"no {', '.join(omitted)}"
    return command(words, omitted)


def _words(options: Mapping[str, Any]) -> str:
    """Write options of a reading as the command line takes them."""
    pairs = []
    for name, value in options.items():
        several = [f"{key}={way}" for key, way in value.items()] if isinstance(value, Mapping) else [value]
        pairs += [(f"--{name.replace('_', '-')}", one) for one in several]
    pairs = [(name, "tab" if (name, one) == ("--separator", "\t") else one) for name, one in pairs]
    return shlex.join(word for name, value in pairs for word in ([name] if value is True else [name, value]))


_OF_FACTS = {"id_column": "id", "set": "sets"}  # names of options in `setveil.read_facts`


def _call_of(options: Mapping[str, Any], function: str, source: Any, arguments: Mapping[str, Any]) -> str:
    """Write a reading as a call of Python: of the function that was called, unless it needs another one."""
    if "when" in options or function == "read_facts":
        function = "read_facts"
        options = {_OF_FACTS.get(name, name): value for name, value in options.items()}
    elif "qi" in options or "set" in options:
        function = "read_table"
    if function != "read":
        options = {
            name: next(csv.reader([value], skipinitialspace=True)) if name in ("qi", "not_ids") else value
            for name, value in options.items()
        }
    both = {**{name: value for name, value in arguments.items() if name not in options}, **options}
    both = {name: value for name, value in both.items() if value is not None}
    paths = isinstance(source, str) or (isinstance(source, list) and all(isinstance(p, str) for p in source))
    words = [repr(source) if paths else "...", *(f"{name}={value!r}" for name, value in both.items())]
    return f"setveil.{function}({', '.join(words)})"


class HierarchyError(DataError):
    """A hierarchy is malformed or does not fit the data.

    Parameters
    ----------
    message, hint : str
        As in `SetveilError`.
    problems : sequence of str
        Every problem found, one line each (the message shows the first few).

    Examples
    --------
    >>> import setveil as sv
    >>> sv.Hierarchy({"tea": "drinks", "milk": "drinks", "drinks": None, "soap": None})
    Traceback (most recent call last):
    setveil.base.errors.HierarchyError: A hierarchy has one root, found 2: 'drinks', 'soap'.
    """

    def __init__(self, message: str, *, hint: str = "", problems: Sequence[str] = ()) -> None:
        super().__init__(message, hint=hint)
        self.problems = tuple(problems)


class MissingItemsError(HierarchyError):
    """Items of the data are not in the hierarchy.

    Examples
    --------
    >>> import setveil as sv
    >>> drinks = sv.Hierarchy.from_paths([["tea", "*"], ["milk", "*"]])
    >>> try:
    ...     sv.anonymize([["tea"], ["soap"]], sv.KmAnonymity(k=2, m=1), hierarchy=drinks)
    ... except sv.MissingItemsError as error:
    ...     print(error.problems)
    ("item 'soap' is not in the hierarchy",)
    """

    hierarchy: str | None = None  # the file, if it is known


def reason_of(error: BaseException) -> str:
    """Say what went wrong, to be put behind a colon: without a path and without a full stop.

    >>> reason_of(FileNotFoundError(2, "No such file or directory", "a.csv")), reason_of(KeyError("rows"))
    ('No such file or directory', "it has no 'rows'")
    """
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    if isinstance(error, KeyError) and error.args:
        return f"it has no {error.args[0]!r}"
    said = error.message if isinstance(error, SetveilError) else str(error)
    return said.strip().removesuffix(".") or type(error).__name__


def unreadable(where: object, what: str, error: BaseException, hint: str = "") -> SetveilError:
    """Make the error that says why a file cannot be read; one that names the file already stays as it is.

    `what` is the rest of a sentence without its end, such as "cannot be read".
    """
    if isinstance(error, SetveilError) and str(where) in error.message:
        return error
    return DataError(f"{where} {what}: {reason_of(error)}.", hint=hint)


class GuaranteeError(SetveilError):
    """A release failed its own verification: a defect of setveil, never of the user's data.

    Examples
    --------
    >>> import setveil as sv
    >>> issubclass(sv.GuaranteeError, sv.SetveilError), sv.GuaranteeError.exit_code
    (True, 1)
    """


def require_utf8(name: object) -> None:
    """Refuse a name of a file that is no UTF-8: records and pages could not repeat it, after all the work."""
    try:
        str(name).encode()
    except UnicodeEncodeError:
        raise RequestError(
            f"The name {shorten(str(name))} is not UTF-8, and records of runs must repeat it.",
            hint="Rename the file or folder, or use a link with another name: ln -s OLD NEW.",
        ) from None


def shorten(text: str, width: int = 60) -> str:
    r"""Quote a value from the data for a message, cut to at most `width` characters.

    >>> print(shorten(r"\N"), shorten("a\tb"))
    '\N' 'a\tb'
    """
    cut = text if len(text) <= width else text[: width - 1] + "…"
    return f"'{cut}'" if cut.isprintable() and "'" not in cut else repr(cut)


def described(value: object) -> str:
    """Name a value of a wrong type for a message: a text or a number by itself, others by their type only.

    >>> described("tea"), described(None), described(5), described({"a": 1}), described(dict)
    ("the text 'tea'", 'None', '5', 'a value of type dict', 'the class dict')
    """
    if isinstance(value, str):
        return f"the text {shorten(value)}"
    if value is None or isinstance(value, bool | int | float):
        return shorten(repr(value))[1:-1]
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return f"a value of type {type(value).__name__}"


def require_type(what: str, value: object, kinds: type | tuple[type, ...], *, hint: str = "") -> None:
    """Refuse a value of a wrong type; `what` says which is meant and what it must be.

    >>> require_type("The path must be a text", 5, str)
    Traceback (most recent call last):
    setveil.base.errors.RequestError: The path must be a text, got 5.
    """
    if not isinstance(value, kinds):
        raise RequestError(f"{what}, got {described(value)}.", hint=hint)


def listed(values: Sequence[str], most: int = 5) -> str:
    """Quote the first few of many values for a message and say how many more there are."""
    more = f" and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(shorten(value, 40) for value in values[:most]) + more


def closest(wanted: object, known: Iterable[str], most: int = 1) -> list[str]:
    """Find the known names that are most like a wanted one, in whatever case."""
    from difflib import get_close_matches

    by_case: dict[str, str] = {}
    for name in known:
        by_case.setdefault(name.casefold(), name)
    return [by_case[near] for near in get_close_matches(str(wanted).casefold(), by_case, most)]


def did_you_mean(
    wanted: object, known: Iterable[str], otherwise: str = "", *, most: int = 1, quoted: bool = False
) -> str:
    """Ask whether one of the known names was meant, in whatever case; `otherwise` where none is close.

    `most` is how many names to ask for; `quoted`: they are from the data, and not setveil's own.

    >>> did_you_mean("Exakt", ["aa", "exact"]), did_you_mean("cheese", ["aa"], "There are aa.")
    ('Did you mean exact?', 'There are aa.')
    """
    close = closest(wanted, known, most)
    return f"Did you mean {' or '.join(map(shorten, close) if quoted else close)}?" if close else otherwise

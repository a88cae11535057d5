"""Read facts: codes with dates and amounts, from the lines of a raw file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike, fspath
from typing import Any

from setveil.base.errors import RequestError, TableError, described, require_type
from setveil.commands.arguments import explicit_arguments, integer, is_path, tree_of
from setveil.commands.read_table import names_of, require_written
from setveil.rows.data.lacking import lacking_of
from setveil.rows.data.skipped import lines_of
from setveil.rows.facts.facts import Facts
from setveil.rows.facts.read import read_rows_of_facts
from setveil.rows.facts.request import make_facts_request
from setveil.rows.facts.tables import read_table_of_facts
from setveil.rows.tables.how import How
from setveil.rows.tables.roles import TreeLike, make_roles, with_trees


def read_facts(
    source: str | PathLike[str] | object,
    *,
    id: str,  # noqa: A002  (the word of the specification)
    sets: str | Sequence[str] | Mapping[str, Any],
    when: str | Sequence[str] | Mapping[str, str] | None = None,
    amount: str | Sequence[str] | Mapping[str, Any] | None = None,
    persons: str | PathLike[str] | object | None = None,
    qi: str | Sequence[str] | Mapping[str, Mapping[str, Any]] = (),
    keep: str | Sequence[str] = (),
    drop: str | Sequence[str] = (),
    hierarchies: Mapping[str, TreeLike] | None = None,
    numeric: str | Sequence[str] = (),
    categorical: str | Sequence[str] = (),
    ranges: str | Sequence[str] | Mapping[str, Any] = (),
    bounds: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    per_person: Mapping[str, str] | None = None,
    ages: Mapping[str, str | tuple[str, str]] | None = None,
    item_columns: str | Sequence[str] | None = None,
    date_format: str | None = None,
    missing: str | Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    sign: str | None = None,
    delimiter: str | None = None,
    not_ids: str | Sequence[str] = (),
    normalize: str | None = None,
    skip_lines: str | int | None = None,
    skip_last: int | None = None,
    comment: str | None = None,
    header_lines: int | None = None,
    not_missing: str | Sequence[str] | None = None,
    missing_id: str | None = None,
    missing_item: str | None = None,
    fill_id: bool = False,
    fewest: int = 0,
    most: int | None = None,
    seed: int = 0,
    format: str | None = None,  # noqa: A002
    encoding: str | None = None,
    separator: str | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Facts | Any:  # a FactTable where persons are described: who calls it knows which
    r"""Read what, when and how much from a raw file: all lines of a person are one row of facts.

    A fact is a code with the values of its attributes: the period of a date, the band of an amount. Lines of
    a person with the same code and periods are one fact, whose amounts are added up before they are banded.

    Parameters
    ----------
    source : path, data frame or Arrow stream
        A file with a line for each event (text with a header line, Parquet, JSON lines, a spreadsheet; ``-``
        is standard input), or a data frame.
    id : str
        The column that says whose line it is. All lines of one id are one row.
    sets : str, list of str, or mapping of str to mapping
        The columns of codes: ``"code"``, ``["code", "drug"]``, or with how many of the facts of each someone
        may know ``{"code": {"m": 2}, "drug": {"m": 1}}``. An empty field is no code; a field may contain
        several, with `delimiter` between them. With `item_columns`: what to call the codes.
    when : mapping of str to str, or texts such as ``"date:month"``, optional
        Columns of dates, each with the finest period that may be published: ``day``, ``week`` (ISO),
        ``month``, ``quarter`` or ``year``; or ``30d-since-first``: days since the person's own first line, in
        bands of 30 days. ``{"drug=date": "month"}`` belongs to the codes of one column alone.
    amount : mapping of str to sequence of number, or texts such as ``"price:0,5,20"``, optional
        Columns of amounts, each with the bounds of bands, or the number of bands: then about this many are
        chosen, with bounds 1, 2, 5, 10, ... . In a text ``mean:``, ``max:`` or ``lines:`` (the number of
        lines) may stand before them, in place of adding up.
    persons : path or data frame, optional
        A table of persons with the same column of ids; without it `source` says on each line what is known of
        the person.
    qi, keep, drop, hierarchies, numeric, categorical, ranges, bounds, weights
        What the columns of persons are, as for `setveil.read_table`; hierarchies of quasi-identifiers only:
        that of the codes is given to `setveil.anonymize`. With `qi` rows are those of a table.
    per_person : mapping of str to {"first", "last", "most-frequent", "least", "greatest"}, optional
        Which value counts, of columns whose values differ on the lines of one person: those of others must
        agree. Missing values count where there is no other.
    ages : mapping of str to (str, str), optional
        Columns of ages, as for `setveil.read_table`.
    item_columns : str or list of str, optional
        Several columns that hold codes of one sort, as for `setveil.read`.
    date_format : str, optional
        How dates are written if not as ISO 8601 has it, nor as ``31JAN2024``, such as ``"%d.%m.%Y"``. It is
        never guessed. ``"sas"``: days since 1960-01-01, or such as ``31JAN24``.
    missing : mapping of str to list of str, or str, optional
        Values of columns that mean that there is none, in addition to empty fields; of every column as a
        text: ``"unknown,999"``. A missing date or amount is published as ``?``, a missing code is no fact.
    not_missing : str or list of str, optional
        Words that usually mean that there is none, and are items here.
    missing_id : {"stop", "skip"}, optional
        What becomes of lines without an ID, by default an error.
    missing_item : {"skip", "stop"}, optional
        What becomes of lines without an item: by default they are skipped, and their person stays.
    fill_id : bool
        Whether an ID stands once for a group of lines.
    sign : str, optional
        What stands between the parts of a fact; by default ``@``.
    delimiter : str, optional
        Between the codes of a field; by default a semicolon.
    normalize : {"codes", "text", "none"}, optional
        Make spellings of a code one code, as for `setveil.read`.
    skip_lines : int or str, optional
        How many first lines are no data; or which lines, by number: ``"1-3,359"``. 0 says that none is.
    skip_last : int, optional
        How many last lines are no data. 0 says that none is.
    comment : str, optional
        Lines that begin with it are no data, such as ``#``. Without it, only such lines above a table.
    header_lines : int, optional
        How many lines stand above the data; the first that has a name for a column counts.
    not_ids : str or list of str
        The column of codes is no column of ids, although it looks so.
    fewest : int
        Of days since the first line: the last band is the last that this many people reach. Where bands of
        amounts are chosen, they are by the greatest amount that this many people reach, by default 5.
    most : int, optional
        Omit all but this many facts of each row, drawn by `seed`: a row with fewer still tells how many.
    seed : int
        For `most`.
    format, encoding, separator, quote, decimal, sheet : str, optional
        As for `setveil.read_table`.

    Returns
    -------
    Facts or FactTable
        One row for each person, in the order of their first lines; `setveil.anonymize` takes them. With `qi`
        a table, whose guarantees are `setveil.KKmAnonymity` and `setveil.MixedKmAnonymity`; persons without
        events are rows without facts.

    Raises
    ------
    DataError
        If the file cannot be read, lacks a column, a line has no id, or a date or an amount is none; the
        message names line and column. Dates that may be read in two ways are errors with both readings.
    RequestError
        If a period does not exist, bounds of bands do not rise, or a column is named twice.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> lines = "who,on,code,price\n1,2024-01-03,tea,2\n1,2024-01-20,tea,4\n2,2024-02-11,milk,1\n"
    >>> _ = Path("log.csv").write_text(lines)
    >>> sv.read_facts(
    ...     "log.csv", id="who", sets="code", when={"on": "month"}, amount={"price": [0, 5, 20]}
    ... ).rows()
    [('tea@2024-01@[5,20)',), ('milk@2024-02@[0,5)',)]
    """
    arguments = explicit_arguments(locals())
    require_type("The column of ids must be named by a text", id, str)
    if isinstance(fewest, bool) or not isinstance(fewest, int) or fewest < 0:
        raise RequestError(f"fewest must be an integer of at least 0, got {described(fewest)}.")
    known = list(qi) if isinstance(qi, Mapping) else names_of("qi", qi)
    kept = names_of("keep", keep)
    request = make_facts_request(sets, when, amount, date_format=date_format, sign=sign)
    lines = lines_of(skip_lines, skip_last, comment, header_lines)
    lacking = lacking_of(missing, not_missing, missing_id, missing_item, fill_id=fill_id)
    not_ids = (not_ids,) if isinstance(not_ids, str) else tuple(not_ids)
    how = How(
        format, encoding, separator, delimiter, item_columns, None, id, None, not_ids, normalize,
        quote=quote, decimal=decimal, sheet=sheet, lines=lines, lacking=lacking,
    )  # fmt: skip
    require_written(how)
    for name, number, least in (("most", 1 if most is None else most, 1), ("seed", seed, 0)):
        integer(name, number, least)
    source, persons = (fspath(one) if is_path(one) else one for one in (source, persons))
    if not known:
        said = {
            "persons": persons,
            "keep": kept,
            "per_person": per_person,
            "ages": ages,
            "hierarchies": hierarchies,
        }
        if any(value is not None and value != [] for value in said.values()):
            name = next(name for name, value in said.items() if value is not None and value != [])
            raise RequestError(
                f"{name}: no columns are named that someone may know in addition to facts.",
                hint='Name the columns: qi=["age", "sex"].',
            )
        with _in_python(source, arguments):
            data = read_rows_of_facts(source, request, how, fewest=fewest)
        return data if most is None else data.at_most(most, seed)
    roles = make_roles(
        qi=qi if isinstance(qi, Mapping) else known, set_name=request.set_name, keep=kept,
        drop=names_of("drop", drop), hierarchies=hierarchies, numeric=names_of("numeric", numeric),
        categorical=names_of("categorical", categorical),
        ranges=ranges if isinstance(ranges, Mapping) else dict.fromkeys(names_of("ranges", ranges), True),
        bounds=bounds, weights=weights, id_column=id, delimiter=delimiter, per_person=per_person,
        ages=ages,
    )  # fmt: skip
    first, how = (source, how) if persons is None else (persons, replace(how, items=source))
    with _in_python(source, arguments):
        return read_table_of_facts(
            first,
            with_trees(roles, tree_of),
            request,
            how,
            fewest=fewest,
            most=most,
            seed=seed,
        )


@contextmanager
def _in_python(source: object, arguments: Mapping[str, Any]) -> Iterator[None]:
    """Write what an error proposes as a call that can be pasted."""
    try:
        yield
    except TableError as error:
        error.in_python("read_facts", source, arguments)
        raise

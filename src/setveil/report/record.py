"""The record of a run, report.json: the types of its parts, and the one reader of it.

docs/record.md says what the parts mean and names every key that stands here; a test compares the two. What
not every run has is `NotRequired`. An infinite number is "inf", a fraction a text or the nearest float.
"""

# Annotations are looked at when a record is read: they are no texts here, as elsewhere.

import json
import types
from functools import cache
from pathlib import Path
from typing import (
    Any,
    NotRequired,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from setveil.base.errors import DataError, shorten, unreadable
from setveil.base.plain_json import read_json

VERSION = 1  # of the record: one more for each change that a reader of the version before would misread

Number = float | str  # "inf", or a fraction
Null = Any  # null where there was nothing to measure: other keys tell, so that types need not


class File(TypedDict):
    """A file that was read."""

    path: str
    sha256: str | None
    compression: NotRequired[str | None]


class Spellings(TypedDict):
    """Spellings that became one item each."""

    how: str
    spellings: int
    items: int
    examples: list[list[str]]


class Read(TypedDict):
    """The reading of the rows."""

    layout: str
    row: str
    id_column: str | None
    item_columns: list[str]
    ignored_columns: list[str]
    separator: str | None
    delimiter: NotRequired[str | None]
    encoding: str | None
    query: NotRequired[str | None]
    files: list[File]
    normalized: NotRequired[Spellings]  # which spellings of items became one
    respelled: NotRequired[Spellings]  # which became the one that the hierarchy has
    yes: NotRequired[str | list[str]]  # values of item columns that mean that an item is there
    quote: NotRequired[str]
    decimal: NotRequired[str]
    sheet: NotRequired[str]
    # options on lines that are no data, and on what means that there is no value
    skip_lines: NotRequired[str]
    skip_last: NotRequired[int]
    comment: NotRequired[str]
    header_lines: NotRequired[int]
    missing: NotRequired[list[str]]
    not_missing: NotRequired[list[str]]
    missing_id: NotRequired[str]
    missing_item: NotRequired[str]
    fill_id: NotRequired[bool]
    also: NotRequired[list[str]]  # further files about the same people, the last ones of `files`
    notes: NotRequired[list[str]]  # what was noticed or skipped, and what stood for no item


class Input(TypedDict):
    """The rows of a run."""

    path: str | None
    sha256: str | None
    format: str | None
    read: NotRequired[Read | None]
    rows: int
    empty_rows: int
    items: int
    occurrences: int


class HierarchyEntry(TypedDict):
    """The hierarchy of a run."""

    source: str
    path: str | None
    sha256: str | None
    leaves: int
    height: int
    encoding: NotRequired[str]  # of the file, if it is not UTF-8
    notes: NotRequired[list[str]]  # how a file in another shape was read
    renamed: NotRequired[dict[str, str]]  # labels of a computed hierarchy, and what the run calls these nodes


class CertificateEntry(TypedDict):
    """The proof and size of the certificate of a run."""

    loss: int
    bound: int
    clauses: int
    branches: int


class Alone(TypedDict):
    """The loss of the public items by themselves."""

    loss: float
    proven: bool


class Algorithm(TypedDict):
    """The algorithm, and what it records of its run; some record more, which nobody looks at."""

    name: str
    title: str
    parameters: dict[str, object]
    reference: str
    origin: NotRequired[dict[str, str]]
    generalization_steps: NotRequired[int]
    cuts_examined: NotRequired[int]
    labels_before_refining: NotRequired[int]
    labels_after_refining: NotRequired[int]
    hidden: NotRequired[dict[str, int]]
    alone: NotRequired[Alone]
    warnings: NotRequired[list[str]]


class Confidence(TypedDict):
    """The greatest chance to infer a sensitive item from some known items."""

    item: str
    itemset: list[str]
    support: int
    sensitive_rows: int
    confidence: float


class Inferred(Confidence):
    """The same of rows in chunks: of one cluster, or of several with + between them, in one chunk."""

    cluster: str
    chunk: str


class GuaranteeEntry(TypedDict):
    """The guarantee: its parameters, and what the verifier found."""

    model: str
    k: NotRequired[int]
    m: NotRequired[int | str | dict[str, int]]  # of columns of codes: the m of each
    h: NotRequired[Number]
    p: NotRequired[Number]
    rho: NotRequired[Number]
    private: NotRequired[list[str]]
    sensitive: NotRequired[list[str]]
    itemsets: NotRequired[int]
    knows: NotRequired[str]
    phrase: str
    holds: bool
    violations: int
    rows_are: NotRequired[str]  # what a row is that is no person: "order"
    greatest_k: NotRequired[int | None]
    greatest_m: NotRequired[int | str | None]
    absent: NotRequired[int]  # how many items a person may be known not to have, besides
    absence: NotRequired[str]  # what can be absent: items
    known: NotRequired[str]  # codes: each counts as one known item, with everything about it
    complete: NotRequired[bool]
    classes: NotRequired[int]
    reading: NotRequired[str]
    supported: NotRequired[int]
    greatest_share: NotRequired[float | None]
    greatest_confidence: NotRequired[Confidence | Inferred | None]
    confidences: NotRequired[list[Confidence]]
    least_rho: NotRequired[Number | None]
    smallest_degree: NotRequired[float | None]
    groups: NotRequired[int]
    clusters: NotRequired[int]
    certain: NotRequired[int]
    inferences: NotRequired[int]
    inferred: NotRequired[list[Inferred]]
    epsilon: NotRequired[Number]
    spent: NotRequired[Number]


class Spread(TypedDict):
    """A mean, and where it was measured what lies around it."""

    mean: float
    median: NotRequired[float]
    max: NotRequired[float]
    sd: NotRequired[float]


class SupportError(Spread):
    """Errors of the supports of items: with the counts, and without."""

    from_rows: NotRequired[Spread]


class Ul(TypedDict):
    """The utility loss."""

    log2: float | Null
    log2_labels: float | Null
    suppressed: float


class Entropy(TypedDict):
    """The non-uniform entropy."""

    share: float
    bits: float


class Divergence(TypedDict):
    """The Kullback-Leibler divergence of group-by queries."""

    mean: float | Null
    sd: float | Null
    queries: int
    group_by: int


class SizesEntry(TypedDict):
    """Sizes of groups or classes; `distribution` has pairs of a size and how many have it."""

    groups: int
    smallest: int | Null
    median: float | Null
    mean: float | Null
    largest: int | Null
    distribution: list[list[int]]
    discernibility: NotRequired[int]


class Utility(TypedDict, total=False):
    """All measures of a release, by name."""

    ncp: float
    lm: float
    ul: Ul
    entropy: Entropy
    unchanged_items: int
    generalized_items: int
    suppressed_items: int
    published_labels: int
    unchanged_occurrences: int
    generalized_occurrences: int
    suppressed_occurrences: int
    mean_row_length_before: float
    mean_row_length_after: float
    label_support_error: Spread
    item_support_error: SupportError
    kl: Divergence
    group_sizes: SizesEntry
    sensitive_items: int
    sensitive_occurrences: int
    relational_loss: float
    transaction_loss: float
    weighed_loss: float
    column_losses: dict[str, float]
    classes: SizesEntry
    label_loss: float
    kept_shares: dict[str, float]
    left_out: float
    uncovered: dict[str, int]
    shown_occurrences: int
    term_occurrences: int
    re: float | Null
    tlost: float | Null
    item_error: float | Null


class Errors(TypedDict):
    """Relative errors of random COUNT queries."""

    mean: float | Null
    sd: float | Null
    median: float | Null
    queries: int
    left_out: int
    estimator: NotRequired[str]
    from_rows: NotRequired[Spread]
    size: NotRequired[int]


class Pairs(TypedDict):
    """The most frequent pairs."""

    number: int
    found: int
    error: float | Null
    confidence: float | Null


class Length(TypedDict):
    """Frequent itemsets of one length."""

    length: int
    frequent: int
    kept: int


class ItemsetsEntry(TypedDict):
    """Frequent itemsets that are still there."""

    threshold: int
    max_length: int | None
    frequent: int
    kept: int
    by_length: list[Length]
    supports_unchanged: bool
    rules: int
    rules_kept: int


class AnswersEntry(TypedDict, total=False):
    """The answers of a release."""

    are: Errors
    pairs: Pairs
    itemsets: ItemsetsEntry
    table_are: Errors


class Optimality(TypedDict, total=False):
    """The distance of a release from the least possible loss."""

    objective: str
    model: str
    loss: float
    lower_bound: float
    gap: float
    proven: bool
    weighted: bool
    limited: bool
    within: float | None
    share: float
    of_items: str
    clauses: int
    rounds: int
    failed: str


class Class(TypedDict):
    """One of the tables that `rt` tried."""

    search: str
    least: int
    classes: int
    smallest: int
    relational_loss: float
    transaction_loss: float
    suppressed_share: float
    f: float
    chosen: bool


class ColumnEntry(TypedDict):
    """A quasi-identifier."""

    name: str
    kind: str
    published_as: str
    values: int
    missing: int
    weight: float
    labels: int
    levels: NotRequired[int]


class KeptEntry(TypedDict):
    """A column that is published as it is."""

    name: str
    values: int
    unique: int


class TableEntry(TypedDict):
    """The columns of a table."""

    set: str | None
    columns: list[ColumnEntry]
    kept: list[KeptEntry]
    dropped: list[str]


class CutEntry(TypedDict):
    """An item that rows were cut on."""

    item: str
    holds: bool


ClassEntry = TypedDict(
    "ClassEntry",
    {
        "class": int, "rows": int, "labels": int, "names_kept": int, "cuts": list[CutEntry],
        "left_out": NotRequired[int], "proven": NotRequired[bool], "gap": NotRequired[float],
    },
)  # fmt: skip


class TriedEntry(TypedDict):
    """Classes of one size that were tried."""

    class_size: int
    cuts: int
    undone: int
    classes: int
    error: float


class InClasses(TypedDict):
    """The classes of the rows."""

    number: int
    classes: list[ClassEntry]
    class_size: NotRequired[int | None]
    tried: NotRequired[list[TriedEntry]]
    one_class_error: NotRequired[float]
    too_few_rows: NotRequired[bool]


Sure = TypedDict("Sure", {"item": str, "label": str, "rows": int, "of": int, "class": NotRequired[int]})


class CountsEntry(TypedDict):
    """The counts next to the rows."""

    file: str
    least: int
    suppressed: NotRequired[bool]
    untold: NotRequired[list[int]]
    lines: int
    totals: NotRequired[int]
    items: int
    unlisted: int
    sure_from: float
    sure: list[Sure]


class Label(TypedDict):
    """A published label that is no item."""

    label: str
    items: int
    first: list[str]
    rows: int
    # about.json lists only items that at least this many rows contain
    others: NotRequired[int]


class Branch(TypedDict):
    """The branch under a child of the root."""

    label: str
    items: int
    occurrences: int
    ncp: float
    left_out: int


class Frequency(TypedDict):
    """The label of a frequent item."""

    item: str
    published: str | None
    items: int | None
    rows: int
    estimate: float


class Attack(TypedDict):
    """Numbers of rows that m known items single out, by threshold."""

    m: int
    choice: str
    rows_below: dict[str, float]
    probability: float
    fewest: NotRequired[int | None]
    exact: bool
    sampled: NotRequired[int]
    confidence: NotRequired[float]
    interval: NotRequired[dict[str, list[float]]]


class LearnedEntry(TypedDict):
    """The greatest probability of a private item, and what tells it."""

    probability: float
    item: str
    itemset: list[str]
    support: int


class InferenceEntry(TypedDict):
    """Inference of private items from m other known items."""

    m: int
    probability: float | Null
    item: str | Null
    itemset: NotRequired[list[str]]
    support: NotRequired[int]
    items: NotRequired[list[LearnedEntry]]
    exact: NotRequired[bool]
    rows_above: NotRequired[dict[str, float]]
    sampled: NotRequired[int]
    confidence: NotRequired[float]
    interval: NotRequired[dict[str, list[float]]]


class Revealed(TypedDict):
    """An item that singles out rows."""

    item: str
    support: int
    rows: float


class Revealing(TypedDict):
    """The items that single out most rows."""

    m: int
    below: int
    exact: bool
    items: list[Revealed]


class Risk(TypedDict):
    """The attacks on rows."""

    rows: int
    empty_rows: int
    thresholds: list[int]
    risk: list[Attack]
    revealing: NotRequired[Revealing]
    inference: NotRequired[list[InferenceEntry]]
    columns: NotRequired[list[str]]


class Risks(TypedDict):
    """The attacks on the rows before, and on what is published."""

    before: Risk
    after: Risk


class PeopleEntry(TypedDict):
    """The people of the rows."""

    told: str | None
    checked: bool
    ids: NotRequired[int]
    shared: NotRequired[int]


class ItemsCounted(TypedDict):
    """Items, and how often they occur."""

    items: int
    occurrences: int


class Newcomer(TypedDict):
    """An item that the earlier run does not know; its label is null where it is suppressed."""

    item: str
    label: str | Null
    rows: int


class Cases(TypedDict):
    """Items by their state in the earlier run."""

    known: ItemsCounted
    under: ItemsCounted
    left_out: ItemsCounted
    labels: list[Newcomer]
    lost: list[Newcomer]


Change = TypedDict(
    "Change", {"from": str | None, "to": str | None, "items": int, "occurrences": int, "first": list[str]}
)


class Together(TypedDict):
    """Two releases verified together."""

    release: str
    rows: int
    guarantee: dict[str, object]
    phrase: str
    greatest_k: int | None


class Applied(TypedDict):
    """The earlier run whose recoding was applied."""

    run: str
    algorithm: str
    input: str | None
    people: PeopleEntry
    items: Cases
    repaired: bool
    changes: list[Change]
    union: NotRequired[Together]


class Sample(TypedDict):
    """A sample of the rows."""

    rows: int
    of: int
    seed: int


class AboutEntry(TypedDict, total=False):
    """Statements about a release: date, purpose, recipient, person responsible, legal basis, review date."""

    purpose: str
    recipient: str
    responsible: str
    legal_basis: str
    review: str
    date: str


class PublishedEntry(TypedDict):
    """The published rows."""

    file: NotRequired[str]
    files: NotRequired[list[str] | list[dict[str, object]]]
    layout: NotRequired[dict[str, str | list[str]]]  # of a wide table the columns are listed
    rows: int
    empty_rows: int
    items: int
    classes: NotRequired[int]
    occurrences: NotRequired[int]
    report: NotRequired[str]
    checker: NotRequired[list[str]]


class FactPart(TypedDict):
    """A part of facts: the codes, or an attribute."""

    name: str
    kind: str
    level: NotRequired[str]


class Order(TypedDict):
    """A plain order that was tried: which parts of facts are dropped first."""

    order: str
    loss: float
    lm: float
    kept: dict[str, float]
    proven: NotRequired[bool]
    gap: NotRequired[float]
    seconds: float


class BranchLine(TypedDict):
    """The order of dropped attributes in a branch of the hierarchy of codes."""

    label: str
    depths: list[int]


class Period(TypedDict):
    """Occurrences of facts in a period: those published at each level, and those suppressed."""

    period: str
    published: list[int]
    left_out: int


class Timeline(TypedDict):
    """The published facts of each period, for one column of dates."""

    name: str
    levels: list[str]
    periods: list[Period]


class OfFacts(TypedDict):
    """The remaining parts of facts."""

    parts: list[FactPart]
    loss: str
    order: str
    kept: dict[str, float]
    whole: float
    by_part: dict[str, float]
    orders: list[Order]
    branches: NotRequired[list[BranchLine]]
    most_facts: NotRequired[int]
    facts_left_out: NotRequired[int]
    timeline: NotRequired[list[Timeline]]


class ClusterSizes(TypedDict):
    """Clusters of this many rows."""

    least: int
    most: int
    clusters: int


class InChunks(TypedDict):
    """Rows in chunks: the clusters, and where occurrences and items are published."""

    clusters: int
    smallest: int
    median: float
    largest: int
    sizes: list[ClusterSizes]
    record_chunks: int
    shared_chunks: int
    record_occurrences: int
    shared_occurrences: int
    term_entries: int
    record_items: int
    shared_items: int
    term_items: int
    left_out: int


class WayAgain(TypedDict):
    """The cost of a way to publish the next release of a series, or the reason why it is impossible."""

    way: str
    exposed_before: int | None  # people below k under the best labels of the rows by themselves
    unique_before: int | None
    why: NotRequired[str]
    lm: NotRequired[float]
    left_out: NotRequired[int]
    occurrences: NotRequired[int]
    held_back: NotRequired[int]
    people: NotRequired[int]
    names_kept: NotRequired[int]
    exposed: NotRequired[int]
    proven: NotRequired[bool]
    gap: NotRequired[float]
    seconds: NotRequired[float]


class Line(TypedDict):
    """A line of an account of noise: what it tells, what that costs, and how large the noise is."""

    line: str
    epsilon: Number
    one_row_changes: int
    scale: float


class InBlocks(TypedDict):
    """Noisy counts: what is published, what it cost, and how far it is off."""

    rows: int
    items: int
    blocks: int
    largest: int
    cells: int
    spent: list[Line]
    rows_off: int
    cells_off: float
    told_occurrences: int


class SeriesEntry(TypedDict):
    """Of a release of a series: its guarantee, what it cost, and who is exposed by all releases together."""

    release: str
    of: list[str]
    kind: str
    k: int
    m: int
    known: str
    presence: str
    holds: bool
    people: int
    returning: int
    exposed: int
    unique: int
    exactly: int
    exposed_before: int
    held_back: int
    forgotten: int
    way: str
    lm: float
    left_out: int
    names_kept: int
    proven: bool
    gap: float
    ways: NotRequired[list[WayAgain]]


class RareNames(TypedDict):
    """Number of unchanged items in fewer than `least` rows."""

    least: int
    items: int


class Record(TypedDict):
    """The record of a run."""

    version: NotRequired[int]
    setveil: str
    versions: NotRequired[dict[str, str]]
    seed: int
    input: Input
    hierarchy: HierarchyEntry | None
    algorithm: Algorithm
    guarantee: GuaranteeEntry
    utility: Utility
    answers: NotRequired[AnswersEntry]
    table: NotRequired[TableEntry]
    classes: NotRequired[InClasses]
    chunks: NotRequired[InChunks]
    blocks: NotRequired[InBlocks]
    frontier: NotRequired[list[Class]]
    facts: NotRequired[OfFacts]
    optimality: NotRequired[Optimality]
    certificate: NotRequired[CertificateEntry]
    recoding: str
    suppressed: NotRequired[list[str]]
    counts: NotRequired[CountsEntry]
    labels: NotRequired[list[Label]]
    several_labels: NotRequired[int]
    branches: NotRequired[list[Branch]]
    frequencies: NotRequired[list[Frequency]]
    risk: NotRequired[Risks]
    watched: NotRequired[list[str]]
    command: NotRequired[str]
    options: NotRequired[dict[str, object]]
    applied: NotRequired[Applied]
    series: NotRequired[SeriesEntry]
    engine: NotRequired[str]
    sample: NotRequired[Sample]
    about: NotRequired[AboutEntry]
    names: NotRequired[dict[str, str]]
    not_ids: NotRequired[list[str]]
    timing: NotRequired[dict[str, float]]
    peak_memory_mb: NotRequired[float | None]
    published: NotRequired[PublishedEntry]
    rare_names: NotRequired[RareNames]
    same_input: NotRequired[list[str]]


def read_record(path: Path) -> Record:
    """Read the record of a run; one without a version is of an earlier setveil."""
    try:
        found = read_json(path.read_bytes())
    except (OSError, ValueError) as error:
        raise unreadable(path, "cannot be read", error) from None
    version = found.get("version", VERSION) if isinstance(found, dict) else VERSION
    if type(version) is int and version > VERSION:
        raise DataError(
            f"{path} is a record of version {version}; this setveil reads records up to version {VERSION}.",
            hint="It was written by a newer setveil: read it with that one.",
        )
    wrong = _wrong(found, Record, "")
    if not wrong and found["guarantee"]["model"] in {"km-anonymity", "constraints"}:
        wrong = "" if "k" in found["guarantee"] else "guarantee lacks k"
    if wrong:
        raise DataError(
            f"{path} is not the record of a run: {wrong}.",
            hint="It was changed since the run, or is another file.",
        )
    record: Record = found
    return record


_NAMES: dict[object, str] = {
    int: "a whole number", float: "a number", str: "a text", bool: "true or false", dict: "an object",
    list: "a list", types.NoneType: "null", Any: "null",
}  # fmt: skip


_parts = cache(get_type_hints)  # of a type


def _wrong(value: Any, kind: Any, where: str) -> str:
    """Say where a value is not of a type, and what is there instead; empty if it is."""
    made = get_origin(kind)
    if made in {Union, types.UnionType}:
        each = [_wrong(value, one, where) for one in get_args(kind)]
        return each[0] if all(each) else ""
    inside: list[tuple[str, Any, Any]] = []
    if is_typeddict(kind) and isinstance(value, dict):
        lacking = sorted(kind.__required_keys__ - value.keys())
        if lacking:
            return f"{where or 'it'} lacks {', '.join(lacking)}"
        inside = [(name, value[name], part) for name, part in _parts(kind).items() if name in value]
    elif made is dict and isinstance(value, dict):
        inside = [(name, one, get_args(kind)[1]) for name, one in value.items()]
    elif made is list and isinstance(value, list):
        inside = [(str(i), one, get_args(kind)[0]) for i, one in enumerate(value)]
    elif not _fits(value, kind):
        expected = _NAMES[dict if is_typeddict(kind) else made or kind]
        return f"{where or 'it'} is {shorten(json.dumps(value))}, expected {expected}"
    found = (_wrong(one, part, f"{where}.{name}" if where else name) for name, one, part in inside)
    return next(filter(None, found), "")


def _fits(value: object, kind: object) -> bool:
    if kind in {Any, types.NoneType}:
        return value is None
    return kind is object or type(value) in ({int, float} if kind is float else {kind})

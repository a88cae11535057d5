"""Loss against risk in a study's table: releases as points, and who loses least with the same guarantee."""

from __future__ import annotations

from dataclasses import dataclass

from setveil.judges.utility import Compared, compared
from setveil.report.compare.fronts import (
    Point,
    Relation,
    Standing,
    non_dominated,
    relation,
    rounded,
    standings,
)
from setveil.report.compare.measures import chance, known_items, rows_at_risk
from setveil.report.compare.table import (
    Family,
    Row,
    conditions,
    distinct,
    grouped,
    middle,
    parameters,
    promise_names,
    setting_text,
)


@dataclass(frozen=True)
class MedianRelease:
    """Median loss and risk of a method at one setting, and those of each repetition; less is better."""

    method: str
    setting: str
    loss: float
    risk: float
    losses: list[float]
    risks: list[float]

    @property
    def point(self) -> Point:
        """Loss and risk."""
        return self.loss, self.risk


@dataclass(frozen=True)
class Fronts:
    """Loss against risk, on each data set."""

    stem: str  # file name of the figure without its ending
    loss: Compared
    risk: Compared
    releases: dict[str, list[MedianRelease]]  # by data set; only those on which releases differ in risk
    methods: list[str]  # in the table's order
    places: dict[str, int]  # place of each method in the table, which settles its colour and shape

    @property
    def title(self) -> str:
        """Return a short name of the figure."""
        return f"{self.loss.axis[:1].upper()}{self.loss.axis[1:]} against {self.risk.axis}"

    def points(self, data: str) -> dict[str, list[Point]]:
        """Points of each method that has some on a data set."""
        found: dict[str, list[Point]] = {}
        for method in self.methods:
            points = [release.point for release in self.releases[data] if release.method == method]
            if points:
                found[method] = points
        return found

    def best(self, data: str) -> list[MedianRelease]:
        """Releases that no other dominates, by risk."""
        releases = self.releases[data]
        return [releases[place] for place in non_dominated([release.point for release in releases])]

    def relations(self, data: str) -> dict[tuple[str, str], Relation]:
        """Return the comparison of the releases of each two methods."""
        points = self.points(data)
        return {(a, b): relation(points[a], points[b]) for a in points for b in points if a != b}


def loss_of(family: Family) -> Compared | None:
    """Choose the loss that every release of a family has, or most: LM, else ARE, else KL, else others."""
    losses = [one for one in compared() if one.decides]
    having = {one.stem: sum(one.of(row) is not None for row in family.done) for one in losses}
    best = max(losses, key=lambda one: having[one.stem])
    return best if having[best.stem] else None


def fronts_of(family: Family, suffix: str = "") -> list[Fronts]:
    """Collect loss against each measure of risk that tells the releases of a family apart.

    The measures are the chance to pick the right row, and the rows that fewer than 5 share. `suffix`: of file
    names, if a table has several families.
    """
    loss, size = loss_of(family), known_items(family.done)
    if loss is None or size is None:
        return []
    places = {method: place for place, method in enumerate(family.methods)}
    out = []
    for risk in (chance(size, family.done), rows_at_risk(size, family.done)):
        by_data = {}
        for data in family.data:
            releases = _releases(
                [row for row in family.done if row["data"] == data and row.get("risk_m") == size], loss, risk
            )
            if len({release.risk for release in releases}) > 1:
                by_data[data] = releases
        if by_data:
            made = {release.method for releases in by_data.values() for release in releases}
            methods = [method for method in family.methods if method in made]
            out.append(Fronts(f"front-{risk.stem}{suffix}", loss, risk, by_data, methods, places))
    return out


def _releases(rows: list[Row], loss: Compared, risk: Compared) -> list[MedianRelease]:
    """Medians of what each method made at each setting."""
    rows = [row for row in rows if loss.of(row) is not None and risk.of(row) is not None]
    names = list(parameters(rows))
    promises = [name for name in names if name in promise_names()]
    out = []
    for (method, *_), part in grouped(rows, lambda row: (row["method"], *(row.get(name) for name in names))):
        setting = setting_text(promises, tuple(part[0].get(name) for name in promises))
        losses = [value for row in part if (value := loss.of(row)) is not None]
        risks = [value for row in part if (value := risk.of(row)) is not None]
        out.append(MedianRelease(method, setting, middle(losses).value, middle(risks).value, losses, risks))
    return out


def standings_of(family: Family, loss: Compared) -> dict[str, list[Standing]]:
    """Count who loses least with the same guarantee, on each data set, for each seed by itself."""
    same = ["model", "seed", *conditions(family.rows)]
    out = {}
    for data in family.data:
        losses: list[dict[str, float]] = []
        rows = [row for row in family.done if row["data"] == data and loss.of(row) is not None]
        for _, part in grouped(rows, lambda row: tuple(row.get(name) for name in same)):
            made: dict[str, float] = {}
            for row in part:
                value = loss.of(row)
                if value is not None:
                    made[row["method"]] = min(rounded(value), made.get(row["method"], float("inf")))
            losses.append(made)
        methods = distinct(row["method"] for row in family.rows if row["data"] == data)
        out[data] = standings(losses, methods)
    return out

"""Made-up hospital data: a table of stays, the log of a ward, and the hierarchies of their codes."""

from __future__ import annotations

import random
from datetime import date, timedelta

from setveil.base.errors import RequestError

Lines = list[list[str]]

_CHAPTERS = {
    "E": ["E10.1", "E11.2", "E11.9", "E66.0", "E78.5"],
    "I": ["I10", "I20.9", "I21.4", "I48.0", "I50.1"],
    "J": ["J18.9", "J44.1", "J45.0"],
    "N": ["N18.3", "N39.0"],
    "F": ["F10.2", "F32.1"],
}
_GROUPS = {
    "heart": {"I50": ["I50.0", "I50.1"], "I48": ["I48.0", "I48.9"]},
    "lungs": {"J18": ["J18.0", "J18.9"], "J44": ["J44.0", "J44.1"]},
    "kidneys": {"N17": ["N17.9"], "N18": ["N18.3", "N18.4"]},
}


def ward_sample(rows: int = 4000, seed: int = 0) -> tuple[Lines, Lines]:
    """Make up the stays of a hospital, and the chapters of their codes, from a number of rows and a seed.

    The table has a header, then a line per stay: case number, age, sex, zip code, diagnoses, readmitted.
    Paths: one per code (for `setveil.Hierarchy.from_paths`).

    >>> table, paths = ward_sample(2)
    >>> table[1]
    ['900000', '78', 'F', '10245', 'E11.9;N18.3', 'no']
    """
    _require_rows(rows)
    chance = random.Random(seed + 1)  # noqa: S311
    codes = [code for inside in _CHAPTERS.values() for code in inside]
    table = [["case_no", "age", "sex", "zip", "diagnoses", "readmitted"]]
    for number in range(rows):
        age = min(95, int(chance.gauss(62, 17)) if chance.random() < 0.8 else chance.randint(18, 60))
        weights = [1 + (age > 60) * (code[0] in "IN") + (age < 40) * 2 * (code[0] in "JF") for code in codes]
        diagnoses = {chance.choices(codes, weights)[0] for _ in range(chance.choice([1, 1, 2, 2, 3]))}
        back = chance.random() < (0.5 if "I50.1" in diagnoses else 0.15)
        place = chance.choice(["10115", "10117", "10119", "10245", "10247"])
        person = [str(900_000 + number), str(max(age, 18)), chance.choice("FM"), place]
        table.append([*person, ";".join(sorted(diagnoses)), "yes" if back else "no"])
    paths = [
        [*dict.fromkeys((code, code.partition(".")[0])), chapter, "ALL"]
        for chapter, inside in _CHAPTERS.items()
        for code in inside
    ]
    return table, paths


def log_sample(patients: int = 3000, seed: int = 0) -> tuple[Lines, Lines]:
    """Make up the log of a ward, and the groups of its codes, from a number of patients and a seed.

    Each patient has at least one visit. The table has a header, then a line per visit: patient, date,
    diagnosis. Paths: one per code (for `setveil.Hierarchy.from_paths`).

    >>> table, paths = log_sample(2)
    >>> table[1]
    ['100007', '19.03.2025', 'I48.0']
    """
    _require_rows(patients)
    chance = random.Random(seed + 7)  # noqa: S311
    table = [["patient", "date", "diagnosis"]]
    for patient in range(1, patients + 1):
        day = date(2025, 1, 1) + timedelta(days=chance.choice([chance.randrange(90), chance.randrange(365)]))
        for _ in range(chance.choice([1, 1, 1, 2, 2, 3])):
            chapter = chance.choices(list(_GROUPS), [4, 4 if day.month < 4 else 2, 1])[0]
            codes = [code for inside in _GROUPS[chapter].values() for code in inside]
            code = chance.choices(codes, [8, 4, 2, 1][: len(codes)])[0]
            if day.year == 2025:
                written = day.strftime("%d.%m.%Y") if chance.random() > 0.01 else ""
                table.append([str(100_000 + 7 * patient), written, code])
            day += timedelta(days=chance.choice([7, 14, 14, 28, chance.randint(1, 150)]))
    paths = [
        [code, group, chapter, "all"]
        for chapter, inside in _GROUPS.items()
        for group, codes in inside.items()
        for code in codes
    ]
    return table, paths


def _require_rows(rows: int) -> None:
    if rows < 0:
        raise RequestError(f"The number of rows of a sample is {rows}. Expected 0 or more.")

"""Several releases about the same people: what linked rows let be found, and what each way to go on costs.

    python benchmarks/series.py [--data FOLDER] [--time-limit 60] [exposure] [ways] [quarters] [million]

`exposure`: people of the diabetes register whom releases, each proven for itself, let be found together; `ways`: its
second half, published in each way; `quarters`: its four quarters; `million`: a million synthetic people.
"""

from __future__ import annotations

import argparse
import csv
import os
import resource
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from runs import find_data

from setveil.data.people import Appearance, SeriesPeople
from setveil.guarantees.series import SeriesAnonymity
from setveil.hierarchy.io import read_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.series.search import exact, greedy, together
from setveil.series.search.exposed import exposed
from setveil.series.search.found import Found
from setveil.series.search.hold_back import smallest, without

K, M = 5, 2


def encounters(path: Path, parts: int, *, register: bool) -> SeriesPeople:
    """Read the encounters as so many releases with equally many of them; each with all so far, in a register."""
    with path.open(encoding="utf-8") as file:
        rows = sorted(csv.DictReader(file), key=lambda row: int(row["encounter"]))
    facts: list[tuple[int, int, str]] = []
    patients = sorted({row["patient"] for row in rows})
    number = {patient: i for i, patient in enumerate(patients)}
    there: list[set[int]] = [set() for _ in range(parts)]
    for i, row in enumerate(rows):
        part, person = i * parts // len(rows), number[row["patient"]]
        for t in range(part, parts if register else part + 1):
            there[t].add(person)
            facts += [(t, person, code) for code in {row["primary"], *row["others"].split(";")} if code]
    items = sorted({code for *_, code in facts})
    place = {code: i for i, code in enumerate(items)}
    unique = sorted({(t, person, place[code]) for t, person, code in facts})
    releases = []
    for t in range(parts):
        people = np.array(sorted(there[t]), np.int64)
        own = np.array([(person, item) for when, person, item in unique if when == t], np.int64).reshape(-1, 2)
        ends = np.searchsorted(own[:, 0], people, "right")
        releases.append(
            Appearance(
                people,
                np.concatenate(([0], ends)),
                own[:, 1].astype(np.int32),
                np.full(len(items), -1, np.int32),
            )
        )
    return SeriesPeople(tuple(releases), tuple(items), len(patients))

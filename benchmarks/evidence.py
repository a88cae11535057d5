"""The accuracy of `risk --fraction`, which estimates the value of a match, on known populations.

    python benchmarks/evidence.py [--trials 20] [NAME ...]

Each data set is a population, from which samples of 5% and 20% are drawn. `true` is the share of right
matches among those of all members of the population with a key that exactly one row of the sample contains.
Keys are drawn and their holders counted here, with sets: up to --keys random keys of each member. `error` is
the median over the samples, `held` the number of samples whose interval contains the truth. Rows without
items are excluded.
"""

from __future__ import annotations

import random

import numpy as np

import setveil as sv
from runs import files, parser
from setveil.judges.attacker.knowledge import knowledge_of
from setveil.judges.attacker.population import fraction_risk

Rows = list[tuple[str, ...]]

# A key that more people hold is in one row of a sample of 5% with a chance below 20 * .95**400 (3e-8).
MOST_HOLDERS = 400


class Keys:
    """Random keys of m items of each member, and who holds each.

    Parameters
    ----------
    people : list of tuple of str
        The rows of the population, none without items.
    m : int
        Items of a key; a member with no more has one key, which counts as many times as others have keys.
    count : int
        Keys drawn of each member.
    rng : random.Random
        What draws them.
    """

    def __init__(self, people: Rows, m: int, count: int, rng: random.Random) -> None:
        having: dict[str, set[int]] = {}
        for member, row in enumerate(people):
            for item in row:
                having.setdefault(item, set()).add(member)
        drawn: dict[tuple[str, ...], list[tuple[int, int]]] = {}
        for member, row in enumerate(people):
            for _ in range(count if len(row) > m else 1):
                key = tuple(sorted(rng.sample(row, m))) if len(row) > m else tuple(sorted(row))
                drawn.setdefault(key, []).append((member, 1 if len(row) > m else count))
        holders: list[int] = []
        starts: list[int] = []
        draws: list[tuple[int, int, int]] = []
        for key, members in drawn.items():
            found = sorted((having[item] for item in key), key=len)
            held = found[0].intersection(*found[1:])
            if len(held) <= MOST_HOLDERS:
                draws += [(len(starts), member, weight) for member, weight in members]
                starts.append(len(holders))
                holders += held
        self.holders = np.array(holders)
        self.starts = np.array(starts)
        self.key, self.member, self.weight = np.array(draws).T

    def worth(self, chosen: np.ndarray) -> float:
        """Count the right matches among all keys that exactly one row of the sample contains.

        Parameters
        ----------
        chosen : numpy.ndarray of bool
            For each member of the population, whether the sample has them.

        Returns
        -------
        float
            The share, from 0 to 1; 0 if no key is in exactly one row.
        """
        unique = np.add.reduceat(chosen[self.holders], self.starts, dtype=np.int64) == 1
        matches = unique[self.key] * self.weight
        return float((matches * chosen[self.member]).sum() / max(matches.sum(), 1))


def main() -> None:
    """Print the table."""
    options = parser("Estimated and true worth of a match.")
    options.add_argument("--trials", type=int, default=20, help="samples for each setting")
    options.add_argument("--keys", type=int, default=10, help="random keys of each member of the population")
    options.set_defaults(names=["groceries", "BMS-WebView-2", "diabetes_icd9"])
    arguments = options.parse_args()
    print(
        f"{'data':<14} {'share':>5} {'m':>2} {'unique':>8} {'true':>6} {'error':>6} {'worst':>6} {'held':>10}"
    )
    for name, (path, _) in files(arguments).items():
        people = [row for row in sv.read(path).rows() if row]
        keys = {m: Keys(people, m, arguments.keys, random.Random(m)) for m in (1, 2, 3, 4)}  # noqa: S311
        for share in (0.05, 0.2):
            show(name, people, share, arguments.trials, keys)


def show(name: str, people: Rows, share: float, trials: int, keys: dict[int, Keys]) -> None:
    """Print a line for each m."""
    rng = np.random.default_rng(1)
    found: dict[int, list[tuple[float, float, float, bool]]] = {m: [] for m in keys}
    for trial in range(trials):
        chosen = rng.random(len(people)) < share
        sample = [row for row, there in zip(people, chosen, strict=True) if there]
        for one in fraction_risk(knowledge_of(sv.read(sample), []), share, tuple(keys), seed=trial):
            if one["estimate"] is None:
                continue
            true = keys[one["m"]].worth(chosen)
            low, high = one["interval"]
            found[one["m"]].append((one["unique"], true, one["estimate"], low <= true <= high))
    for m, runs in found.items():
        if runs:
            unique, true, _, _ = (sum(column) / len(runs) for column in zip(*runs, strict=True))
            errors = sorted(abs(estimate - right) for _, right, estimate, _ in runs)
            held = sum(inside for *_, inside in runs)
            print(
                f"{name:<14} {share:>5.0%} {m:>2} {unique:>8,.0f} {true:>6.3f} "
                f"{errors[len(errors) // 2]:>6.3f} {errors[-1]:>6.3f} {held:>3} of {len(runs):>3}",
                flush=True,
            )


if __name__ == "__main__":
    main()

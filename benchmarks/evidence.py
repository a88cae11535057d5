"""How well `risk --fraction` estimates what a stranger's match is worth, where the population is known.

    python benchmarks/evidence.py [--trials 20] [NAME ...]

Each data set is a population, of which samples of 5 and 20 % are drawn. `true` is the share of right matches
among those of all members of the population with a key that one row of the sample holds. Both are counted
here, with sets, for up to --keys random keys of each member. `error` is the middle one of the samples, `held`
in how many of them the interval holds the truth. Rows without items are no part of it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

import setveil as sv
from runs import files, parser
from setveil.attacker.knowledge import knowledge_of
from setveil.attacker.population import fraction_risk

Rows = list[tuple[str, ...]]


def main() -> None:
    """Print the table."""
    options = parser("Estimated and true worth of a match.")
    options.add_argument("--trials", type=int, default=20, help="samples for each setting")
    options.add_argument("--keys", type=int, default=10, help="random keys of each member of the population")
    options.set_defaults(names=["groceries", "BMS-WebView-2", "diabetes_icd9"])
    arguments = options.parse_args()
    print(
        f"{'data':<14} {'share':>5} {'m':>2} {'unique':>8} {'true':>6} {'error':>6} {'worst':>6} {'held':>8}"
    )
    for name, (path, _) in files(arguments).items():
        people = [row for row in sv.read(path).rows() if row]
        for share in (0.05, 0.2):
            show(name, people, share, arguments.trials, arguments.keys)


def show(name: str, people: Rows, share: float, trials: int, keys: int) -> None:
    """Print a line for each m."""
    rng = random.Random(1)  # noqa: S311
    ms = (1, 2, 3, 4)
    found: dict[int, list[tuple[float, float, float, bool]]] = {m: [] for m in ms}
    for trial in range(trials):
        chosen = [rng.random() < share for _ in people]
        sample = [row for row, there in zip(people, chosen, strict=True) if there]
        for one in fraction_risk(knowledge_of(sv.read(sample), []), share, ms, seed=trial):
            if one["estimate"] is None:
                continue
            true = worth(people, chosen, one["m"], keys, rng)
            low, high = one["interval"]
            found[one["m"]].append((one["unique"], true, one["estimate"], low <= true <= high))
    for m in ms:
        if found[m]:
            unique, true, _, _ = (sum(column) / len(found[m]) for column in zip(*found[m], strict=True))
            errors = sorted(abs(estimate - right) for _, right, estimate, _ in found[m])
            held = sum(inside for *_, inside in found[m])
            print(
                f"{name:<14} {share:>5.0%} {m:>2} {unique:>8,.0f} {true:>6.3f} "
                f"{errors[len(errors) // 2]:>6.3f} {errors[-1]:>6.3f} {held:>3} of {len(found[m]):>3}",
                flush=True,
            )


def worth(people: Rows, chosen: Sequence[bool], m: int, keys: int, rng: random.Random) -> float:
    """Count the right matches among all: keys that one row of the sample holds, which is the member's own."""
    holders: dict[str, set[int]] = {}
    for at, (row, there) in enumerate(zip(people, chosen, strict=True)):
        for item in row if there else ():
            holders.setdefault(item, set()).add(at)
    right = wrong = 0
    for row, there in zip(people, chosen, strict=True):
        for _ in range(keys if len(row) > m else 1):
            key = rng.sample(row, m) if len(row) > m else row
            found = sorted((holders.get(item, set()) for item in key), key=len)
            weight = 1 if len(row) > m else keys  # a short row has one key
            if found[0] and len(found[0].intersection(*found[1:])) == 1:
                right, wrong = (right + weight, wrong) if there else (right, wrong + weight)
    return right / (right + wrong) if right + wrong else 0.0


if __name__ == "__main__":
    main()

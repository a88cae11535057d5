"""Association rules of the original that mlxtend finds in draws from a release.

    pip install mlxtend
    python benchmarks/rules.py [--frequent] [--time-limit 60] [--draws 3] [--data FOLDER] [NAME ...]

NAME is of groceries, bms_webview1, bms_webview2, retail, instacart; k = 5, m = 2. Each is published with the
least LM and with the least entropy that `exact` finds in the time limit; where there is no hierarchy one is
made by co-occurrence. Draws are made from the release, and mlxtend's fpgrowth and association_rules look for
rules of at most three items in them and in the original. With --frequent only items that are frequent enough
for the rarest of these rules are published.

`found`: rules of the original that a draw also has; `as they were`: with equal support and confidence;
`false`: rules of a draw that the original does not have; `off`: mean absolute error of the confidence of the
original's rules that the draw has. Means over the draws. Every line is compared with what `setveil measure
--rules` counts in the same draws.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import setveil as sv
from setveil.rows.hierarchy.build import by_cooccurrence


class Setting(NamedTuple):
    """Files with rows and their hierarchy, and the required rules."""

    file: str
    hierarchy: str | None
    reading: dict[str, Any]
    thresholds: tuple[tuple[str, str], ...]  # least support and least confidence


SETS = {
    "groceries": Setting(
        "groceries.csv",
        "groceries_hierarchy.csv",
        {"format": "basket"},
        (("1%", "25%"), ("0.6%", "25%"), ("0.1%", "50%")),
    ),
    "bms_webview1": Setting(
        "bms_webview1.dat", "bms_webview1_hierarchy.csv", {}, (("0.5%", "25%"), ("0.2%", "25%"))
    ),
    "bms_webview2": Setting(
        "bms_webview2.dat", "bms_webview2_hierarchy.csv", {}, (("0.5%", "25%"), ("0.2%", "25%"))
    ),
    "retail": Setting("retail.dat", None, {}, (("1%", "25%"), ("0.3%", "25%"))),
    "instacart": Setting(
        "instacart_long.csv",
        "instacart_hierarchy.csv",
        {"id_column": "order_id", "item_column": "product_id"},
        (("0.5%", "25%"), ("0.2%", "25%")),
    ),
}

Rules = dict[tuple[frozenset[str], frozenset[str]], tuple[int, float]]


def mined(data: sv.Transactions, least: int, confidence: float) -> Rules:
    """Let mlxtend find the rules of at most three items."""
    import pandas as pd
    from mlxtend.frequent_patterns import association_rules, fpgrowth

    frequent = np.flatnonzero(data.supports() >= least)
    table = np.zeros((data.n_rows, frequent.size), bool)
    place = np.full(data.n_items, -1)
    place[frequent] = np.arange(frequent.size)
    row = np.repeat(np.arange(data.n_rows), data.row_lengths())
    at = place[data.items]
    table[row[at >= 0], at[at >= 0]] = True
    frame = pd.DataFrame(table, columns=[data.vocabulary.labels[item] for item in frequent])
    support = (least - 0.5) / data.n_rows  # so that rounding does not decide
    itemsets = fpgrowth(frame, min_support=support, use_colnames=True, max_len=3)
    if not (itemsets["itemsets"].map(len) > 1).any():
        return {}
    rules = association_rules(itemsets, metric="confidence", min_threshold=confidence - 1e-9)
    return {
        (frozenset(left), frozenset(right)): (round(share * data.n_rows), sure)
        for left, right, share, sure in zip(
            rules["antecedents"], rules["consequents"], rules["support"], rules["confidence"], strict=True
        )
    }


def compare(original: Rules, own: Rules) -> tuple[int, int, int, float]:
    """Rules found, found as they were, false ones, and the mean error of the confidence of those found."""
    found = original.keys() & own.keys()
    exact = sum(
        original[rule][0] == own[rule][0] and abs(original[rule][1] - own[rule][1]) < 1e-9 for rule in found
    )
    errors = [abs(original[rule][1] - own[rule][1]) for rule in found]
    return len(found), exact, len(own.keys() - original.keys()), float(np.mean(errors)) if errors else 0.0


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(SETS))
    parser.add_argument("--time-limit", type=float, default=60)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--frequent", action="store_true")
    here = Path(__file__).resolve().parents[2]
    parser.add_argument("--data", type=Path, default=here / "shared" / "data")
    arguments = parser.parse_args()
    print(
        "data | loss | labels | own names | support | confidence | rules | found | as they were | false | off"
    )
    for name in arguments.names:
        setting = SETS[name]
        data = sv.read(arguments.data / setting.file, **setting.reading)
        if setting.hierarchy is None:
            tree = by_cooccurrence(data)
        else:
            tree = sv.read_hierarchy(arguments.data / setting.hierarchy)
        published = data
        if arguments.frequent:
            least = min(float(support.rstrip("%")) for support, _ in setting.thresholds) / 100
            image = np.where(data.supports() >= least * data.n_rows, np.arange(data.n_items), -1)
            published = sv.Transactions.from_codes(data.indptr, image[data.items], data.vocabulary.labels)
        originals: dict[tuple[str, str], Rules] = {}
        for objective in ("lm", "entropy"):
            start = time.perf_counter()
            exact = sv.Exact(objective=objective, time_limit=arguments.time_limit)
            release = sv.anonymize(published, k=5, m=2, hierarchy=tree, algorithm=exact)
            seconds = time.perf_counter() - start
            drawn = sv.reconstruct(release, draws=arguments.draws)
            for support, confidence in setting.thresholds:
                rules = sv.measure(data, drawn, rules=support, confidence=confidence)["rules"]
                least, sure = rules["threshold"], rules["confidence"]
                if (support, confidence) not in originals:
                    originals[support, confidence] = mined(data, least, sure)
                original = originals[support, confidence]
                each = [compare(original, mined(draw, least, sure)) for draw in drawn]
                found, as_they_were, false, error = (float(np.mean(one)) for one in zip(*each, strict=True))
                expected = (
                    rules["rules"],
                    rules["found"]["mean"],
                    rules["exact"]["mean"],
                    rules["false"]["mean"],
                )
                if not np.allclose((len(original), found, as_they_were, false), expected):
                    raise SystemExit(f"setveil counts otherwise: {rules}, {each}")
                print(
                    f"{name} | {objective} | {release.utility['published_labels']} | "
                    f"{release.utility['unchanged_items']} | {support} | {confidence} | {len(original):,} | "
                    f"{found:,.1f} | {as_they_were:,.1f} | {false:,.1f} | {100 * error:.2f} points",
                    flush=True,
                )
            gap = release.details["optimality"]["gap"]
            print(f"  ({name}, {objective}: {seconds:.0f} s on this machine, gap {gap:.3f})", flush=True)


if __name__ == "__main__":
    main()

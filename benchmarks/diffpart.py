"""The errors of pairs after DiffPart, a prototype written from the paper: why setveil has no such method.

    python benchmarks/diffpart.py [--epsilon 1 10] [--draws 3] [--fanout 10] [--data FOLDER] [NAME ...]

Chen, Mohammed, Fung, Desai, Xiong: Publishing set-valued data via differential privacy. PVLDB 4(11), 2011.
The taxonomy groups item numbers. Partitions are split by the first inner node of their cut; empty ones that
noise lets pass are drawn by their number. A partition passes with at least two standard deviations of its
noise, times the height of the taxonomy if it can be split. The noise is seeded, so this is no release.
Printed are the published rows, the share of them that hold two items or more, and the mean relative error of
1,000 pairs, each of a random row, as benchmarks/disassociation.py has it: means of the draws.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from math import sqrt

import numpy as np
from use import from_rows

import setveil as sv
from runs import files, parser

Row = frozenset[int]


class DiffPart:
    """One release.

    Parameters
    ----------
    tree : Hierarchy
        The taxonomy, whose leaves are the items.
    epsilon : float
        One half is spent on partitions, one on the counts of the leaves.
    draw : numpy.random.Generator
        Draws the noise.
    """

    def __init__(self, tree: sv.Hierarchy, epsilon: float, draw: np.random.Generator) -> None:
        self.tree, self.epsilon, self.draw = tree, epsilon, draw
        self.children = {node: list(tree.children(node)) for node in range(tree.n_leaves, tree.n_nodes)}
        self.inner: dict[int, int] = {}
        for node in sorted(self.children, key=lambda one: int(tree.leaf_counts[one])):
            self.inner[node] = 1 + sum(self.inner.get(child, 0) for child in self.children[node])
        self.published: Counter[Row] = Counter()

    def split(self, rows: list[Row], cut: Row, budget: float) -> None:
        """Split the rows whose items are below all nodes of a cut, and publish what cannot be split."""
        inner = sorted(node for node in cut if node in self.children)
        if not inner:
            spent = self.epsilon / 2 + budget
            noisy = round(len(rows) + self.draw.laplace(scale=1 / spent))
            if noisy >= 2 * sqrt(2) / spent:
                self.published[cut] += noisy
            return
        node, kept = inner[0], cut - {inner[0]}
        share = budget / sum(self.inner[one] for one in inner)
        parts: dict[Row, list[Row]] = {}
        for row in rows:
            held = frozenset(child for child in self.children[node] if self.holds(row, child))
            parts.setdefault(held, []).append(row)
        least = 2 * sqrt(2) * self.tree.height / share
        for held in sorted(parts, key=sorted):
            if len(parts[held]) + self.draw.laplace(scale=1 / share) >= least:
                self.split(parts[held], kept | held, budget - share)
        empty = 2 ** len(self.children[node]) - 1 - len(parts)
        for _ in range(self.draw.binomial(empty, np.exp(-least * share) / 2)):
            size = max(1, self.draw.binomial(len(self.children[node]), 0.5))
            some = self.draw.choice(self.children[node], size, replace=False)
            self.split([], kept | frozenset(some.tolist()), budget - share)

    def holds(self, row: Row, node: int) -> bool:
        """Return whether a row has an item below a node."""
        return any(self.tree.low[node] <= item < self.tree.high[node] for item in row)


def main() -> None:
    """Print a line for each data set and epsilon."""
    options = parser("The errors of pairs after DiffPart.")
    options.add_argument("--epsilon", type=float, nargs="+", default=[1, 10])
    options.add_argument("--draws", type=int, default=3)
    options.add_argument("--fanout", type=int, default=10)
    options.set_defaults(names=["groceries", "BMS-WebView-1"])
    arguments = options.parse_args()
    print("data epsilon rows pairs error")
    for name, (path, _) in files(arguments).items():
        data = sv.read(path)
        tree = sv.Hierarchy.balanced(data, arguments.fanout, order="number")
        rows = [frozenset(int(tree.low[tree.id(item)]) for item in row) for row in data.rows() if row]
        true: Counter[frozenset[str]] = Counter(
            frozenset(pair) for row in data.rows() for pair in combinations(row, 2)
        )
        for epsilon in arguments.epsilon:
            lines = []
            for at in range(arguments.draws):
                made = DiffPart(tree, epsilon, np.random.default_rng(at))
                made.split(rows, frozenset({tree.root}), epsilon / 2)
                leaf = {int(tree.low[node]): tree.labels[node] for node in range(tree.n_leaves)}
                shown: Counter[frozenset[str]] = Counter()
                for cut, number in made.published.items():
                    named = [leaf[int(tree.low[node])] for node in cut]
                    for pair in combinations(named, 2):
                        shown[frozenset(pair)] += number
                queries = [frozenset(query) for query in from_rows(data, 2, 2 * at)]
                error = np.mean([abs(shown[one] - true[one]) / true[one] for one in queries])
                long = sum(number for cut, number in made.published.items() if len(cut) > 1)
                lines.append((made.published.total(), long, float(error)))
            means = np.mean(lines, axis=0)
            print(
                name, f"{epsilon:g}", f"{means[0]:.0f} {means[1] / means[0]:.3f} {means[2]:.3f}", flush=True
            )


if __name__ == "__main__":
    main()

"""Rows in parts are published as rows in memory are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from setveil.releases.published.in_parts import publish_parts
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import publish
from setveil.rows.engine.parts import RowsOnDisk
from strategies import cut_up, examples, random_case, seeded


def test_same_rows_in_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(77)
    several = 0
    for number in range(examples(80, 20)):
        case = random_case(rng, most_rows=60)
        data, tree = case.data, case.tree
        for name, most in (("OF_A_BUCKET", 20), ("AT_ONCE", 9)):
            monkeypatch.setattr(f"setveil.releases.published.in_parts.{name}", rng.randint(1, most))
        monkeypatch.setattr("setveil.rows.engine.parts.OF_A_PART", rng.randint(1, 60))
        monkeypatch.setattr("setveil.rows.engine.content.OF_A_PART", rng.randint(1, 60))
        pieces = cut_up(data, [rng.randint(0, data.n_rows) for _ in range(3)])
        folders = [tmp_path / f"{kind}{number}" for kind in "ab"]
        for folder in folders:
            folder.mkdir()
        parts = RowsOnDisk.write(folders[0], pieces, data.vocabulary)
        image = np.arange(tree.n_nodes, dtype=np.int32)
        top = rng.choice([tree.root, *(v for v in range(tree.n_leaves, tree.n_nodes))])
        image[tree.under(top)] = top
        nodes = sorted({int(image[leaf]) for leaf in range(tree.n_leaves)})
        made = Recoding.from_cut(tree, nodes, [v for v in nodes if rng.random() < 0.1])
        seed = rng.randint(0, 5)
        expected = publish(data, made, seed).published
        progress: list[float] = []
        found = publish_parts(parts, made, seed, folders[1], progress.append)
        assert found.vocabulary == expected.vocabulary
        assert found.supports().tolist() == expected.supports().tolist()
        assert (found.n_rows, found.n_occurrences) == (expected.n_rows, expected.n_occurrences)
        assert found.filled_rows == expected.filled_rows
        several += len(found.buckets) > 1
        size = rng.randint(1, 20)
        rows = list(found.pieces(size))
        assert [row for piece in rows for row in piece] == list(expected)
        assert all(piece.n_rows == size for piece in rows[:-1])
        assert progress == sorted(progress)
        assert not list(folders[1].iterdir())
    assert several > 5

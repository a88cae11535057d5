"""
The effect of the hierarchy
===========================

A hierarchy determines which items may become one label. The same rows and the same
guarantee under four hierarchies: styles, styles in three parts each, items that occur
together, and items in the order of their names.
"""

import matplotlib.pyplot as plt
import numpy as np

import setveil as sv
from setveil.rows.hierarchy.build import balanced, by_cooccurrence

# %%
# Songs on 1,500 playlists: sixty songs of six styles. Most playlists have one style and
# one or two more songs.

rng = np.random.default_rng(7)
styles = ["folk", "jazz", "opera", "punk", "soul", "techno"]
songs = [f"song {number:02}" for number in range(60)]
by_style = {style: songs[place::6] for place, style in enumerate(styles)}
falling = 1 / np.arange(1, 11)
falling /= falling.sum()
playlists = []
for _ in range(1500):
    main = by_style[rng.choice(styles)]
    chosen = rng.choice(main, rng.integers(1, 5), replace=False, p=falling).tolist()
    playlists.append([*chosen, *rng.choice(songs, rng.integers(0, 2)).tolist()])
rows = sv.Transactions.from_rows(playlists)

# %%
# ``balanced`` with ``order="number"`` groups items in their order, as the literature
# does for data without groups.

whole = sv.Hierarchy.from_paths(
    [song, style, "*"] for style in styles for song in by_style[style]
)
divided = sv.Hierarchy.from_paths(
    [song, f"{style}, {('hits', 'known', 'rare')[place // 4]}", style, "*"]
    for style in styles
    for place, song in enumerate(by_style[style])
)
hierarchies = {
    "by style": whole,
    "by style and fame": divided,
    "by co-occurrence": by_cooccurrence(rows, fanout=5),
    "by name": balanced(rows, fanout=5, order="number"),
}
releases = {
    name: sv.anonymize(rows, k=5, m=2, hierarchy=tree)
    for name, tree in hierarchies.items()
}

# %%
# Groups of five arbitrary songs lose half as much as whole styles. Dividing the styles
# also helps, but less. Meaning matters, too: *jazz, rare* needs no explanation,
# ``C1_3`` does, and groups in the order of names have no meaning at all.

figure, (left, right) = plt.subplots(
    1, 2, figsize=(8, 3.4), layout="constrained", sharey=True
)
names = list(releases)
left.barh(names, [releases[name].utility["lm"] for name in names], color="C0")
right.barh(
    names, [releases[name].utility["published_labels"] for name in names], color="C2"
)
left.set(xlabel="loss (LM)")
right.set(xlabel="published labels")
left.invert_yaxis()
plt.show()

"""Labels where one known item shows several: the next release of a series, and who is withheld.

- `exact.py` and `greedy.py` find the labels of the next release, `together.py` those of several;
- `codes.py`: the boxes of facts, where what is known of a code is all of its facts;
- `hold_back.py`: who has to stay out; `exposed.py`: who is found as it is; `found.py`: what searches answer;
- `_joined.py`: one row for each person; `_forest.py`: the trees whose cuts are free; `_walk.py` finds what
  too few people fit;
- `_search.py` is the program; `_repair.py` coarsens labels until they satisfy the guarantee;
- `_next.py`: what every search for the next release begins and ends with.
"""

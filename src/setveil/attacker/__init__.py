"""What an attacker learns from rows: how few fit, and what these reveal.

`attack.py` asks for sizes of knowledge (`knowledge.py`), exactly, or from samples with an interval
(`sampling.py`); `inference.py` and `revealing.py` say what is learned of sensitive items. `in_parts.py`: of
rows on disk. `population.py`: what a match is worth to a stranger; `attacks/`: attacks on published rows.
"""

"""Everything an attacker learns from rows: how few fit, and what these reveal.

`attack.py` asks for sizes of knowledge (`knowledge.py`), exactly, or from samples (`sampling.py`);
`in_parts.py` is for rows on disk, `population.py` for attackers who do not know who is in the data,
`attacks/` for attempts.
"""

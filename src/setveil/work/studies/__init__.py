"""Many runs: `explore/`, `recommend/` and `compare/`; `worth.py` measures releases, `machine.py` machines."""

"""What Spark's Python workers are forked from, in tests: it has done once what each of them would do first.

To import pandas, pyarrow and numba takes a worker longer than its rows do. So does, after each task, to look
for garbage in what was imported, and before it, to list anew what is in the archives that Spark puts before
the installed pyspark, which is the same.
"""

from __future__ import annotations

import gc
import importlib
import sys

NEEDED = ("pandas", "pyarrow", "pyspark.worker", "setveil.engine.spark")


def main() -> None:
    """Serve as `pyspark.daemon` does."""
    for place in [place for place in sys.path if place.endswith((".jar", ".zip"))]:
        sys.path.remove(place)
        sys.path_importer_cache.pop(place, None)
    for module in NEEDED:
        importlib.import_module(module)
    import numpy as np
    from pyspark.daemon import manager

    from setveil.kernels.rows import frozen, recode_rows

    nothing = frozen([], np.int32)
    recode_rows(frozen([0], np.int64), nothing, nothing)
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()

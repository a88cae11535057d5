"""What Spark's Python workers are forked from, in tests: it has done once what each of them would do first.

To import pandas, pyarrow and numba takes a worker longer than its rows do. So does, after each task, to look
for garbage in what was imported, and before it, to list anew what is in the archives that Spark puts before
the installed pyspark, which is the same.
"""

from __future__ import annotations

import gc
import sys

import warm


def main() -> None:
    """Serve as `pyspark.daemon` does."""
    for place in [place for place in sys.path if place.endswith((".jar", ".zip"))]:
        sys.path.remove(place)
        sys.path_importer_cache.pop(place, None)
    import pandas as pd  # noqa: F401
    import pyarrow as pa  # noqa: F401
    import pyspark.worker  # noqa: F401
    from pyspark.daemon import manager

    import setveil.engine.spark  # noqa: F401

    warm.call_compiled()
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()

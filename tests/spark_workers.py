"""The process from which Spark's Python workers are forked in tests: it starts them with the imports done.

Importing pandas, pyarrow and numba takes a worker longer than processing its rows. So does collecting garbage
in the imported modules after each task, and listing the archives that Spark puts before the installed pyspark
before each task, although they are the same.
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

    import setveil.rows.engine.spark  # noqa: F401

    warm.call_compiled()
    gc.freeze()
    manager()


if __name__ == "__main__":
    main()

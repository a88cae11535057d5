"""k^m-anonymity of rows that Spark holds: for data that outgrow one machine (see docs/scale.md).

    import setveil as sv
    import setveil.spark
    guarantee = sv.KmAnonymity(k=5, m=2)
    release = setveil.spark.anonymize(frame, guarantee, hierarchy="products.csv", items="items")
    release.write("/shared/release")
    setveil.spark.verify("/shared/release", guarantee)

The caller's session is used as it is.
"""

from __future__ import annotations

try:
    import pyspark  # noqa: F401
except ImportError as error:
    from setveil.base.version import install

    raise ImportError(f"setveil.spark needs pyspark: {install('spark')}") from error

from setveil.spark.check import verify
from setveil.spark.release import SparkRelease, anonymize

__all__ = ["SparkRelease", "anonymize", "verify"]

"""One session for all tests of Spark: a driver, two executors, and their Python workers, each a process."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LEAST_JAVA = 17
VECTORS = "jdk.incubator.vector"  # Spark 4 starts every Java with this module


def lacking() -> str:
    """Say what Spark needs and this machine lacks; empty if nothing."""
    if importlib.util.find_spec("pyspark") is None:
        return "pyspark is not installed: pip install -e '.[spark]'"
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    if java is None or not Path(java).is_file():
        return "there is no java; Spark 4 needs Java 17 or later"
    output = subprocess.run([java, "-version"], capture_output=True, text=True, check=False).stderr
    version = re.search(r'version "(\d+)', output)
    if version is None or int(version[1]) < LEAST_JAVA:
        return f"java is too old, Spark 4 needs Java {LEAST_JAVA} or later: {output.partition(chr(10))[0]}"
    modules = subprocess.run([java, "--list-modules"], capture_output=True, text=True, check=False).stdout
    return "" if VECTORS in modules else f"java lacks the module {VECTORS}"


def start() -> SparkSession:
    """Start the session of the tests."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    here = Path(__file__).parent
    imported = os.pathsep.join(map(str, (here, here.parent / "src")))
    short = (
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # for processes that live for seconds: a third less time
    )
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("setveil")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "3",
        # To compile each query takes longer than to run it over a few hundred rows.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": short,
        "spark.executor.extraJavaOptions": short,
        "spark.executorEnv.PYTHONPATH": imported,
        "spark.python.daemon.module": "spark_workers",
        "spark.python.unix.domain.socket.enabled": "true",  # TCP waits for more before it answers a few bytes
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started

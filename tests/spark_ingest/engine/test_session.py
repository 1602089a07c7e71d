"""Sessions: started for a job and gone with it; and what is said when that cannot be."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_ingest.engine import session
from spark_ingest.engine.session import check_installed, make_session
from spark_ingest.errors import SparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REPOSITORY = Path(__file__).parents[3]


def run(
    code: str, *, scratch: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Code in a process of its own, whose temporary files are in a folder of its own."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(scratch), **(env or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_the_caller_s_session_is_used_and_left_alone(spark: SparkSession) -> None:
    with make_session(spark=spark) as used:
        assert used is spark
    with make_session() as used:
        assert used.sparkContext is spark.sparkContext
    assert spark.range(3).count() == 3


def test_another_master_beside_it_is_refused(spark: SparkSession) -> None:
    message = "is active in this process: hand it over by spark=, or stop it first"
    with pytest.raises(SparkError, match=message), make_session("local[1]"):
        pass


def test_the_interrupt_is_not_spark_s(spark: SparkSession) -> None:
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_workers_python_is_that_of_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(session.WORKERS_PYTHON, "of the environment")
    said = {session.WORKERS_PYTHON_CONF: "of the configuration"}
    with session._environment("spark://host:7077", said, {}):
        assert os.environ[session.WORKERS_PYTHON] == "of the configuration"
    assert os.environ[session.WORKERS_PYTHON] == "of the environment"
    with session._environment("spark://host:7077", {}, {}):
        assert os.environ[session.WORKERS_PYTHON] == "of the environment"
    monkeypatch.delenv(session.WORKERS_PYTHON)
    with session._environment("local[2]", {}, {"spark.local.dir": "/somewhere"}):
        assert os.environ[session.WORKERS_PYTHON] == sys.executable
    assert session.WORKERS_PYTHON not in os.environ


@pytest.mark.parametrize("module", ["pyspark", "pyarrow"])
def test_what_is_not_installed(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    for name in [name for name in sys.modules if name.partition(".")[0] == module]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(SparkError, match=rf"a Spark job needs {module}: pip install '.+\[spark\]'"):
        check_installed()


def test_no_java(tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    code = (
        "from spark_ingest import Source, SparkError, prepare\n"
        "try:\n    prepare(Source(table='rows'), 'nowhere', timestamp='at')\n"
        "except SparkError as error:\n    print(error)"
    )
    ran = run(code, scratch=tmp_path, env={"JAVA_HOME": "", "PATH": "/nowhere"})
    assert ran.stdout.startswith(
        "Spark needs Java, and there is none on the PATH and no JAVA_HOME: install Java 17"
    )
    assert not (REPOSITORY / "nowhere").exists()
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_what_starts_ends_and_leaves_nothing(java: None, tmp_path: Path) -> None:
    """Two in turn, with other configurations; the first is killed, and that is told in a line.

    The second is interrupted while it ends, and ends even so.
    """
    code = """
import os, signal
from pyspark import SparkContext
from spark_ingest import SparkError
from spark_ingest.engine.failing import understood
from spark_ingest.engine import session as engine
from spark_ingest.engine.session import make_session

reap = engine._reap
handler, install, taken = signal.getsignal(signal.SIGINT), signal.signal, []
signal.signal = lambda number, given: taken.append(str(given)) or install(number, given)
small = {"spark.driver.memory": "512m"}
try:
    with make_session("local[1]", small | {"spark.x": True}) as spark, understood("counting"):
        assert spark.conf.get("spark.x") == "true"
        assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
        os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
        SparkContext._gateway.proc.wait()
        spark.range(5).count()
except SparkError as error:
    print(error)
engine._reap = lambda process: (os.kill(os.getpid(), signal.SIGINT), reap(process))
try:
    with make_session("local[1]", small, "second") as spark:
        assert spark.sparkContext.appName == "second"
        assert spark.range(5).rdd.map(lambda row: row.id).sum() == 10
        process = SparkContext._gateway.proc
except KeyboardInterrupt:
    print("interrupted")
engine._reap = reap
assert process.returncode is not None
assert signal.getsignal(signal.SIGINT) is handler
assert taken and not any("SparkContext" in given for given in taken), taken  # not for a moment
try:
    with make_session("local[1]", small | {"spark.driver.memory": "lots"}):
        pass
except SparkError as error:
    print(str(error).splitlines()[0])
"""
    ran = run(code, scratch=tmp_path)
    assert ran.stderr == ""
    lines = ran.stdout.splitlines()
    assert lines[0].startswith("counting failed: Spark's Java process was killed by signal 9; if memory")
    assert lines[1] == "interrupted"
    assert lines[2].startswith("Spark does not start: ")
    assert ran.returncode == 0
    assert [name for name in os.listdir(tmp_path) if not name.startswith("hsperf")] == []

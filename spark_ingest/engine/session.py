"""A SparkSession for a job: started for it and gone with it, or the caller's own, which is left as it was."""

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from typing import IO, TYPE_CHECKING, Any

from spark_ingest.engine.failing import short, unlogged
from spark_ingest.engine.installing import install_command
from spark_ingest.engine.interrupts import interrupts_later
from spark_ingest.engine.java import find_java
from spark_ingest.engine.scratch import scratch
from spark_ingest.errors import SparkError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
TIME_ZONE = "spark.sql.session.timeZone"
WAREHOUSE = "spark.sql.warehouse.dir"
DEFAULTS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    TIME_ZONE: "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
OF_A_LOCAL_MASTER = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
LOG_LEVEL = "spark.log.level"
WORKERS_PYTHON = "PYSPARK_PYTHON"
WORKERS_PYTHON_CONF = "spark.pyspark.python"
"""The same as configuration, which pyspark reads only if spark-submit has started it."""
JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"
"""For the driver's Java, beside those of `spark.driver.extraJavaOptions`."""
QUIET = "ERROR"
PATIENCE_S = 5.0
"""Seconds that one who is interrupted has to tidy up; a signal after that kills Java, which may hang."""
_LAST_LINES = 5
_ENDS_WITHIN_S = 20


@contextmanager
def make_session(
    master: str | None = None,
    conf: Mapping[str, Any] | None = None,
    app: str = "viper",
    spark: SparkSession | None = None,
) -> Iterator[SparkSession]:
    """A session to work with.

    If the caller has one, that is used and left running. So is one that is active in this process, if neither
    a master nor a configuration is asked for. Otherwise Java is started, and ended with the block. Spark's
    log is kept quiet unless `conf` sets ``spark.log.level``.

    Args:
        master: Spark's master; None: ``local[*]``, or as `conf` says.
        conf: Spark's configuration.
        app: the application's name.
        spark: the caller's session.

    Raises:
        SparkError: pyspark, pyarrow or Java is missing or too old; Spark does not start; another session is
            active in this process.
    """
    check_installed()
    active = spark or _active()
    if active is None:
        with _started(master or (conf or {}).get("spark.master", LOCAL), conf or {}, app) as made:
            yield made
    elif spark is None and (master is not None or conf):
        raise SparkError(
            "a Spark session with its own master and configuration is active in this process: "
            "hand it over by spark=, or stop it first"
        )
    else:
        yield active


def sql_settings(conf: Mapping[str, Any] | None, spark: SparkSession | None = None) -> dict[str, str]:
    """The settings of Spark's SQL that `make_session` would have, found without starting it.

    They may decide what rows a job makes; those that differ from one session to the next anyway are left out.
    """
    active = spark or (_active() if "pyspark" in sys.modules else None)
    if active is None:
        found = {**DEFAULTS, **{key: _as_spark_writes(value) for key, value in (conf or {}).items()}}
    else:
        found = {**active.conf.getAll, TIME_ZONE: str(active.conf.get(TIME_ZONE))}
    return {key: found[key] for key in sorted(found) if key.startswith("spark.sql.") and key != WAREHOUSE}


def kill_java() -> bool:
    """Kill the Java of this process, so that nobody waits for it any longer; False if there is none.

    It may be called in a signal handler.
    """
    context = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    process = getattr(getattr(context, "_gateway", None), "proc", None)
    if process is None or process.poll() is not None:
        return False
    process.kill()
    return True


def check_installed() -> None:
    """Refuse to continue without the Python packages that Spark needs.

    Raises:
        SparkError: pyspark or pyarrow is not installed.
    """
    for module in ("pyspark.sql", "pyarrow"):
        try:
            import_module(module)
        except ImportError as error:
            package = module.partition(".")[0]
            raise SparkError(f"a Spark job needs {package}: {install_command()} ({error})") from error


def _active() -> SparkSession | None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    return SparkSession.getActiveSession() if SparkContext._active_spark_context else None


@contextmanager
def _started(master: str, conf: Mapping[str, Any], app: str) -> Iterator[SparkSession]:
    import pyspark

    if master.startswith("sc://") or "SPARK_REMOTE" in os.environ:
        raise SparkError(f"master {master!r}: Spark Connect is not supported; give the cluster's own master")
    find_java(pyspark.__version__)
    with _scratch(master) as of_scratch, tempfile.TemporaryFile("a+b") as log:
        settings = {**DEFAULTS, **of_scratch, **(OF_A_LOCAL_MASTER if is_local(master) else {})}
        settings |= {"spark.master": master, "spark.app.name": app, LOG_LEVEL: QUIET}
        settings |= {key: _as_spark_writes(value) for key, value in conf.items()}
        gateway = None
        try:
            with _environment(master, settings, of_scratch):
                with interrupts_later():  # or nobody would know what to end
                    gateway = _launch(settings, None if LOG_LEVEL in conf else log, log)
                with interrupts_later(kill_java), unlogged():  # which leaves pyspark as `_end` can clear it
                    session = _session(log)
            yield session
        finally:
            if gateway is not None:
                with interrupts_later(_impatience()):  # or Java would outlive what has started it
                    _end(gateway)


def is_local(master: str) -> bool:
    """True if all of Spark runs on this machine."""
    return master.startswith("local")


@contextmanager
def _scratch(master: str) -> Iterator[dict[str, str]]:
    """On this machine a folder for Spark's own files, which is gone with the session."""
    if not is_local(master):
        yield {}
        return
    with scratch() as folder:
        yield {"spark.local.dir": str(folder), WAREHOUSE: f"{folder}/warehouse"}


def _as_spark_writes(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _launch(settings: Mapping[str, str], stderr: IO[bytes] | None, log: IO[bytes]) -> Any:
    """Start Java. Its output goes into the log, not among what the caller shows."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkException
    from pyspark.java_gateway import launch_gateway

    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    try:
        gateway = launch_gateway(conf, {"stderr": stderr, "stdout": stderr})  # type: ignore[no-untyped-call]
    except (PySparkException, OSError) as error:
        raise SparkError(f"Spark does not start: {short(error)}{_told(log)}") from error
    SparkContext._gateway = gateway
    SparkContext._jvm = gateway.jvm
    return gateway


def _session(log: IO[bytes]) -> SparkSession:
    """The session of the Java that was just launched, which has its configuration already."""
    from py4j.protocol import Py4JError
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    try:
        with warnings.catch_warnings(), ThreadPoolExecutor(1, "spark-start") as starting:
            # Says that it was not tested with the newest pandas, which is not used here.
            warnings.simplefilter("ignore", FutureWarning)
            # In the main thread it would take Ctrl-C for itself, before all is there that is to be ended.
            starting.submit(SparkContext.getOrCreate).result()
            return SparkSession.builder.getOrCreate()
    except (Py4JError, PySparkException, ConnectionError) as error:
        raise SparkError(f"Spark does not start: {short(error)}{_told(log)}") from error


def _told(log: IO[bytes]) -> str:
    """The last lines of Java's own words."""
    log.seek(0)
    lines = [line for line in log.read().decode(errors="replace").splitlines() if line.strip()]
    return "".join(f"\n    {line:.200}" for line in lines[-_LAST_LINES:])


def _end(gateway: Any) -> None:
    """Stop the session and end Java, whatever state they are in, so that the next can be started."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    context = SparkContext._active_spark_context
    with unlogged(), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # A Java that was killed does not stop cleanly.
        try:
            if context is not None:
                context.stop()
            gateway.shutdown()
        except Exception:  # Java is gone, and so is all that was to be stopped.
            pass
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    _reap(gateway.proc)


def _impatience() -> Callable[[], None]:
    """Handle a signal while Java is being ended: kill it, once it has had some time."""
    until_s = time.monotonic() + PATIENCE_S

    def hurry() -> None:
        if time.monotonic() > until_s:
            kill_java()

    return hurry


def _reap(process: Any) -> None:
    """Java ends when its standard input does."""
    import subprocess

    process.stdin.close()
    try:
        process.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def _environment(master: str, settings: Mapping[str, str], of_scratch: Mapping[str, str]) -> Iterator[None]:
    """On this machine the workers' Python is this one, unless the user says otherwise.

    And Java's own temporary files, which it leaves where it is killed, are in the folder that is removed.
    """
    wanted = {}
    if WORKERS_PYTHON_CONF in settings:
        wanted[WORKERS_PYTHON] = settings[WORKERS_PYTHON_CONF]
    if is_local(master):
        wanted.setdefault(WORKERS_PYTHON, os.environ.get(WORKERS_PYTHON) or sys.executable)
        own = f'"-Djava.io.tmpdir={of_scratch["spark.local.dir"]}"'
        wanted[JAVA_OPTIONS] = f"{own} {os.environ.get(JAVA_OPTIONS) or ''}"
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def set_for_now(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    """Have these settings within, and those of before afterwards."""
    before = {key: spark.conf.get(key, None) for key in conf}
    for key, value in conf.items():
        spark.conf.set(key, value)
    try:
        yield
    finally:
        for key, was in before.items():
            if was is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, was)


def utc(spark: SparkSession) -> AbstractContextManager[None]:
    """Expressions that are made within are in UTC: an expression's time zone is fixed when it is analysed."""
    return set_for_now(spark, {"spark.sql.session.timeZone": "UTC"})

"""Errors of Spark in a line or two."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

from framework.model.errors import ViperError
from spark_ingest.errors import SparkError

LONGEST = 500
_NOISE = re.compile(r" SQLSTATE: \w+;?|;$")

_DYING_S = 3.0
"""Seconds that a process may take to end after its connections have broken: freeing memory takes time."""

_OF_QUERIES = ("SQLQueryContextLogger", "DataFrameQueryContextLogger")
_OF_THE_GATEWAY = ("py4j.clientserver", "py4j.java_gateway")
"""Names of loggers that log what is raised as well, traces and all, for those who do not catch it."""


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Turn what Spark and the gateway to it raise within into a `SparkError`.

    Ctrl-C stays what it is, also where pyspark, tidying up after it, meets the connection that it has broken.

    Args:
        what: what was being done, e.g. ``"the job"``; begins the message.
    """
    from py4j.protocol import Py4JError, Py4JNetworkError
    from pyspark.errors import PySparkException

    try:
        with unlogged():
            yield
    except ViperError:
        raise
    except (Py4JError, PySparkException, ConnectionError, EOFError) as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from error
        is_broken = isinstance(error, (ConnectionError, EOFError, Py4JNetworkError))
        ended = _ended(_DYING_S if is_broken else 0.0)
        if ended is not None:
            raise SparkError(f"{what} failed: {ended}") from error
        if isinstance(error, (ConnectionError, EOFError)):
            raise
        raise SparkError(f"{what} failed in Spark: {short(error)}") from error


def _was_interrupted(error: BaseException) -> bool:
    """True if it was raised while an interrupt was on its way."""
    before = error.__context__
    return before is not None and (isinstance(before, KeyboardInterrupt) or _was_interrupted(before))


@contextmanager
def unlogged() -> Iterator[None]:
    """Nothing is logged within that is raised anyway; it may be nested, and run in several threads."""
    _hush.begin()
    try:
        yield
    finally:
        _hush.end()


class _Hush:
    """From the first that begins until the last ends."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may come upon itself
        self._count = 0
        self._undo = ExitStack()
        self._hushed: set[object] = set()

    def begin(self) -> None:
        """Silence what is there by now."""
        with self._lock:
            for thing, name, value in (*_loggers(), *_gateway()):
                if thing not in self._hushed:
                    self._hushed.add(thing)
                    self._undo.callback(setattr, thing, name, getattr(thing, name))
                    setattr(thing, name, value)
            self._count += 1  # last: what an interrupt before it leaves, the next undoes

    def end(self) -> None:
        """Let all speak again as before, once nobody needs it any more."""
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._hushed.clear()
                self._undo.close()


_hush = _Hush()


def _loggers() -> Iterator[tuple[object, str, Any]]:
    return ((logger, "disabled", True) for logger in _telling())


def _gateway() -> Iterator[tuple[object, str, Any]]:
    """py4j also logs by the root logger, and so gives a process without handlers one that stays."""
    module = sys.modules.get("py4j.java_gateway")
    if hasattr(module, "logging"):
        yield module, "logging", _SILENT


def _telling() -> list[logging.Logger]:
    """List the loggers to silence. Pyspark's have a class that their first maker decides on."""
    found = [logging.getLogger(name) for name in _OF_THE_GATEWAY]
    if "pyspark" in sys.modules:
        from pyspark.logger import PySparkLogger

        found += [PySparkLogger.getLogger(name) for name in _OF_QUERIES]
    return found


def _nothing(*arguments: Any, **options: Any) -> None:
    pass


_SILENT = SimpleNamespace(**{**vars(logging), "info": _nothing, "exception": _nothing})
"""The module `logging`, without py4j's lines about errors that it raises."""


def short(error: BaseException) -> str:
    """The innermost reason that Spark gives, without its traces and plans."""
    text = _innermost(error) or str(error)
    lines = [line for line in text.splitlines() if line.strip()]
    message = _of_python(lines) or _NOISE.sub("", lines[0].strip() if lines else type(error).__name__)
    return message if len(message) <= LONGEST else message[: LONGEST - 3] + "..."


def _of_python(lines: list[str]) -> str | None:
    """Of a trace from a Python worker: what was raised."""
    begin = next((i for i, line in enumerate(lines) if "Traceback (most recent" in line), None)
    if begin is None:
        return None
    return next((line for line in lines[begin + 1 :] if not line.startswith((" ", "\t"))), None)


def _innermost(error: BaseException) -> str | None:
    """Of a Java exception that reached us as it is: class and message of its first cause."""
    cause = getattr(error, "java_exception", None)
    try:
        while cause is not None and cause.getCause() is not None:
            cause = cause.getCause()
        return None if cause is None else str(cause.toString())
    except Exception:  # The JVM that could tell is gone.
        return None


def _ended(patience_s: float) -> str | None:
    """That the JVM of this process has ended, if it has, or does so within so many seconds."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    process = getattr(gateway, "proc", None)
    if process is None:
        return None
    try:
        status = process.wait(patience_s)
    except subprocess.TimeoutExpired:
        return None
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    return f"Spark's Java process {how}; if memory was short, give it more by spark.driver.memory"

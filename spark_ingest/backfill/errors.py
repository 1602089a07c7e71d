"""Errors of backfills, and how an error in an executor reaches the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from framework.model.errors import ViperError
from spark_ingest.engine.failing import understood as understood_by_spark
from spark_ingest.errors import SparkError


class BackfillError(ViperError, RuntimeError):
    """A component that raised in an executor, or that cannot do there what it does on one machine."""


class ShardError(ViperError, RuntimeError):
    """An error in one shard, on its way to the driver, where `shard_message` finds its message again."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{_BEGIN}{message}{_END}")


_BEGIN, _END = "[backfill: ", " :backfill]"

_NOT_THERE = re.compile(r"No module named '(spark_ingest|framework|viper)\b")
_INSTALL = (
    "the executors' Python has not got this package: install it there as it was installed "
    "here, with the extra [spark], and name that Python by spark.pyspark.python or PYSPARK_PYTHON"
)


def shard_message(spark_says: str) -> str | None:
    """The message of a `ShardError` within the text of Spark's own error; None without one."""
    _, found, rest = spark_says.partition(_BEGIN)
    return rest.partition(_END)[0] if found else None


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Turn what Spark raises within into an error of ours.

    Args:
        what: what was being done; begins the message.

    Raises:
        BackfillError: a component raised, or cannot do in a shard what it does on one machine.
        SparkError: anything else that went wrong in Spark.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        with understood_by_spark(what):
            yield
    except ViperError as error:
        cause = error.__cause__
        message = shard_message(str(cause)) if isinstance(cause, Py4JError | PySparkException) else None
        if message is None and _NOT_THERE.search(str(error)):
            raise SparkError(f"{error}: {_INSTALL}") from cause
        if message is None:
            raise
        raise BackfillError(message if message.startswith(what) else f"{what}: {message}") from cause

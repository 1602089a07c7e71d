"""The keeper of a job, as the leading process of a run starts and ends it."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from spark_ingest.direct.request import Request
from spark_ingest.engine.interrupts import interrupts_later
from spark_ingest.errors import SparkError, rebuilt

POLL_S = 0.5
STOP_S = 30.0
"""Seconds that the keeper has to end everything that it has started."""


@contextmanager
def kept(request: Request) -> Iterator[Mapping[str, Any]]:
    """For as long as the block runs, so may the job; gives what `receiver.Receiver` needs, and ``min_us``.

    Spark has checked the job by then: the source can be read, its columns are there and can be carried, and
    there is room for all streams at once.

    An interrupt breaks off the start; what has been started is ended even so.

    Raises:
        ViperError: the job is refused, as by `spark_ingest.preparing.prepare`, or Spark failed.
    """
    line, keeper = request.to_line(), None
    try:
        with interrupts_later():  # or nobody would know whom to end
            keeper = _started()
        ready = _asked(keeper, line)
        yield {**ready, "listening": list(request.listening)}
    finally:
        if keeper is not None:
            with interrupts_later():  # which would leave it, and what it keeps, behind the process that ends
                _end(keeper)


def _started() -> subprocess.Popen[bytes]:
    """In a session of its own, so that Ctrl-C reaches it only by way of this process."""
    return subprocess.Popen(
        [sys.executable, "-m", "spark_ingest.direct.keeper"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
    )


def _asked(keeper: subprocess.Popen[bytes], line: bytes) -> dict[str, Any]:
    assert keeper.stdin is not None and keeper.stdout is not None
    with contextlib.suppress(OSError):
        keeper.stdin.write(line)
        keeper.stdin.flush()
    while not select.select([keeper.stdout], [], [], POLL_S)[0]:
        pass  # A signal that comes just before one begins to wait does not wake him.
    answer = keeper.stdout.readline()
    if not answer:
        status = keeper.wait()
        raise SparkError(f"the process that keeps the Spark job ended with status {status} before it began")
    content = json.loads(answer)
    if "failed" in content:
        raise rebuilt(content["failed"])
    ready: dict[str, Any] = content["ready"]
    return ready


def _end(keeper: subprocess.Popen[bytes]) -> None:
    assert keeper.stdin is not None and keeper.stdout is not None
    with contextlib.suppress(OSError):
        keeper.stdin.close()
    try:
        keeper.wait(STOP_S)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()
    finally:
        keeper.stdout.close()

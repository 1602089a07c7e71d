"""The process that keeps a job for the length of a run: its driver, the rendezvous, the end of its log.

The leading process starts it, and ends it by closing its standard input; a leading process that is killed
does that, too. It imports no Spark.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spark_ingest.direct.rendezvous import Rendezvous
from spark_ingest.direct.request import Request
from spark_ingest.errors import ended, plain

KEPT_LINES = 200
"""Lines of the log that are kept."""
STOP_S = 10.0
"""Seconds that the driver and Spark's Java process have to end by themselves; then they are killed."""


def main() -> None:
    """Keep the job that standard input describes, until standard input ends."""
    line = sys.stdin.buffer.readline()
    if not line:
        return
    request = Request.from_line(line)
    secret = secrets.token_hex(32)
    rendezvous = Rendezvous(request.listening, secret)
    try:
        with tempfile.TemporaryDirectory(prefix="viper-spark-", ignore_cleanup_errors=True) as folder:
            keeper = Keeper(rendezvous)
            with keeper.driven(line, secret, folder):
                sys.stdin.buffer.read()
    finally:
        rendezvous.close()


class Keeper:
    """Starts and ends the driver, and reports to the leading process and the tasks how it fares.

    Args:
        rendezvous: where the tasks listen.
    """

    def __init__(self, rendezvous: Rendezvous) -> None:
        self._rendezvous = rendezvous
        self._log: deque[str] = deque(maxlen=KEPT_LINES)
        self._is_ready = False
        self._is_over = False
        """True if the job has come to its end, or has reported why it cannot."""

    @contextmanager
    def driven(self, line: bytes, secret: str, folder: str) -> Iterator[None]:
        """For as long as the block runs, so may the driver.

        Args:
            line: the request.
            secret: what tasks and executors prove that they know.
            folder: for Spark's temporary files.
        """
        reading, writing = os.pipe()
        settings = {
            "messages": writing,
            "rendezvous": self._rendezvous.address,
            "secret": secret,
            "folder": folder,
        }
        with _started(writing, folder) as driver, open(reading, encoding="utf-8") as messages:
            os.close(writing)
            logging = _thread(self._keep_log, driver)
            watching = _thread(self._watch, driver, messages, logging, secret)
            with contextlib.suppress(OSError):
                _give(driver, json.dumps(settings).encode() + b"\n" + line)
            try:
                yield
            finally:
                self._is_over = True
                _end(driver, logging)
                watching.join()

    def _watch(
        self, driver: subprocess.Popen[bytes], messages: Any, logging: threading.Thread, secret: str
    ) -> None:
        """Pass on what the driver says, and that it has ended, if it did not say why."""
        for line in messages:
            self._pass_on(json.loads(line), secret)
        status = driver.wait()
        logging.join(1.0)  # Java may outlive the driver for a moment.
        if not self._is_over:
            self._fail(plain(ended(status, list(self._log))))

    def _pass_on(self, message: dict[str, Any], secret: str) -> None:
        if "ready" in message:
            self._is_ready = True
            _say(ready={**message["ready"], "address": self._rendezvous.address, "secret": secret})
        elif "failed" in message:
            self._fail(message["failed"])
        else:
            self._is_over = "epochs" in message
            self._rendezvous.tell(**message)

    def _fail(self, error: dict[str, Any]) -> None:
        self._is_over = True
        if self._is_ready:
            self._rendezvous.tell(failed=error)
        else:
            _say(failed=error)

    def _keep_log(self, driver: subprocess.Popen[bytes]) -> None:
        assert driver.stdout is not None
        for line in driver.stdout:
            self._log.append(line.decode(errors="replace").rstrip())


def _started(writing: int, folder: str) -> subprocess.Popen[bytes]:
    """A driver in a process group of its own, whose temporary files are in a folder."""
    return subprocess.Popen(
        [sys.executable, "-m", "spark_ingest.direct.driver"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(writing,),
        start_new_session=True,
        env={**os.environ, "TMPDIR": folder, "SPARK_LOCAL_DIRS": folder},
    )


def _give(driver: subprocess.Popen[bytes], data: bytes) -> None:
    assert driver.stdin is not None
    driver.stdin.write(data)
    driver.stdin.flush()


def _end(driver: subprocess.Popen[bytes], logging: threading.Thread) -> None:
    """Have the driver end, and all that it has started; its log ends with the last of them."""
    assert driver.stdin is not None
    with contextlib.suppress(OSError):
        driver.stdin.close()
    logging.join(STOP_S)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    logging.join()


def _say(**message: Any) -> None:
    """Tell the leading process; it listens until it has heard whether the job is sound."""
    with contextlib.suppress(OSError):
        print(json.dumps(message), flush=True)


def _thread(target: Any, *args: Any) -> threading.Thread:
    thread = threading.Thread(target=target, args=args, daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    main()

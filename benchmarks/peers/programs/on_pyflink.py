"""PyFlink's DataStream API in thread mode, where Flink's Java threads call Python within their own process.

The last Python function of each job counts what it emits; Java throws it away after that, so that no call
is paid for a sink. Options are ``par``, the parallelism, and ``buffer_ms``, after how many milliseconds a
buffer that is not full is handed on.
"""

from __future__ import annotations

import os
import socket
import sys
import sysconfig
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pyflink.common import Configuration, Types, WatermarkStrategy
from pyflink.datastream import (
    DataStream,
    FilterFunction,
    FlatMapFunction,
    KeyedProcessFunction,
    StreamExecutionEnvironment,
)
from pyflink.datastream.connectors.base import Sink
from pyflink.datastream.connectors.file_system import FileSource, StreamFormat
from pyflink.datastream.state import ValueStateDescriptor
from pyflink.java_gateway import get_gateway

from benchmarks.peers.jobs import Job
from benchmarks.peers.workloads import KEPT_FROM, Paced

FEED_PAUSE_S = 0.00025
"""Seconds for which rows gather before they are written. The feeding thread takes 12 % of a
processor so, and 22 %, which Flink would lack, where it writes them one by one."""

LONGS = Types.TUPLE([Types.LONG(), Types.LONG(), Types.LONG()])
RECORD = Types.TUPLE([Types.LONG(), Types.LONG(), Types.DOUBLE()])
COUNTED = Types.TUPLE([Types.STRING(), Types.LONG()])


class First:
    """Marks the first call in a process."""

    def __init__(self, job: Job) -> None:
        self._job, self._is_over = job, False

    def __call__(self) -> None:
        """Mark it, if it is this one."""
        if not self._is_over:
            self._is_over = True
            self._job.started()


class Split(FlatMapFunction):
    """Splits lines into words."""

    def __init__(self, job: Job) -> None:
        self._first = First(job)

    def flat_map(self, line: str) -> Iterable[str]:
        """Split one."""
        self._first()
        return line.split()


class Tallying:
    """A function that counts what it emits."""

    def __init__(self, job: Job) -> None:
        self._job, self._first, self._tally = job, First(job), job.tally()

    def close(self) -> None:
        """Say so."""
        self._job.ended(self._tally)


class Keyed(Tallying, KeyedProcessFunction):
    """A function with a number for each key."""

    def open(self, context: Any) -> None:
        """No key has been seen."""
        self._state = context.get_state(ValueStateDescriptor("number", Types.LONG()))


class Count(Keyed):
    """Counts each word, and emits it with its count."""

    def process_element(self, word: str, context: Any) -> Iterator[Any]:
        """Count one."""
        number = (self._state.value() or 0) + 1
        self._state.update(number)
        self._tally.take([(word, number)])
        yield word, number


class Change(Keyed):
    """Emits a record when the segment of its id differs from before."""

    def process_element(self, row: Any, context: Any) -> Iterator[Any]:
        """Compare one."""
        self._first()
        if self._state.value() != row[2]:
            self._state.update(row[2])
            self._tally.take([row])
            yield row


class CountPaced(Keyed):
    """Counts each key, and notes how late its tuple is."""

    def process_element(self, row: Any, context: Any) -> Iterator[Any]:
        """Count one."""
        number = (self._state.value() or 0) + 1
        self._state.update(number)
        self._tally.take([(row[0], number, row[1])])
        yield row[0], number, row[1]


class Keep(Tallying, FilterFunction):
    """Keeps the records of which the last value is large enough."""

    def filter(self, row: Any) -> bool:
        """Decide on one."""
        self._first()
        if row[-1] < KEPT_FROM:
            return False
        self._tally.take([row])
        return True


def environment(job: Job) -> StreamExecutionEnvironment:
    """Flink with the settings of a job, and what makes it faster."""
    settings = {
        "python.execution-mode": "thread",
        "python.executable": sys.executable,
        "python.client.executable": sys.executable,
        "pipeline.object-reuse": "true",
        "rest.address": "127.0.0.1",
        "rest.bind-address": "127.0.0.1",
    }
    configuration = Configuration()
    for name, value in settings.items():
        configuration.set_string(name, value)
    made = StreamExecutionEnvironment.get_execution_environment(configuration)
    made.set_parallelism(job.option("par", 1))
    if job.option("buffer_ms"):
        made.set_buffer_timeout(job.option("buffer_ms"))
    return made


def lines(flink: StreamExecutionEnvironment, job: Job) -> DataStream:
    """The lines, from a file, as Flink's collections travel through a slower way."""
    path = Path(job.folder, "lines.txt")
    path.write_text("".join(f"{line}\n" for (line,) in job.task.rows(job.size)), encoding="utf-8")
    source = FileSource.for_record_stream_format(StreamFormat.text_line_format(), str(path)).build()
    return flink.from_source(source, WatermarkStrategy.no_watermarks(), "lines")


def paced(flink: StreamExecutionEnvironment, job: Job) -> DataStream:
    """Rows as they are due, which a thread of this process writes into a socket."""
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=_feed, args=(server, job), daemon=True).start()
    port = server.getsockname()[1]
    texts = DataStream(flink._j_stream_execution_environment.socketTextStream("127.0.0.1", port))
    pair = Types.TUPLE([Types.LONG(), Types.LONG()])
    return texts.map(lambda text: tuple(map(int, text.split())), pair)


def _feed(server: socket.socket, job: Job) -> None:
    task = job.task
    assert isinstance(task, Paced)
    connection, _ = server.accept()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with server, connection:
        job.started()
        waiting: list[str] = []
        for key, due_ns in task.schedule(job.size):
            if (left_ns := due_ns - time.monotonic_ns()) > 0:
                connection.sendall("".join(waiting).encode())
                waiting.clear()
                time.sleep(max(left_ns / 1e9, FEED_PAUSE_S))
            waiting.append(f"{key} {due_ns}\n")
        connection.sendall("".join(waiting).encode())


def result_of(flink: StreamExecutionEnvironment, job: Job) -> DataStream:
    """The stream that a job ends with."""
    if job.workload == "words":
        words = lines(flink, job).flat_map(Split(job), Types.STRING())
        return words.key_by(lambda word: word, Types.STRING()).process(Count(job), COUNTED)
    if job.task.kind == "latency":
        return paced(flink, job).key_by(lambda row: row[0], Types.LONG()).process(CountPaced(job), LONGS)
    rows = job.task.rows(job.size)
    if job.workload == "changes":
        records = flink.from_collection(rows, LONGS)
        return records.key_by(lambda row: row[1], Types.LONG()).process(Change(job), LONGS)
    return flink.from_collection(rows, RECORD).filter(Keep(job))


def run(job: Job) -> None:
    """Run a job."""
    flink = environment(job)
    sinks = get_gateway().jvm.org.apache.flink.streaming.api.functions.sink.v2
    result_of(flink, job).sink_to(Sink(sinks.DiscardingSink()))
    flink.execute("workload")


if __name__ == "__main__":
    # The interpreter within Java finds neither the packages of this environment nor this one by itself.
    packages = sysconfig.get_path("purelib")
    if packages not in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        os.environ["PYTHONPATH"] = os.pathsep.join([packages, os.environ.get("PYTHONPATH", "")])
        os.execv(sys.executable, [sys.executable, "-m", str(__spec__.name)])
    run(Job.given())

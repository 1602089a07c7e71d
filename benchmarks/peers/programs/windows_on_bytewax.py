"""Windows of words, counted by Bytewax: one worker, and its own operator for counts.

Prints a line of JSON: CPU seconds from the first row to the end of the last window, how many windows there
were, and a digest of them. The arguments are words, keys, and the microseconds between two words, the size of
a window and its advance, as `benchmarks.windows` has them.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

import bytewax.operators as op
import bytewax.operators.windowing as windowing
from bytewax.dataflow import Dataflow
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.testing import TestingSource, run_main

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
AT_ONCE = 1000
"""Items that the source hands over at once; a larger number is no faster."""

WAIT = timedelta(seconds=30)
"""The time by the system's clock for which a window stays open. With none, rows are late on a busy
machine, and windows are wrong. The cost is the same."""


class Windows(DynamicSink, StatelessSinkPartition):
    """Takes note of the windows."""

    def __init__(self, advance_us: int) -> None:
        self._advance_us = advance_us
        self.count = self.digest = 0

    def build(self, step_id: str, worker_index: int, worker_count: int) -> StatelessSinkPartition:
        """The only worker's."""
        return self

    def write_batch(self, items: list[Any]) -> None:
        """Note some."""
        self.count += len(items)
        for key, (number, count) in items:
            self.digest += zlib.crc32(key.encode()) * (number * self._advance_us + count)


def main() -> None:
    """Count the words of windows."""
    count, keys, step_us, size_us, advance_us = map(int, sys.argv[1:])
    size, advance = timedelta(microseconds=size_us), timedelta(microseconds=advance_us)
    rows = [
        (f"word{number * 7919 % keys}", EPOCH + timedelta(microseconds=number * step_us))
        for number in range(count)
    ]
    sink = Windows(advance_us)
    flow = Dataflow("windows")
    stream = op.input("source", flow, TestingSource(rows, batch_size=AT_ONCE))
    clock = windowing.EventClock(lambda row: row[1], wait_for_system_duration=WAIT)
    windower = (
        windowing.TumblingWindower(length=size, align_to=EPOCH)
        if size == advance
        else windowing.SlidingWindower(length=size, offset=advance, align_to=EPOCH)
    )
    counted = windowing.count_window("count", stream, clock, windower, lambda row: row[0])
    op.output("sink", counted.down, sink)
    begun = time.process_time()
    run_main(flow)
    print(json.dumps([time.process_time() - begun, sink.count, sink.digest]))


if __name__ == "__main__":
    main()

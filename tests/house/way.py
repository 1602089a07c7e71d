"""The files that a tuple touches from the `emit` of one bolt to the `process` of the next, as text.

``python -m tests.house.way`` traces the calls of one warm emit, once where both bolts run in a chain and once
where a gate lies between them, with everything in one thread. A newcomer who follows a tuple reads these. The
turns of the spout in between, and what the leading process does now and then, are left out. So are calls that
the executor makes by the clock: of several tuples, the one with the fewest files counts.
"""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

from framework import Bolt, Spout, TopologyBuilder, Tuple, run

ROOT = Path(__file__).resolve().parents[2]
OWN = tuple(f"{ROOT / folder}/" for folder in ("framework", "viper"))
OTHERS = ("spout_task.py", "limits.py")
"""The files below which nothing of the tuple's way is called."""
COUNT = 20_000
WARM = 15_000
STRIDE = 250
"""From `WARM` on, every tuple of so many is traced, if no other one is on its way."""


class Source(Spout):
    """Emits numbers."""

    outputs = ["number"]

    def tuples(self) -> Any:
        """Yield them."""
        for number in range(COUNT):
            yield [number]


class Trace:
    """The files whose functions were called on the way of each traced tuple."""

    def __init__(self) -> None:
        self.ways: list[set[str]] = []
        self._number = -1
        """The tuple that is on its way; -1 for none."""

    def emitted(self, number: int) -> None:
        """Trace a tuple from now on, if it is one to trace."""
        if self._number < 0 and number >= WARM and number % STRIDE == 0:
            self._number = number
            self.ways.append(set())
            sys.setprofile(self._called)

    def arrived(self, number: int) -> None:
        """End the trace of a tuple."""
        if number == self._number:
            sys.setprofile(None)
            self._number = -1

    def _called(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(OWN):
            return
        caller: FrameType | None = frame
        while caller is not None:
            if caller.f_code.co_filename.endswith(OTHERS):
                return
            caller = caller.f_back
        self.ways[-1].add(str(Path(frame.f_code.co_filename).relative_to(ROOT)))


def way(*, by_gate: bool) -> list[str]:
    """The files on the way of one tuple, in alphabetical order."""
    trace = Trace()

    class First(Bolt):
        """Emits each number; the trace begins at some of them."""

        outputs = ["number"]
        config = {"viper.stateless": True}

        def process(self, tup: Tuple) -> None:
            """Emit it."""
            trace.emitted(tup.values[0])
            self.emit(tup.values)

    class Second(Bolt):
        """Ends the trace."""

        def process(self, tup: Tuple) -> None:
            """Take a number."""
            trace.arrived(tup.values[0])

    builder = TopologyBuilder()
    builder.set_spout("source", Source)
    builder.set_bolt("first", First).shuffle_grouping("source")
    builder.set_bolt("second", Second).global_grouping("first")
    # As many tasks as asked for: inline, those of a bolt without state would be one.
    counts = {"first": 2 if by_gate else 1}
    run(builder, worker="inline", conf={"topology.acker.executors": 0, "viper.tasks": counts})
    return sorted(min(trace.ways, key=len))


if __name__ == "__main__":
    for name, files in {"chained": way(by_gate=False), "by a gate": way(by_gate=True)}.items():
        print(f"{name}: {len(files)} files", *files, sep="\n    ")

"""The cost of a change of parallelism: how soon it takes hold, and how late tuples on a schedule get.

A spout has a bolt remember a text of each key, and then emits tuples of these keys on a schedule. Meanwhile
the bolt has two tasks and three in turn, on two processes or threads. The figures are the times from a
command to the first tuple that a new owner of its key processes, and how late tuples come to the sink.
Lateness counts from when they were scheduled, and is printed beside that of the same run without any changes.

The first rate is half of the highest, which a run without a schedule has shown; the second is 20,000.

With `--backlog` there is no schedule, and the bolt is busy for 20 microseconds with each tuple, so that
channels of so many tuples are full. Then *late* is how long a tuple takes to the sink. It is measured with
state, which is handed over at one position of the input, and without. Then producers route by the new number
as soon as they hear of it.

    python benchmarks/reconfiguring.py [--keys N] [--bytes N] [--changes N] [--every S] [--place PLACE ...]
                                       [--rates N ...] [--backlog N ...]
"""

from __future__ import annotations

import argparse
import itertools
import json
import threading
import time
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from running import output_of, print_row

from framework import Bolt, Spout, TopologyBuilder, ValueState
from framework.model.config import resolve
from framework.operators.sinks import Sink
from framework.planning import make_plan
from framework.runtime import Run
from viper.hashing import group_of_hash, groups_of_task, stable_hash

PLACES: dict[str, dict[str, Any]] = {
    "processes": {"viper.worker": "process", "topology.workers": 2},
    "threads": {"viper.worker": "thread", "topology.workers": 2},
}
TASKS = 2, 3
"""Numbers of tasks that the bolt has in turn."""
GROUPS = 256
STRIDE = 7919
"""A prime: keys come in an order in which all groups have some soon."""
BEFORE_S = 1.0
"""Seconds of the schedule before the first change."""
AFTER_S = 2.0
"""Seconds that there are tuples after the last change: a full channel is longer than a period."""
LOOKED_AT = 64
"""Tuples between two looks whether there have been enough."""
BUSY_NS = 20_000
"""The time for which the bolt is busy with each tuple if channels are to be full."""
WIDTHS = (-9, 9, 8, 9, 9, 9, 9, 9, 9)


class Keys(Spout):
    """Every key once, without a schedule; then keys on a schedule, or as many without one.

    Args:
        keys: how many there are.
        rate: tuples a second; 0 for no schedule.
        count: tuples after the first of each key, at the least.
        filled: a file that says that each key has come once.
        enough: a file that says that no more tuples are needed than these.
    """

    outputs = ["key", "scheduled_ns"]

    def __init__(self, keys: int, rate: float, count: int, filled: str, enough: str) -> None:
        super().__init__()
        self._keys = keys
        self._period_ns = 1e9 / rate if rate else 0.0
        self._count = count
        self._filled = Path(filled)
        self._enough = Path(enough)

    def tuples(self) -> Iterator[tuple[int, int] | None]:
        """Yield the keys that are due by now, and None."""
        for key in range(self._keys):
            yield key, 0
        self._filled.touch()
        start_ns = time.monotonic_ns()
        for number in itertools.count():
            if number >= self._count and number % LOOKED_AT == 0 and self._enough.exists():
                break
            due_ns = start_ns + int(number * self._period_ns)
            if not self._period_ns:
                due_ns = time.monotonic_ns()
            while time.monotonic_ns() < due_ns:
                yield None
            yield number * STRIDE % self._keys, due_ns


class Passed(Bolt):
    """Emits which task has had a tuple, and when.

    Args:
        busy_ns: how long it is busy with each, in nanoseconds.
    """

    outputs = ["key", "scheduled_ns", "task", "at_ns"]
    config = {"viper.parallelism.max": max(TASKS), "viper.stateless": True}

    def __init__(self, busy_ns: int) -> None:
        super().__init__()
        self._busy_ns = busy_ns

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Find out which of its siblings the task is."""
        names = context["task->component"]
        siblings = sorted(int(task) for task, name in names.items() if name == self.component_name)
        self._index = siblings.index(self.task_id)

    def process(self, tup: Any) -> None:
        """Note one."""
        key, scheduled_ns = tup.values
        at_ns = time.monotonic_ns()
        while scheduled_ns and time.monotonic_ns() < at_ns + self._busy_ns:
            pass
        self.emit([key, scheduled_ns, self._index, at_ns])


class Held(Passed):
    """Remembers a text of each key, too.

    Args:
        busy_ns: as of the base class.
        size: of each text, in bytes.
    """

    config = {"viper.parallelism.max": max(TASKS)}
    text = ValueState("binary")
    times = ValueState("int64")

    def __init__(self, busy_ns: int, size: int) -> None:
        super().__init__(busy_ns)
        self._text = b"x" * size

    def process(self, tup: Any) -> None:
        """Note one."""
        if self.times.add(1) == 1:
            self.text.value = self._text
        super().process(tup)


class Seen(Sink):
    """Its result: of each tuple that was scheduled its key, task, when that had it, and how late it came."""

    config = {"viper.stateless": True}

    def __init__(self) -> None:
        super().__init__()
        self._columns = tuple(array("q") for _ in range(4))

    def consume(self, rows: Sequence[tuple[int, ...]]) -> None:
        """Note them."""
        now_ns = time.monotonic_ns()
        for key, scheduled_ns, task, at_ns in rows:
            if scheduled_ns:
                told = key, task, at_ns, now_ns - scheduled_ns
                for column, value in zip(self._columns, told, strict=True):
                    column.append(value)

    def result(self) -> tuple[array[int], ...]:
        """The four columns."""
        return self._columns


class Commands(threading.Thread):
    """Changes the number of tasks again and again, once each key has come; then there is enough."""

    def __init__(self, run: Run, filled: Path, enough: Path, changes: int, every_s: float) -> None:
        super().__init__(daemon=True)
        self.given: list[tuple[int, int, int]] = []
        """Monotonic time in nanoseconds of each command, and the numbers of tasks before and after it."""
        self._run = run
        self._filled = filled
        self._enough = enough
        self._changes = changes
        self._every_s = every_s

    def run(self) -> None:
        """Give them."""
        while not self._filled.exists():
            time.sleep(0.01)
        time.sleep(BEFORE_S)
        for number in range(self._changes):
            before, behind = TASKS[number % 2], TASKS[(number + 1) % 2]
            self.given.append((time.monotonic_ns(), before, behind))
            self._run.scale({"held": behind})
            time.sleep(self._every_s)
        time.sleep(AFTER_S if self._changes else 0)
        self._enough.touch()


def first_by_new_owners(
    commands: Sequence[tuple[int, int, int]], keys: Sequence[int], tasks: Sequence[int], at_ns: Sequence[int]
) -> list[float]:
    """Milliseconds from each command to the first tuple that a new owner of its key has processed."""
    owners = {count: owners_among(count) for count in TASKS}
    rows = sorted(zip(at_ns, tasks, keys, strict=True))
    found = []
    for command_ns, before, behind in commands:
        for at, task, key in rows[bisect_left(rows, (command_ns,)) :]:
            group = group_of_hash(stable_hash(key), GROUPS)
            if task == owners[behind][group] != owners[before][group]:
                found.append((at - command_ns) / 1e6)
                break
        else:
            raise AssertionError(f"no new owner has had a tuple after the change to {behind} tasks")
    return found


def owners_among(tasks: int) -> list[int]:
    """By key group the index of the task that has it."""
    return [task for task in range(tasks) for _ in groups_of_task(task, tasks, GROUPS)]


def once(args: argparse.Namespace) -> dict[str, Any]:
    """One run: in milliseconds when changes took hold, and how late tuples were; and rows a second."""
    with TemporaryDirectory() as folder:
        filled, enough = Path(folder) / "filled", Path(folder) / "enough"
        builder = TopologyBuilder()
        given = [args.keys, args.rates[0], args.count, str(filled), str(enough)]
        builder.set_spout("keys", Keys, args=given)
        busy_ns = BUSY_NS if args.backlog else 0
        held = Held(busy_ns, args.bytes) if args.bytes else Passed(busy_ns)
        builder.set_bolt("held", held, TASKS[0]).fields_grouping("keys", "key")
        builder.set_bolt("sink", Seen).global_grouping("held")
        topology = builder.build("reconfiguring")
        room = 4 * args.keys * (args.bytes + 100) + 2**26
        options = {**PLACES[args.place[0]], "viper.key.groups": GROUPS, "viper.state.bytes": room}
        if args.backlog:
            tuples = args.backlog[0]
            options |= {"viper.channel.tuples": tuples, "viper.channel.jumbos": tuples}
            options |= {"viper.channel.bytes": 2**20 + 100 * tuples}
        settings, problems = resolve(topology, options=options)
        assert not problems, problems
        run = Run(make_plan(topology, settings), settings)
        commands = Commands(run, filled, enough, args.changes, args.every)
        commands.start()
        report = run.execute()
        commands.join()
    keys, tasks, at_ns, late_ns = report.result("sink")
    changed = len(report.statistics.scaled)
    assert changed == args.changes, f"{changed} of {args.changes} changes were carried out"
    taken, late = sorted(first_by_new_owners(commands.given, keys, tasks, at_ns)), sorted(late_ns)
    return {
        "taken": [at(share, taken) for share in (0.5, 0.99)] if taken else [],
        "late": [at(share, late) / 1e6 for share in (0.5, 0.99, 0.999, 1)],
        "rate": len(at_ns) / (max(at_ns) - min(at_ns)) * 1e9,
    }


def measured(
    args: argparse.Namespace, place: str, rate: float, count: int, changes: int, *more: object
) -> dict[str, Any]:
    """One run in a process of its own."""
    numbers = ["--keys", args.keys, "--bytes", args.bytes, "--every", args.every, "--rates", rate]
    found: dict[str, Any] = output_of(
        __file__, "--once", "--place", place, "--count", count, "--changes", changes, *numbers, *more
    )
    return found


def print_found(found: dict[str, Any], *cells: object) -> None:
    """Print a line of the table."""
    told = [f"{ms:.1f}" for ms in found["taken"]] or ["-", "-"]
    told += [f"{ms:.1f}" for ms in found["late"]]
    print_row((*cells, *told), WIDTHS)


def print_rates(args: argparse.Namespace, place: str) -> None:
    """Measure on a schedule, with changes and without."""
    for rate in args.rates:
        rate = rate or measured(args, place, 0, args.count, 0)["rate"] / 2
        count = round(rate * (BEFORE_S + args.changes * args.every + AFTER_S))
        for changes in (0, args.changes):
            print_found(measured(args, place, rate, count, changes), place, round(rate), changes)


def print_backlogs(args: argparse.Namespace, place: str) -> None:
    """Measure without a schedule, with state and without."""
    for tuples in args.backlog:
        for name, size in (("state", args.bytes), ("stateless", 0)):
            more = "--backlog", tuples, "--bytes", size
            print_found(measured(args, place, 0, 0, args.changes, *more), place, tuples, name)


def at(share: float, ordered: Sequence[float]) -> float:
    """The value that a share of all lie below; of a share of 1 the last one."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def main() -> None:
    """Measure, and print a line for each place and rate, with changes and without."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--keys", type=int, default=1_000_000, help="(1,000,000)")
    parser.add_argument("--bytes", type=int, default=1000, help="of the text of each key (1,000)")
    parser.add_argument("--changes", type=int, default=60, help="of each run (60)")
    parser.add_argument("--every", type=float, default=0.5, help="seconds between two changes (0.5)")
    parser.add_argument("--place", nargs="+", choices=PLACES, default=list(PLACES), help="(all)")
    rates = [0, 20_000]
    parser.add_argument("--rates", nargs="+", type=float, default=rates, help="0: half of the highest")
    parser.add_argument("--backlog", nargs="+", type=int, default=[], help="tuples of each channel")
    parser.add_argument("--count", type=int, default=400_000, help="tuples that show the highest rate")
    parser.add_argument("--once", action="store_true", help="measure one in this process")
    args = parser.parse_args()
    if args.once:
        print(json.dumps(once(args)))
        return
    heads = ("taken p50", "taken p99", "late p50", "late p99", "p99.9", "max ms")
    print_row(("place", *(("channel", "bolt") if args.backlog else ("rows/s", "changes")), *heads), WIDTHS)
    for place in args.place:
        (print_backlogs if args.backlog else print_rates)(args, place)


if __name__ == "__main__":
    main()

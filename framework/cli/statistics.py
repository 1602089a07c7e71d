"""The traffic through a run's channels, and the load of its workers, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from framework.cli.table import table

if TYPE_CHECKING:
    from framework.runtime import RunStatistics
    from framework.runtime.observation import MeasuredTask
    from framework.runtime.observation.statistics import ChannelStatistics


_CHANNELS = (
    *("from", "to", "tuples", "jumbos", "bytes", "encoded", "decoded", "runs"),
    *("blocked s", "waiting", "held by"),
)
_TASKS = (
    *("task", "worker", "CPU s", "turns", "idle turns", "taken", "runs", "tuples a run"),
    *("emitted", "tuples a jumbo", "by stream"),
)


def statistics_lines(statistics: RunStatistics) -> Iterator[str]:
    """A table of each kind of thing of which there are any."""
    yield from table(_CHANNELS, [row for channel in statistics.channels for row in _rows(channel)])
    yield ""
    if statistics.tasks:
        yield from table(_TASKS, list(map(_task, statistics.tasks)))
        yield ""
    rows = [
        (
            *(e.worker, " ".join(e.tasks), _seconds(e.busy_s), _seconds(e.waited_s)),
            *(e.turns, e.rests, f"{e.rested_s:.3f}", f"{e.cpu_s:.3f}"),
        )
        for e in statistics.executors
    ]
    header = ("worker", "runs", "in turns s", "of it waiting s", "turns", "rests", "rested s", "CPU s")
    yield from table(header, rows)
    if statistics.states:
        yield ""
        states = [(s.component, s.state, s.per, s.keys, s.bytes) for s in statistics.states]
        yield from table(("state of", "name", "per", "keys", "bytes of all"), states)
    found = _groups, _transactions, _scaled, _checkpoints, _repeats
    for lines in (of_kind(statistics) for of_kind in found):
        if lines:
            yield from ("", *lines)


def _seconds(of_tasks: Sequence[float]) -> str:
    return " ".join(f"{seconds:.3f}" for seconds in of_tasks)


def _groups(statistics: RunStatistics) -> Sequence[str]:
    rows = [
        (g.component, g.group, g.task, g.accesses, f"{g.share:.1%}", g.keys, g.bytes)
        for g in statistics.groups
    ]
    header = ("hottest of", "group", "task", "accesses", "share", "keys", "bytes")
    return table(header, rows) if rows else ()


def _transactions(statistics: RunStatistics) -> Sequence[str]:
    rows = [
        (
            *(" ".join(t.tables), " ".join(t.members), t.transactions, t.aborted),
            *(t.evaluations, t.late, t.held_by),
        )
        for t in statistics.transactions
    ]
    header = ("tables", "transactions of", "all", "aborted", "evaluations", "late", "held by")
    return (*table(header, rows), "", *_evaluators(statistics)) if rows else ()


def _evaluators(statistics: RunStatistics) -> Sequence[str]:
    rows = [
        (
            *(" ".join(t.tables), t.evaluators.evaluator, t.evaluators.threads, t.evaluators.serial),
            *(t.evaluators.parallel, _ns(t.evaluators.serial_ns), _ns(t.evaluators.parallel_ns)),
            t.evaluators.why,
        )
        for t in statistics.transactions
    ]
    header = (
        "tables",
        "evaluator",
        "threads",
        "serially",
        "by threads",
        "ns serially",
        "ns by threads",
        "why",
    )
    return table(header, rows)


def _ns(found: float | None) -> str:
    """Write the time that an instruction takes."""
    return "" if found is None else f"{found:.1f}"


def _scaled(statistics: RunStatistics) -> Sequence[str]:
    rows = [(c.component, f"{c.at_s:.3f}", c.received, c.before, c.told, c.by) for c in statistics.scaled]
    header = ("scaled", "at s", "tuples before", "tasks before", "tasks", "by")
    return table(header, rows) if rows else ()


def _checkpoints(statistics: RunStatistics) -> Sequence[str]:
    made = statistics.checkpoints
    if made.last is None:
        return ()
    last = made.last
    rows = [
        (f"the last one ({last.id})", f"{last.elapsed_s:.3f}", f"{last.paused_s:.3f}", last.size),
        (f"all {made.count:,}", f"{made.elapsed_s:.3f}", f"{made.paused_s:.3f}", made.bytes),
    ]
    return table(("checkpoints", "written s", "paused s", "bytes"), rows)


def _repeats(statistics: RunStatistics) -> Sequence[str]:
    repeats = statistics.repeats
    rows = [(repeats.deaths, repeats.slices, repeats.tuples, repeats.left_out, repeats.went_back)]
    header = ("deaths", "slices repeated", "tuples", "left out", "gone back")
    return table(header, rows) if repeats.deaths else ()


def _rows(channel: ChannelStatistics) -> Iterator[tuple[object, ...]]:
    for reader in channel.readers:
        for source in channel.sources:
            taken = reader.taken[source.task]
            yield (
                *(source.task, reader.task, source.tuples, source.jumbos, source.payload_bytes),
                *(source.encoded, taken.decoded, taken.runs),
                f"{source.blocked_s:.3f}",
                reader.waiting[source.task],
                reader.held_by or "",
            )


def _task(task: MeasuredTask) -> tuple[object, ...]:
    sent, jumbos = task.tuples_out, sum(output.jumbos for output in task.outputs)
    return (
        *(task.name, task.worker, f"{task.cpu_s:.3f}", task.turns, task.idle_turns),
        *(task.tuples_in, task.runs, _mean(task.tuples_in, task.runs)),
        *(sum(task.emitted.values()), _mean(sent, jumbos)),
        " ".join(f"{stream}={count:,}" for stream, count in task.emitted.items()),
    )


def _mean(count: int, portions: int) -> str:
    return f"{count / portions:.1f}" if portions else ""

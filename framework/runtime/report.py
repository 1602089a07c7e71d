"""The progress of a run, and its report when it has ended."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

from framework.model.topology import Role
from framework.model.topology.graph import downstream
from framework.planning import Plan
from framework.recording.tap import is_tap
from framework.runtime.coordination.stop import StopReason
from framework.runtime.durability.state import SharedMemory, StateMemory
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.incidents import Incident
from framework.runtime.observation.statistics import (
    ChannelStatistics,
    ExecutorStatistics,
    LongCallback,
    RunStatistics,
    WorkerReport,
    Written,
)

_ALWAYS: Final = ("emitted", "processed")
"""The counters that are shown even where they have counted nothing."""
_NO_COLUMNS: Final = ("metrics", "reasons", "places", "error_sites", "expected", "costs")
_BREACHES: Final = {
    "saturated": "tuples had more siblings than their positions have room for",
    "raised": "tuples of a restarted spout had times that lay before what it had told",
    "unplanned": "tuples were emitted outside the processing of an input",
}
"""The meaning of the counters of tuples that the order guarantee does not cover."""
_REASONS: Final = {
    StopReason.EXHAUSTED: "done",
    StopReason.DURATION: "time is up",
    StopReason.MAX_TUPLES: "enough tuples",
    StopReason.ENDED_BEFORE: "had come to its end before: nothing to do",
    StopReason.FAILED: "FAILED",
}
"""The reasons for the end of a run, in words; another reason is its own word."""
_MOST_CHANGES: Final = 8
"""Numbers of tasks of one component that are shown: the first, and the last ones."""
_LONGEST_RESULT: Final = 200
"""Characters of a sink's result that are shown."""
_LONGEST_LINE: Final = 300
"""Characters of a line that a prompt or a notebook shows."""
_MOST_IN_TEXT: Final = 5
"""Warnings that a prompt shows; it counts the others."""
_MOST_LINES: Final = 40
"""Components, and lines of a kind, that a notebook shows; it counts the others."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run at one moment."""

    elapsed_s: float
    """Seconds since the spouts were activated; 0 before."""
    emitted: int
    """Tuples emitted by the spouts."""
    processed: int
    """Tuples processed by all bolts together; taps (`framework.recording.tap`) are left out."""
    done: bool
    """True if this is the last report of progress."""
    draining: bool = False
    """True if the run has been asked to end, and tuples in flight are being processed."""
    share: float | None = None
    """The share of the run that is over, from 0 to 1; None if nobody knows."""
    callbacks: Sequence[LongCallback] = ()
    """Callbacks that have been running for a second or longer, the longest first."""


@dataclass(frozen=True, slots=True, repr=False)
class RunReport:
    """A run that has ended.

    Its `repr` says how it ended and what to beware of. A notebook shows its counts as well.
    """

    topology: str
    time: str
    """The time it ran by: event, logical or ingest."""
    reason: StopReason
    elapsed_s: float
    """Seconds from activation to the end of the drain."""
    emitted: int
    """Tuples emitted by the spouts."""
    components: Mapping[str, TaskCounters]
    """Counts of each component, all its tasks together, in order of definition; taps, which only watch a
    topology from outside, are left out."""
    results: Mapping[str, tuple[Any, ...]]
    """For each sink that has a result: what its tasks returned."""
    drained: bool
    """True if all emitted tuples have been processed."""
    statistics: RunStatistics
    """The statistics of its channels and executors."""
    incidents: Sequence[Incident] = ()
    """Worker processes that died, in order."""
    twice: Sequence[str] = ()
    """Components that may have seen tuples twice, in order of definition: they come after spouts that began
    again (`TaskCounters.anew`), and still remembered, or had put out, the tuples of before."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """For each partitioned spout the name of the data that it brought; `TaskCounters.places` says how far."""
    checkpoint: Written | None = None
    """The last checkpoint that it has written; None for none."""
    checkpoints: int = 0
    """The number of checkpoints it has written."""
    changes: Sequence[str] = ()
    """Differences from the run that it resumed, in sentences: code, arguments of users' own, and others with
    which it may resume."""
    shared: SharedMemory | None = field(default=None, repr=False, compare=False)
    """The shared tables; None where no component remembers anything."""

    @property
    def has_ended(self) -> bool:
        """True if its input was over, and all of it has been processed; no run resumes from there."""
        return self.drained and self.reason not in (StopReason.SUSPENDED, StopReason.FAILED)

    @property
    def lost(self) -> int:
        """Untracked tuples that were not processed to their end: they were lost with worker processes, or
        with components that raised."""
        raised = sum(counters.lost for counters in self.components.values())
        return raised + sum(incident.lost for incident in self.incidents)

    @property
    def again(self) -> int:
        """Tuples that nobody tracks, and that spouts had emitted before they began again."""
        return sum(counters.anew for counters in self.components.values() if not counters.tracked)

    @property
    def rate(self) -> float:
        """Tuples processed by all bolts together, per second."""
        total = sum(counters.processed for counters in self.components.values())
        return total / self.elapsed_s if self.elapsed_s else 0.0

    def of_all(
        self, statistics: RunStatistics, sources: Mapping[str, str], memory: StateMemory | None = None
    ) -> RunReport:
        """The same with what its processes do not know: the statistics of all, what spouts brought, and the
        shared tables."""
        made = statistics.checkpoints
        shared = None if memory is None else memory.shared
        known = replace(self, statistics=statistics, sources=sources, shared=shared)
        return replace(known, checkpoint=made.last, checkpoints=made.count)

    def table(self, name: str) -> tuple[tuple[Any, ...], ...]:
        """All rows of a shared table at the end of the run, sorted: each its key and its values, sets as
        sorted tuples.

        Raises:
            KeyError: no bolt names such a table.
        """
        return (self.shared.rows() if self.shared is not None else {})[name]

    def result(self, component: str) -> Any:
        """The result of a sink with one task.

        Raises:
            KeyError: the component is no sink, or its result is None.
            ValueError: it has several tasks; see `results`.
        """
        (only,) = self.results[component]
        return only

    # -- in words

    @property
    def headline(self) -> str:
        """The reason for its end, in a line."""
        total = sum(counters.processed for counters in self.components.values())
        return (
            f"{self.topology}: {_REASONS.get(self.reason, self.reason)} after {self.elapsed_s:.1f} s, "
            f"{total:,} tuples processed, {self.rate:,.0f}/s"
        )

    def counts(self) -> tuple[Sequence[str], Sequence[Sequence[str | int]]]:
        """A table of the components: its header, with each counter that counted something, and its rows."""
        counted = self.components.values()
        numbers = [f.name for f in fields(TaskCounters) if f.name not in _NO_COLUMNS]
        shown = [name for name in numbers if name in _ALWAYS or any(getattr(c, name) for c in counted)]
        if all(counters.acked in (0, counters.processed) for counters in counted):
            shown = [name for name in shown if name != "acked"]  # which tells nothing new
        rows = [(id, *(getattr(counters, n) for n in shown)) for id, counters in self.components.items()]
        return ("component", *shown), rows

    def facts(self) -> Sequence[str]:
        """The facts beside the counts, a line for each: states, numbers of tasks, results."""
        return list(self._facts())

    def warnings(self) -> Sequence[str]:
        """The warnings, a line for each: what was lost, repeated, late or out of order, and why."""
        return list(self._warnings())

    def of_checkpoints(self) -> Sequence[str]:
        """The last checkpoint, and all of them together, a line for each; nothing where none was made."""
        return list(self._of_checkpoints())

    def _facts(self) -> Iterator[str]:
        yield from _states(self.statistics)
        yield from _scaled(self.statistics)
        for component, results in self.results.items():
            for result in results:
                yield f"result of {component}: {_beginning(result)}"

    def _warnings(self) -> Iterator[str]:
        for counter, words in _BREACHES.items():
            count = sum(getattr(counters, counter) for counters in self.components.values())
            if count:
                yield f"order not guaranteed: {count:,} {words}"
        yield from (f"not as in the checkpoint: {change}" for change in self.changes)
        yield from _late(self.components)
        yield from _fates(self.components)
        yield from (f"A WORKER DIED: {incident}" for incident in self.incidents)
        yield from _repeats(self.statistics)
        if self.lost:
            yield f"TUPLES ARE LOST: {self.lost:,} that nobody tracks; the result is not whole"
        if self.twice:
            anew = {id: counters.anew for id, counters in self.components.items() if counters.anew}
            began = ", ".join(f"{id} after {count:,}" for id, count in anew.items())
            yield f"TUPLES MAY HAVE COME TWICE to {', '.join(self.twice)}: began again: {began} tuples"
        if self.reason is StopReason.FAILED:
            yield "what was in flight when it failed is lost"
        elif not self.drained:
            yield "not drained: what was in flight was not processed within viper.drain.timeout.secs"

    def _of_checkpoints(self) -> Iterator[str]:
        written, made = self.checkpoint, self.statistics.checkpoints
        if written is None:
            return
        number = f", the last of {made.count:,}," if made.count > 1 else ""
        told = f"written in {written.elapsed_s:.1f} s, {written.size:,} bytes of state"
        goes_on = self.reason in (StopReason.SUSPENDED, StopReason.FAILED)
        yield f"checkpoint {written.id}{number} {told}" + f"; go on with --from {written.path}" * goes_on
        if made.count > 1:
            yield (
                f"all checkpoints: {made.elapsed_s:.1f} s, {made.bytes:,} bytes of state; tasks paused for "
                f"{made.longest_pause_s:.3f} s at most"
            )

    def __repr__(self) -> str:
        return f"<RunReport {'; '.join([self.headline, *_at_most(self.warnings(), _MOST_IN_TEXT)])}>"

    def _repr_html_(self) -> str:
        """The same for a notebook, with the counts as a table; no scripts, and the page's own colours."""
        header, rows = self.counts()
        more = [f"and {len(rows) - _MOST_LINES:,} more components"] if len(rows) > _MOST_LINES else []
        lines = [*more, *_at_most(self.facts()), *_at_most(self.of_checkpoints())]
        return "".join(
            (
                f"<div><p>{html.escape(self.headline)}</p>",
                _list(f"<strong>{html.escape(line)}</strong>" for line in _at_most(self.warnings())),
                "<table><thead><tr>",
                *(_cell("th", name) for name in header),
                "</tr></thead><tbody>",
                *(f"<tr>{''.join(_cell('td', value) for value in row)}</tr>" for row in rows[:_MOST_LINES]),
                "</tbody></table>",
                _list(map(html.escape, lines)),
                "</div>",
            )
        )


def run_report(
    plan: Plan,
    workers: Iterable[WorkerReport],
    channels: Sequence[ChannelStatistics],
    reason: StopReason,
    elapsed_s: float,
    incidents: Sequence[Incident] = (),
) -> RunReport:
    """The report of a whole run.

    Args:
        plan: what was run.
        workers: what each process did.
        channels: what went through them.
        reason: why it ended.
        elapsed_s: seconds from activation to the end of the drain.
        incidents: the worker processes that died.
    """
    found = list(workers)
    counters = {task: counted for worker in found for task, counted in worker.counters.items()}
    outcomes = {task: result for worker in found for task, result in worker.results.items()}
    components = {c.id: TaskCounters() for c in plan.topology.components if not is_tap(c.id)}
    results: dict[str, list[object]] = {}
    for task in plan.tasks:
        if task.component in components:
            components[task.component].add(counters.get(task.id, TaskCounters()))
        if task.id in outcomes:
            results.setdefault(task.component, []).append(outcomes[task.id])
    left = any(components[bolt.id].unanswered for bolt in plan.topology.bolts if bolt.id in components)
    return RunReport(
        topology=plan.topology.name,
        time=str(plan.time),
        reason=reason,
        elapsed_s=elapsed_s,
        emitted=progress_of(plan, [counters], 0.0, done=True).emitted,
        components=components,
        results={component: tuple(values) for component, values in results.items()},
        drained=all(worker.drained for worker in found) and not left,
        statistics=RunStatistics(channels, [e for worker in found for e in worker.executors]),
        incidents=tuple(incidents),
        twice=tuple(_twice(plan, components)),
    )


def _twice(plan: Plan, components: Mapping[str, TaskCounters]) -> Iterator[str]:
    """The components after spouts that began again."""
    anew = [id for id, counters in components.items() if counters.anew]
    yield from (id for id in downstream(plan.topology, anew) if not is_tap(id))


def expected_of(plan: Plan, counters: Iterable[Mapping[int, TaskCounters]]) -> int:
    """The number of tuples that the spouts will have emitted at their end; 0 if one of them does not know."""
    counted = {task: counts for of_process in counters for task, counts in of_process.items()}
    by_spout = [
        sum(counted[task.id].expected for task in plan.tasks_of(spout.id) if task.id in counted)
        for spout in plan.topology.spouts
    ]
    return sum(by_spout) if all(by_spout) else 0


def progress_of(
    plan: Plan,
    counters: Iterable[Mapping[int, TaskCounters]],
    elapsed_s: float,
    *,
    done: bool,
    executors: Sequence[ExecutorStatistics] = (),
) -> Progress:
    """The progress of a run, from the counters of its processes."""
    spouts = {task.id for task in plan.tasks if task.role is Role.SPOUT}
    taps = {task.id for task in plan.tasks if is_tap(task.component)}
    emitted = processed = 0
    for counted in counters:
        for task, counts in counted.items():
            if task in spouts:
                emitted += counts.emitted
            elif task not in taps:
                processed += counts.processed
    callbacks = [executor.callback for executor in executors if executor.callback is not None]
    callbacks.sort(key=lambda callback: -callback.seconds)
    return Progress(elapsed_s, emitted, processed, done, callbacks=callbacks)


# -- in words


def _states(statistics: RunStatistics) -> Iterator[str]:
    """The declared state of components, a line for each."""
    by_component: dict[str, list[str]] = {}
    taken: dict[str, int] = {}
    for state in statistics.states:
        by_component.setdefault(state.component, []).append(f"{state.state} {state.keys:,} keys")
        taken[state.component] = state.bytes
    hottest = {group.component: group for group in reversed(statistics.groups)}
    for component, told in by_component.items():
        yield f"state of {component}: {', '.join(told)}, {taken[component]:,} bytes"
        if component in hottest and hottest[component].accesses:
            group = hottest[component]
            yield (
                f"  hottest key group: {group.group}, of {group.task}, with {group.keys:,} keys and "
                f"{group.share:.1%} of the accesses"
            )


def _scaled(statistics: RunStatistics) -> Iterator[str]:
    """The tasks that components have had, a line for each."""
    by_component: dict[str, list[str]] = {}
    for change in statistics.scaled:
        told = by_component.setdefault(change.component, [f"{change.before}"])
        told.append(f"{change.told} from {change.at_s:.1f} s on")
    for component, told in by_component.items():
        left_out = [f"... ({len(told) - _MOST_CHANGES} more)"] if len(told) > _MOST_CHANGES else []
        shown = [told[0], *left_out, *told[1:][-_MOST_CHANGES + 1 :]]
        yield f"tasks of {component}: {', '.join(shown)}"


def _repeats(statistics: RunStatistics) -> Iterator[str]:
    """The work that was repeated after deaths."""
    repeats = statistics.repeats
    if repeats.slices:
        yield (
            f"repeated after deaths ({repeats.deaths:,}): slices ({repeats.slices:,}) with "
            f"{repeats.tuples:,} tuples of input; {repeats.left_out:,} of output were out already"
        )
    if repeats.went_back:
        yield f"gone back to the last checkpoint, or the beginning: {repeats.went_back:,} times"


def _late(components: Mapping[str, TaskCounters]) -> Iterator[str]:
    """The tuples that were further out of order than the slack of their spout allows."""
    for component, counters in components.items():
        if counters.late:
            yield (
                f"{component}: {counters.late:,} late tuples, beyond its viper.timestamp.slack; "
                "viper.timestamp.late says what became of them"
            )


def _fates(components: Mapping[str, TaskCounters]) -> Iterator[str]:
    """The outcome of tracked tuples that were not acked at their first attempt."""
    for component, counters in components.items():
        if counters.reasons:
            by_count = sorted(counters.reasons.items(), key=lambda item: -item[1])
            reasons = ", ".join(f"{reason} ({count:,})" for reason, count in by_count)
            yield f"{component}: {counters.failed:,} tracked tuples failed back to it: {reasons}"
        if counters.unanswered and counters.processed:
            yield (
                f"{component}: {counters.unanswered:,} tuples that it has received were neither acked nor "
                "failed; what it would have made of them is lost"
            )
        elif counters.unanswered:
            yield f"{component}: {counters.unanswered:,} tracked tuples were neither acked nor failed"


def _beginning(value: object) -> str:
    """The first characters of a value's text, which is not made as a whole: it may be a million rows."""
    text = ""
    for piece in _pieces(value):
        text += piece
        if len(text) > _LONGEST_RESULT:
            break
    return _cut(text, _LONGEST_RESULT)


def _pieces(value: Any) -> Iterator[str]:
    """The text of a value as `repr` has it, piece by piece."""
    kind = type(value)
    if kind in (list, tuple):
        yield "[" if kind is list else "("
        for index, one in enumerate(value):
            yield ", " * (index > 0)
            yield from _pieces(one)
        yield "]" if kind is list else ",)" if len(value) == 1 else ")"
    elif kind is dict:
        yield "{"
        for index, (key, one) in enumerate(value.items()):
            yield ", " * (index > 0)
            yield from _pieces(key)
            yield ": "
            yield from _pieces(one)
        yield "}"
    elif kind in (str, bytes):
        yield repr(value[: _LONGEST_RESULT + 1])
    else:
        try:
            yield repr(value)
        except Exception as error:  # of a class of the user's
            yield f"<{kind.__name__}, whose repr raised {type(error).__name__}>"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} ..."


def _at_most(lines: Iterable[str], most: int = _MOST_LINES) -> Iterator[str]:
    found = list(lines)
    yield from (_cut(line, _LONGEST_LINE) for line in found[:most])
    if len(found) > most:
        yield f"and {len(found) - most:,} more lines"


def _list(items: Iterable[str]) -> str:
    told = "".join(f"<li>{item}</li>" for item in items)
    return f"<ul>{told}</ul>" if told else ""


def _cell(tag: str, value: str | int) -> str:
    """A cell of a table; numbers are set to the right, with thousands set apart."""
    is_number = isinstance(value, int)
    side = "right" if is_number or (tag == "th" and value != "component") else "left"
    text = f"{value:,}" if is_number else html.escape(str(value))
    return f'<{tag} style="text-align:{side}">{text}</{tag}>'

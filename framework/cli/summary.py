"""What a run did, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

from framework.cli.table import table

if TYPE_CHECKING:
    from framework.runtime import RunReport

_ALWAYS = ("emitted", "processed")
_NO_COLUMNS = ("metrics", "reasons", "places", "error_sites", "expected", "costs")
_BREACHES = {
    "saturated": "tuples had more siblings than their positions have room for",
    "raised": "tuples of a restarted spout had times that lay before what it had told",
    "unplanned": "tuples were emitted outside the processing of an input",
}
"""What the counters mean that count what the order guarantee does not cover."""
_REASONS = {
    "exhausted": "done",
    "duration": "time is up",
    "max-tuples": "enough tuples",
    "interrupted": "interrupted",
    "suspended": "suspended",
    "failed": "FAILED",
}
_MOST_CHANGES = 8
"""Numbers of tasks of one component that are shown: the first, and the last ones."""
_LONGEST_RESULT = 200
"""Characters of a sink's result that are shown."""


def summary_lines(report: RunReport) -> Iterator[str]:
    """The end of a run as lines of text."""
    total = sum(counters.processed for counters in report.components.values())
    yield (
        f"{report.topology}: {_REASONS.get(report.reason, report.reason)} after {report.elapsed_s:.1f} s, "
        f"{total:,} tuples processed, {report.rate:,.0f}/s"
    )
    yield from (f"  {line}" for line in _counts(report))
    yield from _states(report)
    yield from _scaled(report)
    for component, results in report.results.items():
        for result in results:
            yield f"  result of {component}: {_shortened(repr(result))}"
    for counter, words in _BREACHES.items():
        count = sum(getattr(counters, counter) for counters in report.components.values())
        if count:
            yield f"  order not guaranteed: {count:,} {words}"
    yield from (f"  not as in the checkpoint: {change}" for change in report.changes)
    yield from _late(report)
    yield from _fates(report)
    yield from (f"  A WORKER DIED: {incident}" for incident in report.incidents)
    yield from _repeats(report)
    if report.lost:
        yield f"  TUPLES ARE LOST: {report.lost:,} that nobody tracks; the result is not whole"
    yield from _twice(report)
    yield from _checkpoints(report)
    if report.reason == "failed":
        yield "  what was in flight when it failed is lost"
    elif not report.drained:
        yield "  not drained: what was in flight was not processed within viper.drain.timeout.secs"


def _states(report: RunReport) -> Iterator[str]:
    """What components remember, a line for each."""
    by_component: dict[str, list[str]] = {}
    taken: dict[str, int] = {}
    for state in report.statistics.states:
        by_component.setdefault(state.component, []).append(f"{state.state} {state.keys:,} keys")
        taken[state.component] = state.bytes
    hottest = {group.component: group for group in reversed(report.statistics.groups)}
    for component, told in by_component.items():
        yield f"  state of {component}: {', '.join(told)}, {taken[component]:,} bytes"
        if component in hottest and hottest[component].accesses:
            group = hottest[component]
            yield (
                f"    hottest key group: {group.group}, of {group.task}, with {group.keys:,} keys and "
                f"{group.share:.1%} of the accesses"
            )


def _scaled(report: RunReport) -> Iterator[str]:
    """The tasks that components have had, a line for each."""
    by_component: dict[str, list[str]] = {}
    for change in report.statistics.scaled:
        told = by_component.setdefault(change.component, [f"{change.before}"])
        told.append(f"{change.told} from {change.at_s:.1f} s on")
    for component, told in by_component.items():
        left_out = [f"... ({len(told) - _MOST_CHANGES} more)"] if len(told) > _MOST_CHANGES else []
        shown = [told[0], *left_out, *told[1:][-_MOST_CHANGES + 1 :]]
        yield f"  tasks of {component}: {', '.join(shown)}"


def _checkpoints(report: RunReport) -> Iterator[str]:
    """The last checkpoint; one that another run can go on from, unless the input has come to its end. And all
    of them together."""
    written, made = report.checkpoint, report.statistics.checkpoints
    if written is None:
        return
    number = f", the last of {made.count:,}," if made.count > 1 else ""
    told = f"written in {written.elapsed_s:.1f} s, {written.size:,} bytes of state"
    goes_on = report.reason in ("suspended", "failed")
    yield f"  checkpoint {written.id}{number} {told}" + f"; go on with --from {written.path}" * goes_on
    if made.count > 1:
        yield (
            f"  all checkpoints: {made.elapsed_s:.1f} s, {made.bytes:,} bytes of state; tasks paused for "
            f"{made.longest_pause_s:.3f} s at most"
        )


def _repeats(report: RunReport) -> Iterator[str]:
    """What was done once more after deaths."""
    repeats = report.statistics.repeats
    if repeats.slices:
        yield (
            f"  repeated after deaths ({repeats.deaths:,}): slices ({repeats.slices:,}) with "
            f"{repeats.tuples:,} tuples of input; {repeats.left_out:,} of output were out already"
        )
    if repeats.went_back:
        yield f"  gone back to the last checkpoint, or the beginning: {repeats.went_back:,} times"


def _twice(report: RunReport) -> Iterator[str]:
    """The spouts that began anew, and who may have seen twice what they bring."""
    anew = {id: counters.anew for id, counters in report.components.items() if counters.anew}
    if report.twice:
        began = ", ".join(f"{id} after {count:,}" for id, count in anew.items())
        yield f"  TUPLES MAY HAVE COME TWICE to {', '.join(report.twice)}: began anew: {began} tuples"


def _late(report: RunReport) -> Iterator[str]:
    """What was further out of order than the slack of its spout allows."""
    for component, counters in report.components.items():
        if counters.late:
            yield (
                f"  {component}: {counters.late:,} late tuples, beyond its viper.timestamp.slack; "
                "viper.timestamp.late says what became of them"
            )


def _fates(report: RunReport) -> Iterator[str]:
    """What has become of tracked tuples that were not acked at their first attempt."""
    for component, counters in report.components.items():
        if counters.reasons:
            by_count = sorted(counters.reasons.items(), key=lambda item: -item[1])
            reasons = ", ".join(f"{reason} ({count:,})" for reason, count in by_count)
            yield f"  {component}: {counters.failed:,} tracked tuples failed back to it: {reasons}"
        if counters.unanswered and counters.processed:
            yield (
                f"  {component}: {counters.unanswered:,} tuples that it has received were neither acked nor "
                "failed; what it would have made of them is lost"
            )
        elif counters.unanswered:
            yield f"  {component}: {counters.unanswered:,} tracked tuples were neither acked nor failed"


def _counts(report: RunReport) -> Sequence[str]:
    """A line per component; a column for each counter that counted something."""
    counted = report.components.values()
    numbers = [f.name for f in fields(next(iter(counted))) if f.name not in _NO_COLUMNS]
    shown = [name for name in numbers if name in _ALWAYS or any(getattr(c, name) for c in counted)]
    if all(counters.acked in (0, counters.processed) for counters in counted):
        shown = [name for name in shown if name != "acked"]  # which tells nothing new
    rows = [(id, *(getattr(counters, n) for n in shown)) for id, counters in report.components.items()]
    return table(("component", *shown), rows)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_RESULT else f"{text[:_LONGEST_RESULT]} ..."

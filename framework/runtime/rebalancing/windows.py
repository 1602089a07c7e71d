"""What has happened between two looks at a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from framework.optimizer.profiling import Sample, sample_of
from framework.runtime.observation import MeasuredTask


@dataclass(frozen=True, slots=True)
class Look:
    """What all tasks had done at one moment."""

    at_s: float
    """Monotonic time in seconds."""
    tasks: Sequence[MeasuredTask]


def window(before: Look, now: Look) -> Sample | None:
    """What the tasks have done from one look to the next.

    Returns:
        None where that is not known, as something has counted anew, or nothing was brought.
    """
    known = {task.task: task for task in before.tasks}
    tasks = [_less(asdict(task), asdict(known[task.task])) for task in now.tasks if task.task in known]
    if len(tasks) < len(now.tasks) or any(task["cpu_s"] < 0 for task in tasks):
        return None
    sample = sample_of({"statistics": {"tasks": tasks}, "elapsed_s": now.at_s - before.at_s})
    return sample if sample.brought > 0 else None


def _less(now: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """A task's counts without those of before."""
    found = dict(now)
    for name in ("cpu_s", "turns", "idle_turns"):
        found[name] = now[name] - before[name]
    found["emitted"] = {stream: n - before["emitted"].get(stream, 0) for stream, n in now["emitted"].items()}
    found["inputs"] = _each(now["inputs"], before["inputs"], "task", ("tuples", "runs", "jumbos", "decoded"))
    found["outputs"] = _each(
        now["outputs"], before["outputs"], "tasks", ("tuples", "jumbos", "encoded", "bytes")
    )
    return found


def _each(
    now: Iterable[Mapping[str, Any]], before: Iterable[Mapping[str, Any]], key: str, counts: Iterable[str]
) -> list[dict[str, Any]]:
    """Of each way the same."""
    known = {str(way[key]): way for way in before}
    found = []
    for way in now:
        earlier = known.get(str(way[key]), {})
        found.append({**way, **{name: max(way[name] - earlier.get(name, 0), 0) for name in counts}})
    return found

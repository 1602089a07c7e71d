"""The measurements of each task, from the counts of the tasks and channels of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from framework.planning import Plan, TaskSpec
from framework.runtime.observation import MeasuredInput, MeasuredOutput, MeasuredTask
from framework.runtime.observation.counters import TaskCounters
from framework.runtime.observation.statistics import (
    ChannelStatistics,
    ReaderStatistics,
    SourceStatistics,
)

Counted = Mapping[int, TaskCounters]
"""Counters by task."""


def measured_tasks(
    plan: Plan, counters: Sequence[Counted], channels: Sequence[ChannelStatistics]
) -> Sequence[MeasuredTask]:
    """The measurements of each task of a run, by id.

    Args:
        plan: what is run.
        counters: of each process, by task.
        channels: all of the run.
    """
    counted = {task: counts for of_process in counters for task, counts in of_process.items()}
    executors = {task: n for n, executor in enumerate(plan.placement.executors) for task in executor.tasks}
    edges = _Edges(plan, counted, channels)
    return [_measured(plan, task, executors[task.id], counted, edges) for task in plan.tasks]


def _measured(plan: Plan, task: TaskSpec, executor: int, counted: Counted, edges: _Edges) -> MeasuredTask:
    costs = (counted.get(task.id) or TaskCounters()).costs
    name = f"{task.component}:{task.id}"
    return MeasuredTask(
        component=task.component,
        task=task.id,
        index=task.index,
        worker=plan.placement.executors[executor].worker,
        executor=executor,
        cpu_s=costs.cpu_s,
        turns=costs.turns,
        idle_turns=costs.idle_turns,
        emitted={stream: counts.tuples for stream, counts in costs.streams.items()},
        inputs=edges.inputs.get(name, ()),
        outputs=edges.outputs.get(name, ()),
    )


class _Edges:
    """The traffic from task to task, by ``component:task id`` of those at either end."""

    def __init__(self, plan: Plan, counted: Counted, channels: Sequence[ChannelStatistics]) -> None:
        self.inputs: dict[str, list[MeasuredInput]] = {}
        self.outputs: dict[str, list[MeasuredOutput]] = {}
        self._tasks = {f"{task.component}:{task.id}": task for task in plan.tasks}
        self._behind = {merge: plan.tasks[behind - 1] for behind, merge in plan.merges.items()}
        """By the id of a merge bolt's task the task behind it, which has the subscriptions."""
        self._subscribed: dict[tuple[str, str], list[str]] = {}
        """By a component and another that receives from it: the streams."""
        for subscription in plan.subscriptions:
            between = subscription.source, subscription.target
            self._subscribed.setdefault(between, []).append(subscription.stream)
        self._counted = counted
        for channel in channels:
            for source in channel.sources:
                self.outputs.setdefault(source.task, []).append(self._output(source, channel.readers))
                for reader in channel.readers:
                    self.inputs.setdefault(reader.task, []).append(self._input(source.task, reader))

    def _input(self, source: str, reader: ReaderStatistics) -> MeasuredInput:
        taken = reader.taken[source]
        streams = self._streams(source, reader.task, taken.tuples)
        return MeasuredInput(source, taken.tuples, streams, taken.runs, taken.jumbos, taken.decoded)

    def _output(self, source: SourceStatistics, readers: Sequence[ReaderStatistics]) -> MeasuredOutput:
        return MeasuredOutput(
            tasks=[reader.task for reader in readers],
            tuples=source.tuples,
            streams=self._streams(source.task, readers[0].task, source.tuples),
            jumbos=source.jumbos,
            encoded=source.encoded,
            bytes=source.payload_bytes,
        )

    def _streams(self, source: str, reader: str, tuples: int) -> Mapping[str, int]:
        """So many tuples that one task has sent to another, by stream."""
        producer, consumer = self._tasks[source], self._tasks[reader]
        consumer = self._behind.get(consumer.id, consumer)
        between = self._subscribed.get((producer.component, consumer.component), [])
        if len(between) == 1:
            return {between[0]: tuples}
        streams = (self._counted.get(producer.id) or TaskCounters()).costs.streams
        found = ((stream, streams.get(stream)) for stream in between)
        return {stream: each.sent.get(consumer.id, 0) for stream, each in found if each is not None}

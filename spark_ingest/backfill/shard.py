"""One bolt over one shard: the framework's own tasks, fed and emptied step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from framework.model.config import Settings
from framework.model.errors import ComponentError
from framework.model.instantiate import Beans
from framework.planning import Plan, TaskSpec
from framework.planning.traits import base_classes, overrides
from framework.recording import RecordedInput, Recorder, ReplayTicks
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.durability.state import StateMemory
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.recording import NO_RECORDING, RecordingIO
from framework.runtime.execution.assembly.task_factory import TaskFactory, make_executor
from framework.runtime.execution.executor import Executor
from framework.runtime.tasks.bolt_task import BoltTask
from framework.runtime.tasks.task import Task
from spark_ingest.backfill.errors import ShardError
from spark_ingest.backfill.feeding import Arrival, Arrivals, bringers
from spark_ingest.backfill.sending import Sender
from spark_ingest.backfill.shapes import Stage

if TYPE_CHECKING:
    import pyarrow as pa

_TICKS = "topology.tick.tuple.freq.secs"


class ShardIO(RecordingIO):
    """Replays the bolt's input as it was emitted, and records what the bolt emits."""

    def __init__(
        self, plan: Plan, bolt: str, inputs: Mapping[str, RecordedInput], recorder: Recorder
    ) -> None:
        """
        Args:
            plan: of the shard.
            bolt: id of the bolt.
            inputs: the recorded input, by the id of the component that has emitted it.
            recorder: gets what the bolt emits.
        """
        super().__init__(NO_RECORDING, plan)
        self._bolt = bolt
        self._inputs = inputs
        self._recorder = recorder

    @property
    def records(self) -> bool:
        """Everything that is emitted matters."""
        return True

    @property
    def replays(self) -> bool:
        """The input has been emitted before."""
        return True

    def recorder(self, task: TaskSpec) -> Recorder | None:
        """The recorder of the bolt's output; its input is known."""
        return self._recorder if task.component == self._bolt else None

    def source(self, task: TaskSpec) -> RecordedInput:
        """The tuples that a component has emitted before."""
        return self._inputs[task.component]

    def ticks(self, task: TaskSpec) -> ReplayTicks | None:
        """A shard has no ticks of the wall clock."""
        return ReplayTicks(())


def run_shard(
    plan: Plan, settings: Settings, stage: Stage, received: Iterator[Sequence[Arrival]]
) -> Iterator[pa.RecordBatch]:
    """Run a bolt over what a shard receives, in constant memory.

    Args:
        plan: from `bolt_plan`.
        settings: the configuration it was planned with, without the tracking of tuples.
        stage: the bolt's.
        received: rows in the order of their positions.

    Yields:
        The batches that it emits, in the order of its positions.

    Raises:
        ComponentError: it raised.
        ShardError: it does something that cannot be the same as in a run on one machine.
    """
    sender = Sender(plan.topology.component(stage.component), stage)
    executor = _executor(plan, settings, stage, received, sender)
    bolt = executor.bolts[0]
    with _lifecycle(executor):
        _check_host(bolt)
        for _ in executor.steps():
            _check_positions(bolt)
            yield from sender.batches()
    _check_positions(bolt)
    yield from sender.batches(least=1)


def _executor(
    plan: Plan, settings: Settings, stage: Stage, received: Iterator[Sequence[Arrival]], sender: Sender
) -> Executor:
    sources = {source: len(plan.topology.component(source).outputs or ()) > 1 for source in sources_of(plan)}
    brought = bringers(Arrivals(received, len(sources)), sources)
    recording_io = ShardIO(plan, stage.component, brought, sender)
    network, memory = Network.create(plan, settings), StateMemory.create(plan, settings)
    factory = TaskFactory(plan, settings, network, Beans(plan.topology.beans), recording_io, memory)
    return make_executor(plan, settings, network, factory, 0, StopSignal(), lambda now_s: None)


def sources_of(plan: Plan) -> list[str]:
    """Ids of the components that feed the bolt of a shard's plan, by their index there."""
    names = {task.id: task.component for task in plan.tasks}
    return [names[task_id] for task_id in plan.channels[0].sources]


@contextmanager
def _lifecycle(executor: Executor) -> Iterator[None]:
    """Initialize the components before the block, and close them after it."""
    begun: list[Task] = []
    try:
        for task in (*executor.bolts, *executor.spouts):
            begun.append(task)
            executor.start(task)
        yield
    except BaseException:
        for task in begun:
            _close_quietly(executor, task)
        raise
    for task in begun:
        executor.call(task, task.close)


def _close_quietly(executor: Executor, task: Task) -> None:
    """Close a task after a failure; the failure is reported, and an error of closing is only logged."""
    try:
        executor.call(task, task.close)
    except ComponentError as error:
        task.context.logger.error("%s", error)


def _check_host(bolt: BoltTask) -> None:
    """Refuse what only shows on the component itself: the choice of a factory or of `initialize`."""
    host, conf, name = bolt.slot.host, bolt.context.conf, bolt.context.spec.component
    if host.is_batching:
        raise ShardError(f"bolt {name!r} gathers batches, over keys that other shards have")
    if conf.get(_TICKS) and overrides(host.cls, "process_tick", base_classes("Bolt")):
        raise ShardError(
            f"bolt {name!r} asks for ticks in initialize ({_TICKS}), "
            "which a shard cannot have as one machine has them"
        )


def _check_positions(bolt: BoltTask) -> None:
    counters, name = bolt.context.counters, bolt.context.spec.component
    if counters.unplanned:
        raise ShardError(
            f"bolt {name!r} emits outside of process (in initialize, from a thread or a timer): "
            "what has no tuple to stand below has no place of its own in a shard; emit in process"
        )
    if counters.saturated:
        raise ShardError(
            f"bolt {name!r}: no room is left in the positions for what it emits for one tuple; "
            "emit less for one tuple, or make the topology less deep"
        )

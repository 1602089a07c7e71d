"""Makes the inputs of bolts' tasks: the plan says which channels a task reads and which tasks feed it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from framework.model.config import Settings
from framework.operators.windows.key_input import InputMode
from framework.planning import Plan, Subscription, TaskSpec
from framework.runtime.exchange.inputs import BoltInput, values_class
from framework.runtime.exchange.pieces import InputSource, InputStream
from framework.runtime.exchange.reader import SortedInPython
from framework.runtime.execution.assembly.network import Network
from viper.addressed import VALUES, mask_of
from viper.hashing import groups_of_task
from viper.position import Level
from viper.reader import Reader


class InputFactory:
    """Makes the inputs of tasks.

    Args:
        plan: says which tasks feed which.
        settings: the configuration it was planned with.
        network: the channels, as this process sees them.
    """

    def __init__(self, plan: Plan, settings: Settings, network: Network) -> None:
        self._settings = settings
        self._groups = settings["viper.key.groups"]
        self._plan = plan
        self._network = network
        self._tasks = {task.id: task for task in plan.tasks}

    def make(self, task: TaskSpec, *, mutates: bool, whole: bool, borrows: bool = False) -> BoltInput:
        """Make the input of a bolt's task.

        Args:
            task: the task that will read it.
            mutates: whether the task's component may change values that it receives.
            whole: whether it takes many tuples at once, and so payloads, not lists of rows.
            borrows: whether it keeps none of the columns that it receives.
        """
        behind = self._plan.behind(task.id)
        if behind is not None:
            return self._of_merge(task, self._tasks[behind])
        channel, own = self._plan.channel_of(task.id), self._skipping(task)
        reader = self._network.reader(task.id)
        if own is not None and isinstance(reader, Reader):
            reader.skip_but(mask_of(own, self._groups))
        return BoltInput(
            reader,
            [self._source(source, task) for source in channel.sources],
            self._feedback(task, channel.feedback),
            shares=mutates and self.is_copied_to(task),
            whole=whole,
            borrows=borrows,
            own=own,
        )

    def _of_merge(self, task: TaskSpec, behind: TaskSpec) -> BoltInput:
        """The input of a merge bolt's task: what the task behind it would get."""
        channel = self._plan.channel_of(task.id)
        sources = [self._source(source, behind) for source in channel.sources]
        if not channel.arriving:
            return BoltInput(self._network.reader(task.id), sources, (), shares=False, whole=True)
        readers = [self._network.reader_of(source, task.id) for source in channel.sources]
        reader = SortedInPython(readers, self._settings["viper.channel.tuples"])
        return BoltInput(reader, sources, (), shares=False, whole=True)

    def _skipping(self, task: TaskSpec) -> range | None:
        """The key groups of a task that skips what concerns none of them; None if it gets no such thing.

        One that may get other groups while it runs skips nothing: what was delivered may concern these.
        """
        found = (s.key_input for s in self._plan.subscriptions if s.target == task.component)
        is_skipped = any(i is not None and i.mode is InputMode.SHARED and i.by_producer for i in found)
        tasks = len(self._plan.tasks_of(task.component))
        if not is_skipped or tasks == 1 or task.component in self._plan.scalable:
            return None
        return groups_of_task(task.index, tasks, self._groups)

    def is_copied_to(self, task: TaskSpec) -> bool:
        """Whether another replica of a task gets the very same values."""
        copied = any(s.copies for s in self._plan.subscriptions if s.target == task.component)
        return copied and len(self._plan.tasks_of(task.component)) > 1

    def level_beside(self, task: TaskSpec) -> Level:
        """The level of a path at which a task marks outputs that belong to no input.

        A task marks its replica there if other replicas, too, may have such outputs at the same position.
        """
        layout = self._plan.layout
        is_one_of_several = task.component in layout.ticked or self.is_copied_to(task)
        return layout.components[task.component].level(task.index if is_one_of_several else 0)

    def _feedback(self, task: TaskSpec, producers: Sequence[int]) -> list[tuple[Reader, InputSource]]:
        sources = [self._source(producer, task) for producer in producers]
        return list(zip(self._network.feedback(task.id), sources, strict=True))

    def _source(self, source_id: int, reader: TaskSpec) -> InputSource:
        source = self._tasks[source_id]
        if self._plan.behind(source_id) is not None:
            return self._merged(source, reader)
        component = self._plan.topology.component(source.component)
        tags = {stream.name: tag for tag, stream in enumerate(component.outputs or ())}
        streams = {
            tags[subscription.stream]: self._stream(subscription, source.id, reader)
            for subscription in subscriptions_between(self._plan, source.component, reader.component)
        }
        return InputSource(f"{source.component}:{source.id}", streams)

    def _merged(self, merge: TaskSpec, reader: TaskSpec) -> InputSource:
        """A merge bolt's task, whose tuples are of the streams that it has merged."""
        streams = streams_of_merge(self._plan, reader.component)
        found = {
            streams[s.source, s.stream]: self._stream(s, merge.id, reader)
            for s in self._plan.subscriptions
            if s.target == reader.component
        }
        return InputSource(f"{merge.component}:{merge.id}", found)

    def _stream(self, subscription: Subscription, producer: int, reader: TaskSpec) -> InputStream:
        stream = self._plan.topology.component(subscription.source).stream(subscription.stream)
        fields = stream.fields if stream else ()
        return InputStream(
            subscription.source,
            subscription.stream,
            producer,
            values_class(subscription.source, subscription.stream, fields) if fields else None,
            self._level(reader, subscription),
            stream.schema if stream else None,
            subscription.key,
            VALUES if subscription.key_input is not None and subscription.key_input.by_producer else 0,
        )

    def _level(self, reader: TaskSpec, subscription: Subscription) -> Level:
        """Where outputs for the tuples of a subscription are marked."""
        level = self._plan.layout.components[reader.component]
        if subscription.copies and self._plan.traits[reader.component].joins:
            return level.level()  # each replica has matches of its own, which are numbered alike in all
        if subscription.copies:
            return level.level(copy=reader.index)
        return level.behind_ticks if reader.component in self._plan.layout.ticked else level.level()


def streams_of_merge(plan: Plan, behind: str) -> Mapping[tuple[str, str], int]:
    """The index of each stream that the merge bolts before a bolt pass on, by its component and name."""
    names = dict.fromkeys((s.source, s.stream) for s in plan.subscriptions if s.target == behind)
    return {name: index for index, name in enumerate(names)}


def subscriptions_between(plan: Plan, source: str, target: str) -> list[Subscription]:
    """The streams of one component that another subscribes to."""
    return [s for s in plan.subscriptions if s.source == source and s.target == target]

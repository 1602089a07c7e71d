"""What a builder returns for each component, to say more about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Self

from framework.frontends.declaration import calling_place
from framework.model.specs import GlobalStreamId, Spec, subscriptions
from framework.model.topology import DEFAULT_STREAM, Argument, Grouping, Path, Place


class Declarer:
    """A component under construction; every method returns the declarer itself."""

    def __init__(self, spec: Spec, place: Place) -> None:
        self._spec = spec
        self._place = place
        self._input_places: list[Place] = []

    def set_num_tasks(self, tasks: int) -> Self:
        """Set the number of tasks, where it differs from the parallelism."""
        self._spec.tasks = tasks
        return self

    def add_configuration(self, key: str, value: Any) -> Self:
        """Set a key of the component's own configuration."""
        self._spec.config[key] = value
        return self

    def add_configurations(self, config: Mapping[str, Any]) -> Self:
        """Set several keys of the component's own configuration."""
        self._spec.config.update(config)
        return self

    def set_max_task_parallelism(self, tasks: int) -> Self:
        """Set ``topology.max.task.parallelism`` for this component."""
        return self.add_configuration("topology.max.task.parallelism", tasks)

    def set_max_spout_pending(self, tuples: int) -> Self:
        """Set ``topology.max.spout.pending`` for this component."""
        return self.add_configuration("topology.max.spout.pending", tuples)

    def set_debug(self, debug: bool) -> Self:
        """Set ``topology.debug`` for this component."""
        return self.add_configuration("topology.debug", debug)

    def set_memory_load(self, on_heap: float, off_heap: float | None = None) -> Self:
        """Note the memory that a task needs on a Storm cluster, in MB; without effect here."""
        self._spec.resources["onHeapMemoryLoad"] = on_heap
        if off_heap is not None:
            self._spec.resources["offHeapMemoryLoad"] = off_heap
        return self

    def set_cpu_load(self, percent: float) -> Self:
        """Note the CPU that a task needs on a Storm cluster, in percent of a core; without effect here."""
        self._spec.resources["cpuLoad"] = percent
        return self

    def snapshot(self) -> Spec:
        """A copy of what has been declared so far; later calls do not change it."""
        return replace(self._spec, config=dict(self._spec.config), resources=dict(self._spec.resources))

    def places(self) -> Iterator[tuple[Path, Place]]:
        """Where the component and its inputs were declared."""
        component: Path = ("components", self._spec.name or "")
        yield component, self._place
        for index, place in enumerate(self._input_places):
            yield (*component, "inputs", index), place


class SpoutDeclarer(Declarer):
    """A spout under construction."""


class BoltDeclarer(Declarer):
    """A bolt under construction, to which inputs are added.

    Each grouping takes the id of the component that emits and, as ``stream``, the name
    of its stream.
    """

    def grouping(self, source: str, grouping: Grouping, stream: str = DEFAULT_STREAM) -> Self:
        """Subscribe to a stream with any grouping.

        Raises:
            TypeError: an argument of the wrong type.
        """
        self._spec.inputs += subscriptions({GlobalStreamId(source, stream): grouping})
        self._input_places.append(calling_place())
        return self

    def shuffle_grouping(self, source: str, stream: str = DEFAULT_STREAM) -> Self:
        """Spread tuples evenly: see ``viper.shuffle.run``."""
        return self.grouping(source, Grouping.SHUFFLE, stream)

    def fields_grouping(
        self, source: str, *fields: str | Iterable[str], stream: str = DEFAULT_STREAM
    ) -> Self:
        """Send tuples with equal values in these fields to one task.

        Raises:
            ValueError: no field at all.
        """
        return self.grouping(source, Grouping.fields(*fields), stream)

    def partial_key_grouping(
        self, source: str, *fields: str | Iterable[str], stream: str = DEFAULT_STREAM
    ) -> Self:
        """Send tuples with equal values in these fields to the less loaded of two tasks.

        Raises:
            ValueError: no field at all.
        """
        return self.grouping(source, Grouping.partial_key(*fields), stream)

    def all_grouping(self, source: str, stream: str = DEFAULT_STREAM) -> Self:
        """Send every tuple to every task."""
        return self.grouping(source, Grouping.ALL, stream)

    def global_grouping(self, source: str, stream: str = DEFAULT_STREAM) -> Self:
        """Send every tuple to the task with the lowest id."""
        return self.grouping(source, Grouping.GLOBAL, stream)

    def none_grouping(self, source: str, stream: str = DEFAULT_STREAM) -> Self:
        """Say that it does not matter which task a tuple goes to."""
        return self.grouping(source, Grouping.NONE, stream)

    def direct_grouping(self, source: str, stream: str = DEFAULT_STREAM) -> Self:
        """Let the emitting task choose; the stream must be declared as direct."""
        return self.grouping(source, Grouping.DIRECT, stream)

    def local_or_shuffle_grouping(self, source: str, stream: str = DEFAULT_STREAM) -> Self:
        """Spread tuples evenly over the tasks in the same worker, if there are any."""
        return self.grouping(source, Grouping.LOCAL_OR_SHUFFLE, stream)

    def custom_grouping(
        self, source: str, grouping: type | str, *args: Argument, stream: str = DEFAULT_STREAM
    ) -> Self:
        """Let a class with ``prepare`` and ``choose_tasks`` choose; ``args`` are its constructor's."""
        return self.grouping(source, Grouping.custom(grouping, *args), stream)

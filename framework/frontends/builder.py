"""Topologies built call by call, in the manner of Storm's TopologyBuilder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from framework.frontends.declaration import Declaration, accepted, calling_place, java_implementation
from framework.frontends.dsl import ForeignComponent
from framework.model.specs import (
    GlobalStreamId,
    Par,
    Spec,
    make_spec,
    python_implementation,
    recipe_of,
    subscriptions,
)
from framework.model.topology import (
    DEFAULT_STREAM,
    Argument,
    Grouping,
    Implementation,
    Path,
    Place,
    Role,
    ShellImplementation,
    SourceMap,
    Stream,
    Topology,
    declared_streams,
)
from framework.operators.components import Component


@dataclass(frozen=True, slots=True)
class Foreign:
    """A component in another language, and the streams that it emits."""

    implementation: Implementation
    outputs: tuple[Stream, ...]


def shell(*command: str, outputs: Sequence[Any] = ()) -> Foreign:
    """A program that speaks Storm's multilang protocol: ``shell("ruby", "split.rb", outputs=["word"])``.

    Raises:
        TypeError: no command, or a part of it that is no str.
    """
    if not command or not all(isinstance(part, str) for part in command):
        raise TypeError(f"shell() needs the program and its arguments as str, found {command!r}")
    return Foreign(ShellImplementation(command), declared_streams(outputs))


def java(full_class_name: str, *args: Argument, outputs: Sequence[Any] = ()) -> Foreign:
    """A Java class with its constructor's arguments; it validates and draws, and is refused at run.

    Raises:
        TypeError: an argument that no Java constructor can be given.
        ValueError: no class name.
    """
    return Foreign(java_implementation(None, full_class_name, args), declared_streams(outputs))


class TopologyBuilder:
    """Collects spouts and bolts, and makes a topology of them.

        builder = TopologyBuilder()
        builder.set_spout("words", WordSpout)
        builder.set_bolt("count", WordCountBolt, 4).fields_grouping("words", "word")
        topology = builder.build("wordcount")

    A component is a class, ours or streamparse's, an instance of one of ours (``WordSpout("text.txt")``), or
    what `shell` or `java` makes.
    """

    def __init__(self) -> None:
        self.config: dict[str, Any] = {}
        """The topology's configuration."""
        self._declarers: list[Declarer] = []
        self._config_places: dict[str, Place] = {}

    def set_config(self, key: str, value: Any) -> Self:
        """Set a key of the topology's configuration."""
        self.config[key] = value
        self._config_places[key] = calling_place()
        return self

    def set_spout(
        self,
        component_id: str,
        component: type | Component | Foreign,
        par: Par | None = None,
        *,
        args: Sequence[Argument] = (),
        kwargs: Mapping[str, Argument] | None = None,
        config: Mapping[str, Any] | None = None,
        tasks: int | None = None,
        outputs: Sequence[Any] | None = None,
    ) -> SpoutDeclarer:
        """Add a spout.

        Args:
            component_id: its id in the topology.
            component: its class; or an instance, which stands for its constructor's arguments, so that
                each task makes one of its own; or what `shell` or `java` made.
            par: its parallelism, also per environment; None for the class attribute.
            args: its constructor's arguments, plain values.
            kwargs: its constructor's keyword arguments, plain values.
            config: its own configuration; None for the class attribute.
            tasks: number of its tasks, where that differs from ``par``.
            outputs: its streams, where they differ from those that the class declares.

        Raises:
            TypeError: an argument of the wrong type, or ``args`` beside an instance.
            ValueError: two streams of one name.
        """
        spec = _spec(Role.SPOUT, component_id, component, par, args, kwargs, config, tasks, outputs)
        spout = SpoutDeclarer(spec, calling_place())
        self._declarers.append(spout)
        return spout

    def set_bolt(
        self,
        component_id: str,
        component: type | Component | Foreign,
        par: Par | None = None,
        *,
        args: Sequence[Argument] = (),
        kwargs: Mapping[str, Argument] | None = None,
        config: Mapping[str, Any] | None = None,
        tasks: int | None = None,
        outputs: Sequence[Any] | None = None,
    ) -> BoltDeclarer:
        """Add a bolt, and return what its inputs are added to; arguments and errors as of `set_spout`."""
        spec = _spec(Role.BOLT, component_id, component, par, args, kwargs, config, tasks, outputs)
        bolt = BoltDeclarer(spec, calling_place())
        self._declarers.append(bolt)
        return bolt

    def declaration(self, name: str = "") -> Declaration:
        """A copy of what has been declared so far; later calls do not change it."""
        specs = [declarer.snapshot() for declarer in self._declarers]
        return Declaration(name, specs, dict(self.config), SourceMap(dict(self._places())))

    def build(self, name: str, environment: str | None = None) -> Topology:
        """The topology.

        Args:
            name: its name.
            environment: chooses from a ``par`` that is given per environment.

        Raises:
            TopologyError: it cannot run; the error has all problems, with the lines that declare them.
        """
        return accepted(self.declaration().topology(name, environment))

    def _places(self) -> Iterator[tuple[Path, Place]]:
        for key, place in self._config_places.items():
            yield ("config", key), place
        for declarer in self._declarers:
            yield from declarer.places()


def _spec(
    role: Role,
    component_id: str,
    component: type | Component | Foreign,
    par: Par | None,
    args: Sequence[Argument],
    kwargs: Mapping[str, Argument] | None,
    config: Mapping[str, Any] | None,
    tasks: int | None,
    outputs: Sequence[Any] | None,
) -> Spec:
    if not isinstance(component_id, str):
        raise TypeError(f"a component's id must be a str, found {component_id!r}")
    implementation = _implementation(component_id, component, args, kwargs)
    spec = make_spec(
        ForeignComponent if isinstance(component, Foreign) else recipe_of(component)[0],
        role,
        implementation,
        component_id,
        None,
        par,
        config,
        component.outputs if isinstance(component, Foreign) and outputs is None else outputs,
        component,
    )
    spec.tasks = tasks
    return spec


def _implementation(
    component_id: str, component: object, args: Sequence[Argument], kwargs: Mapping[str, Argument] | None
) -> Implementation:
    if isinstance(component, Foreign):
        return component.implementation
    if isinstance(component, type):
        return python_implementation(component, args, kwargs)
    if isinstance(component, Component):
        if args or kwargs:
            raise TypeError(f"component {component_id!r} is an instance: its arguments are given")
        return python_implementation(*recipe_of(component))
    hint = f"pass the class, {type(component).__name__}, and its constructor's arguments as args and kwargs"
    raise TypeError(f"component {component_id!r} must be a class, found the instance {component!r}: {hint}")


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
        """The place at which the component and its inputs were declared."""
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

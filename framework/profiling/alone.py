"""Each component alone: on its recorded input, and with nothing behind it but what drops its output.

A run of the whole topology is recorded. Then each component in turn has a topology to itself, in which spouts
bring what its sources have emitted and its consumers do nothing. A spout is alone as it is. What is measured
so has the caches for itself that are shared in a whole run, so it is a first guess of costs, from which a fit
to whole runs begins: costs that these cannot tell apart keep the proportions that they have alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from framework.costs import Deployment, Profile, Shape
from framework.errors import ViperError
from framework.planning import Plan
from framework.profiling.fitting import fit
from framework.profiling.profiler import Profiler
from framework.profiling.shapes import shape_of
from framework.profiling.standins import AsColumns, Nothing
from framework.recording.spout import CONFIG, RecordedSpout
from framework.topology import (
    ComponentSpec,
    Grouping,
    Input,
    ObjectDef,
    PythonImplementation,
    Role,
    Topology,
    class_path,
)

OF_PARTS: Mapping[str, object] = {
    "viper.placement": "round-robin",
    "viper.tasks": {},
    "viper.jumbo.linger.ms": 20,
}
"""Configuration of all parts of a topology: nothing that names components, most of which are missing, and
time for a recorded spout, which is slower than others, to fill a jumbo tuple."""
_AT_MOST_S = 1.0
"""Seconds of each run; the one that is recorded takes some 100 bytes of the disk for each tuple."""
_ITS_SPOUT = "{}-recorded"
_AS_COLUMNS = PythonImplementation(ObjectDef(class_path(AsColumns)))
_NOTHING = PythonImplementation(ObjectDef(class_path(Nothing)))


@dataclass(frozen=True)
class Alone:
    """Measures each component of a topology alone.

    Args:
        topology: it.
        whole: runs all of it.
        part: likewise, but of topologies that are given as files, each in the place of a target.
        planned: plans such a topology, so that it is refused where it cannot run.
        printed: a topology as such a file has it.
    """

    topology: Topology
    whole: Profiler
    part: Sequence[str]
    planned: Callable[[Topology], Plan]
    printed: Callable[[Topology], str]

    def guess(self, inline: Deployment, tell: Callable[[str], None]) -> Profile:
        """What components take alone, of those that can be measured so.

        Args:
            inline: a plan of the whole topology in one place, for the run that is recorded.
            tell: how far it is, and which component is left out for what reason.
        """
        found: dict[str, Profile] = {}
        with tempfile.TemporaryDirectory(prefix="viper-alone-") as name:
            folder = Path(name)
            try:
                recording = self._recorded(folder, inline, tell)
            except ViperError as error:
                tell(f"no component is measured alone: {error}")
                return Profile({})
            for component in self.topology.components:
                tell(f"{component.id} alone")
                try:
                    found[component.id] = self._measured(component.id, recording, folder, tell)
                except (ViperError, ValueError, TypeError) as error:
                    tell(f"{component.id} is not measured alone: {error}")
        return together(found)

    def _recorded(self, folder: Path, inline: Deployment, tell: Callable[[str], None]) -> Recorded:
        path = folder / "recording.viper"
        tell("a run is recorded")
        recorder = replace(
            self.whole, command=[*self.whole.command, "--record", str(path)], seconds=self._seconds
        )
        report = recorder.report(inline)
        return Recorded(path, any(counted["tracked"] for counted in report["components"].values()))

    def _measured(self, name: str, recording: Recorded, folder: Path, tell: Callable[[str], None]) -> Profile:
        topology = alone(self.topology, name, recording)
        file = folder / "alone.yaml"
        file.write_text(self.printed(topology), encoding="utf-8")
        shape = shape_of(self.planned(topology), 1)
        profiler = replace(
            self.whole,
            command=["run", str(file), *self.part],
            seconds=self._seconds,
            paths=self.topology.import_paths,
        )
        plans = list(plans_around(shape, name, self.whole.workers))
        found = profiler.measured(plans, 1, lambda text: tell(f"{name} alone, {text}"))
        samples = [sample for of_plan in found.values() for sample in of_plan]
        # Runs are as long in each of these plans, so nothing tells what they take from what tuples do.
        return fit(shape, samples, with_runs=False).profile

    @property
    def _seconds(self) -> float:
        return min(self.whole.seconds, _AT_MOST_S)


@dataclass(frozen=True)
class Recorded:
    """A run that was recorded.

    Args:
        path: of the recording.
        tracked: whether any of its tuples were.
    """

    path: Path
    tracked: bool


def alone(topology: Topology, name: str, recording: Recorded) -> Topology:
    """A topology in which a component has the input that was recorded, and its output is dropped.

    Its sources and consumers keep their ids and groupings, and each of them has one task. Where a source has
    streams of columns, a bolt has its id, behind a spout: so the component gets columns.
    """
    component = topology.component(name)
    sources = {given.source for given in component.inputs}
    made: list[ComponentSpec] = []
    for other in topology.components:
        if other.id == name:
            made.append(replace(other, parallelism=1, tasks=None))
        elif other.id in sources:
            made += _source(other, component, recording)
        elif inputs := tuple(given for given in other.inputs if given.source == name):
            made.append(ComponentSpec(other.id, Role.BOLT, _NOTHING, (), inputs))
    config = {**topology.config, **OF_PARTS}
    if sources:
        config["viper.time"] = "event"
    return replace(topology, components=tuple(made), config=config)


def plans_around(shape: Shape, name: str, workers: int) -> Iterator[Deployment]:
    """Plans that tell apart what a component takes for itself, to decode its input and to encode its output.

    Args:
        shape: of a topology with one component between its sources and its consumers.
        name: that component.
        workers: places; with one of them there is one plan.
    """
    yield Deployment({other: (0,) for other in shape.names})
    if workers > 1:
        at = shape.names.index(name)
        for first in {at, at + 1} - {0, len(shape.names)}:
            cut = {other: (int(number >= first),) for number, other in enumerate(shape.names)}
            yield Deployment(cut)


def together(parts: Mapping[str, Profile]) -> Profile:
    """One profile of components that were measured alone, each by the profile of its own topology."""
    return Profile({name: profile.components[name] for name, profile in parts.items()})


def _source(source: ComponentSpec, consumer: ComponentSpec, recording: Recorded) -> list[ComponentSpec]:
    """What brings the streams of a source that a consumer takes."""
    taken = {given.stream for given in consumer.inputs if given.source == source.id}
    streams = tuple(stream for stream in source.outputs or () if stream.name in taken)
    arguments = {
        "recording": str(recording.path),
        "component": source.id,
        "streams": sorted(taken),
        "tracked": recording.tracked,
    }
    brings = PythonImplementation(ObjectDef(class_path(RecordedSpout), kwargs=arguments))
    spout = ComponentSpec(source.id, Role.SPOUT, brings, streams, config=CONFIG)
    if all(stream.schema is None for stream in streams):
        return [spout]
    behind = replace(spout, id=_ITS_SPOUT.format(source.id))
    inputs = tuple(Input(behind.id, Grouping.SHUFFLE, stream.name) for stream in streams)
    return [behind, ComponentSpec(source.id, Role.BOLT, _AS_COLUMNS, streams, inputs)]

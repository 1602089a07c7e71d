"""Each component alone: on its recorded input, and with nothing after it but a sink that drops its output.

A run of the whole topology is recorded. Then each component in turn has a topology to itself, in which spouts
bring what its sources have emitted and its consumers do nothing; a spout is not changed. There a component
has caches for itself that it shares in a whole run. So what is measured is a first guess of costs, from which
a fit to whole runs begins: costs that these cannot tell apart keep the proportions that they have alone.
"""

from __future__ import annotations

import pickle
import statistics
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from framework.model.errors import ViperError
from framework.model.topology import (
    ComponentSpec,
    Grouping,
    Input,
    ObjectDef,
    PythonImplementation,
    Role,
    Topology,
    class_path,
)
from framework.operators.components import BatchBolt
from framework.operators.components.rows import Rows
from framework.optimizer.costs import Deployment, Profile, Shape, StreamCost
from framework.optimizer.profiling.fitting import fit
from framework.optimizer.profiling.profiler import Profiler, RunFailed
from framework.optimizer.profiling.shapes import shape_of
from framework.planning import Plan, TimeMode
from framework.recording import Recording
from framework.recording.replay import CONFIG, RecordedSpout


class Nothing(BatchBolt):
    """Takes tuples, and does nothing with them."""

    def process_rows(self, rows: Rows) -> None:
        """Forget them."""


class AsColumns(BatchBolt):
    """Hands tuples on, on the streams that they came on: those of typed streams as columns."""

    def process_rows(self, rows: Rows) -> None:
        """Make columns of them, so that the next component does not have to."""
        self.emit_rows(rows.values() if rows.schema is None else rows.batch(), stream=rows.stream)


OF_PARTS: Mapping[str, object] = {
    "viper.placement": "round-robin",
    "viper.tasks": {},
    "viper.jumbo.linger.ms": 20,
}
"""Configuration of all parts of a topology. It names no components, as most of them are missing, and leaves a
recorded spout, which is slower than others, the time to fill a jumbo tuple."""
_AT_MOST_S = 1.0
"""Seconds of each run; the one that is recorded takes some 100 bytes of the disk for each tuple."""
_PATIENCE_S = 60.0
"""Seconds in which a part has to end once it is drained: a bolt may wait for what only the whole brings."""
_OFTEN = 0.5
"""Tuples of a stream for each one that its component takes in, from which on its crossings can be measured.
With one for 2,000, an error of a sixth of the component's time looked like 2 ms for each that crossed."""
_TICKS = "topology.tick.tuple.freq.secs"
_FILE = """
import pickle

from framework.model.importing import importable

with importable({paths!r}), open({kept!r}, "rb") as file:
    topology = pickle.load(file)
"""
_AS_COLUMNS = PythonImplementation(ObjectDef(class_path(AsColumns)))
_NOTHING = PythonImplementation(ObjectDef(class_path(Nothing)))


@dataclass(frozen=True)
class Alone:
    """Measures each component of a topology alone.

    Args:
        topology: the whole of it.
        whole: runs it.
        part: arguments of ``viper run`` for a part of it, which is a file in the place of a target.
        planned: plans a part as it will be run.
    """

    topology: Topology
    whole: Profiler
    part: Sequence[str]
    planned: Callable[[Topology], Plan]

    def guess(self, inline: Deployment, tell: Callable[[str], None]) -> Profile:
        """Measure the costs of components alone, of those that can be measured this way.

        Args:
            inline: a plan of the whole topology in one place, for the run that is recorded.
            tell: gets how far it is, and which component is left out for what reason.
        """
        found: dict[str, Profile] = {}
        with tempfile.TemporaryDirectory(prefix="viper-alone-") as name:
            folder = Path(name)
            try:
                recording = self._recorded(folder, inline, tell)
            except (ViperError, OSError) as error:
                tell(f"no component is measured alone: {error}")
                return Profile({})
            for component in self.topology.components:
                try:
                    found[component.id] = self._measured(component.id, recording, folder, tell)
                except Exception as error:  # whatever it is, whole runs are measured
                    tell(f"{component.id} is not measured alone: {error}")
        return together(found)

    def _recorded(self, folder: Path, inline: Deployment, tell: Callable[[str], None]) -> Recorded:
        path = folder / "recording.viper"
        tell("a run is recorded")
        command = [*self.whole.command, "--record", str(path)]
        report = replace(self.whole, command=command, seconds=self._seconds).report(inline)
        is_tracked = any(counted["tracked"] for counted in report["components"].values())
        with Recording(path) as recording:
            return Recorded(path, recording.header.time, is_tracked)

    def _measured(self, name: str, recording: Recorded, folder: Path, tell: Callable[[str], None]) -> Profile:
        topology = alone(self.topology, name, recording)
        shape = shape_of(self.planned(topology), 1)
        command = ["run", str(_written(topology, folder)), *self.part]
        profiler = replace(self.whole, command=command, seconds=self._seconds, patience_s=_PATIENCE_S)
        plans = list(plans_around(shape, name, self.whole.workers))
        found = profiler.measured(plans, 1, lambda text: tell(f"{name} alone, {text}"))
        samples = [sample for of_plan in found.values() for sample in of_plan]
        if not any(sample.processed.get(name) for sample in samples):
            raise RunFailed("there were no tuples for it in the run that was recorded")
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
        time: what timestamps mean in it.
        tracked: whether any of its tuples were.
    """

    path: Path
    time: TimeMode
    tracked: bool


def alone(topology: Topology, name: str, recording: Recorded) -> Topology:
    """A topology in which a component has the input that was recorded, and its output is dropped.

    Its sources and consumers keep their ids and groupings, and each of them has one task. If a source has
    streams of columns, a bolt after a spout has its id, so that the component gets columns. Tuples keep their
    times, but for a component with ticks by the wall clock, which would have hardly any of these.
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
        has_ticks = component.config.get(_TICKS, topology.config.get(_TICKS)) is not None
        by_count = recording.time is TimeMode.LOGICAL and (len(sources) == 1 or has_ticks)
        config["viper.time"] = "logical" if by_count else "event"
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
    """One profile of components that were measured alone, each by the profile of its own topology.

    A stream of which few tuples crossed, or none seemed to take any time, gets the times of the other
    streams.
    """
    costs = {name: profile.components[name] for name, profile in parts.items()}
    told = [stream for cost in costs.values() for stream in cost.streams.values() if _tells(stream)]
    encode, decode = (
        statistics.fmean(times) if times else 0.0
        for times in (
            [stream.encode_ns for stream in told if stream.encode_ns],
            [stream.decode_ns for stream in told if stream.decode_ns],
        )
    )

    def completed(stream: StreamCost) -> StreamCost:
        own = stream if _tells(stream) else replace(stream, encode_ns=0.0, decode_ns=0.0)
        return replace(own, encode_ns=own.encode_ns or encode, decode_ns=own.decode_ns or decode)

    return Profile(
        {
            name: replace(cost, streams={way: completed(stream) for way, stream in cost.streams.items()})
            for name, cost in costs.items()
        }
    )


def _tells(stream: StreamCost) -> bool:
    """True if so much has crossed that its times are not the errors of what the component takes besides."""
    return stream.selectivity >= _OFTEN


def _source(source: ComponentSpec, consumer: ComponentSpec, recording: Recorded) -> list[ComponentSpec]:
    """Make the components that bring the streams of a source that a consumer takes."""
    taken = {given.stream for given in consumer.inputs if given.source == source.id}
    streams = tuple(stream for stream in source.outputs or () if stream.name in taken)
    arguments = {
        "recording": str(recording.path),
        "component": source.id,
        "streams": sorted(taken),
        "tracked": recording.tracked,
    }
    brings = PythonImplementation(ObjectDef(class_path(RecordedSpout), kwargs=arguments))
    # Windows that wait for time would wait for it in vain where the spout waits for them.
    config = {**CONFIG, "topology.max.spout.pending": None}
    spout = ComponentSpec(source.id, Role.SPOUT, brings, streams, config=config)
    if all(stream.schema is None for stream in streams):
        return [spout]
    behind = replace(spout, id=f"{source.id}, recorded")
    inputs = tuple(Input(behind.id, Grouping.SHUFFLE, stream.name) for stream in streams)
    return [behind, ComponentSpec(source.id, Role.BOLT, _AS_COLUMNS, streams, inputs)]


def _written(topology: Topology, folder: Path) -> Path:
    """A new file in a folder that stands for a topology of any kind, and imports what that did."""
    file = folder / f"part_{len(list(folder.iterdir()))}.py"
    kept = file.with_suffix(".pickle")
    kept.write_bytes(pickle.dumps(topology))
    file.write_text(_FILE.format(paths=list(topology.import_paths), kept=str(kept)), encoding="utf-8")
    return file

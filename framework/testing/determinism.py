"""Runs a topology in many ways that must not show in its output, and finds where they do."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Final

from framework.model.importing import importable
from framework.model.topology import Role, Topology, unknown
from framework.planning import WorkerKind
from framework.recording import Hop, Recorded, Recording, line_of_descent
from framework.recording.comparing import same
from framework.runtime import RunReport, StopReason, run
from framework.testing.given import Inputs, collected, given
from framework.testing.preparing import Conf, loaded, names_of, planned, settled

KINDS: Final = tuple(str(kind) for kind in WorkerKind)
"""Kinds of workers."""
_WORKERS: Final = 2
"""Workers of a run by threads or processes."""
_SIZES: Final = (1, 2, 7, 1024)
"""Tuples in a jumbo tuple, and in a slice, that are drawn for a seed."""
_LONGEST: Final = 500
"""Characters of a tuple's values that are shown."""
_NAMESAKES: Final = 2
"""Ancestors that are shown of those that share one position."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to run a topology."""

    parallelism: int
    worker: str
    seed: int | None = None
    """Of the order in which tasks run, and of the sizes of batches; None for the usual ones."""

    def __str__(self) -> str:
        seed = "" if self.seed is None else f", seed {self.seed}"
        return f"parallelism {self.parallelism}, {self.worker} workers{seed}"

    def conf(self) -> dict[str, Any]:
        """The configuration of the run."""
        one = self.worker == WorkerKind.INLINE
        conf: dict[str, Any] = {"viper.worker": self.worker, "topology.workers": 1 if one else _WORKERS}
        if self.seed is not None:
            draw = random.Random(self.seed)
            conf |= {"viper.scheduling": "random", "viper.seed": self.seed}
            conf |= {key: draw.choice(_SIZES) for key in ("viper.jumbo.size", "viper.slice.tuples")}
        return conf


@dataclass(frozen=True, slots=True)
class Compared:
    """The result of `assert_deterministic`."""

    variants: Sequence[Variant]
    """The runs; each was compared with the first."""
    tuples: int
    """Tuples of each run."""


def assert_deterministic(
    topology: object,
    *,
    inputs: Inputs | None = None,
    sinks: Collection[str] = (),
    conf: Conf | None = None,
    max_tuples: int | None = None,
    scaled: Collection[str] | None = None,
    parallelism: Iterable[int] = (1, 2, 3),
    workers: Iterable[str] = KINDS,
    seeds: Iterable[int] = range(10),
    environment: str | None = None,
    timeout_s: float = 60.0,
) -> Compared:
    """Check that a topology emits the same however it is run: the same tuples on each stream, in one order.

    The first run has the first parallelism, the first kind of worker and the usual schedule. Each other one
    has another parallelism, another kind of worker, or a schedule and sizes of batches that are drawn from a
    seed. All of them are recorded and compared with the first.

    Args:
        topology: whatever `run_topology` takes.
        inputs: rows in place of some spouts, as for `run_topology`.
        sinks: ids of bolts that are not to run, as for `run_topology`.
        conf: configuration, over what the topology says.
        max_tuples: tuples after which the spouts stop, for those that never end.
        scaled: ids of the bolts that get the parallelism; None for those that the topology gives several
            tasks. The others stay as they are.
        parallelism: numbers of tasks.
        workers: of ``inline``, ``thread`` and ``process``. For the last one, components must be importable:
            no class is defined in a function.
        seeds: each is one more run, in this process, of one of the parallelisms.
        environment: chooses from a ``par`` that is given per environment.
        timeout_s: seconds after which a run that does not end is given up.

    Returns:
        The runs that were compared, and the number of their tuples.

    Raises:
        AssertionError: a run differs; the message has the first tuple that does, what it descends from in
            both runs, and how to repeat only that. Or nothing was emitted, so that nothing can be compared.
        TopologyError: the topology cannot run here; the error has all problems.
        ComponentError: a component raised.
        TimeoutError: the spouts of a run have not ended in time.
        ValueError: no parallelism, no such kind of worker, or a number of tasks below 1.
    """
    made = collected(given(loaded(topology, environment), inputs or {}), names_of("sinks", sinks))
    names = [name for name in _scaled(made, scaled) if name not in sinks]
    first, *others = variants(parallelism, workers, seeds)
    with tempfile.TemporaryDirectory(prefix="viper-determinism-") as folder:
        runner = _Runner(made, names, conf or {}, max_tuples, timeout_s, Path(folder))
        reference = runner.recorded(first)
        with Recording(reference) as recording, importable(recording.header.import_paths):
            tuples = sum(1 for name, stream in _streams(recording) for _ in recording.tuples(name, stream))
            if not tuples:
                raise AssertionError(f"no component of {made.name!r} has emitted anything to be compared")
            for variant in others:
                path = runner.recorded(variant)
                with Recording(path) as other:
                    _compare(_Side(first, recording), _Side(variant, other))
                path.unlink()
    return Compared((first, *others), tuples)


def variants(parallelism: Iterable[int], workers: Iterable[str], seeds: Iterable[int]) -> list[Variant]:
    """The runs, the reference first.

    Raises:
        ValueError: no parallelism, no such kind of worker, or a number of tasks below 1.
    """
    counts, kinds = list(dict.fromkeys(parallelism)), list(dict.fromkeys(names_of("workers", list(workers))))
    for kind in kinds:
        if kind not in KINDS:
            raise ValueError(unknown("kind of worker", kind, KINDS))
    if not counts or not kinds or min(counts) < 1:
        raise ValueError(f"parallelism {counts}, workers {kinds}: expected some numbers from 1 on, and kinds")
    plain = [Variant(count, kind) for kind in kinds for count in counts]
    drawn = [
        Variant(counts[nth % len(counts)], str(WorkerKind.INLINE), seed) for nth, seed in enumerate(seeds)
    ]
    return [*plain, *drawn]


def _scaled(topology: Topology, scaled: Collection[str] | None) -> Collection[str]:
    bolts = {bolt.id: bolt for bolt in topology.bolts}
    if scaled is None:
        return [name for name, bolt in bolts.items() if bolt.parallelism > 1]
    for name in names_of("scaled", scaled):
        if name not in bolts:
            raise ValueError(unknown("bolt", name, bolts))
    return scaled


class _Runner:
    """Runs variants of a topology, and records them."""

    def __init__(
        self,
        topology: Topology,
        scaled: Collection[str],
        conf: Conf,
        max_tuples: int | None,
        timeout_s: float,
        folder: Path,
    ) -> None:
        self._topology = topology
        self._scaled = scaled
        self._conf = conf
        self._max_tuples = max_tuples
        self._timeout_s = timeout_s
        self._folder = folder

    def recorded(self, variant: Variant) -> Path:
        """The recording of a run."""
        conf = {**self._conf, **variant.conf()}
        topology = self._with_tasks(variant.parallelism)
        settled(topology, conf)
        plan, settings = planned(topology, conf)
        path = self._folder / "run.viper"
        if path.exists():
            path = self._folder / "other.viper"
        report = run(plan, settings, max_tuples=self._max_tuples, duration_s=self._timeout_s, record=path)
        self._check_ended(report, variant)
        return path

    def _with_tasks(self, count: int) -> Topology:
        components = (
            replace(c, parallelism=count, tasks=count) if c.id in self._scaled else c
            for c in self._topology.components
        )
        return replace(self._topology, components=tuple(components))

    def _check_ended(self, report: RunReport, variant: Variant) -> None:
        if report.reason is StopReason.DURATION:
            raise TimeoutError(
                f"topology {report.topology!r} has not ended within {self._timeout_s:g} s ({variant}): for "
                "spouts that never end give max_tuples, or inputs in their place"
            )


@dataclass(frozen=True, slots=True)
class _Side:
    """A recorded run, and how it was run."""

    how: Variant
    recording: Recording


def _streams(recording: Recording) -> Sequence[tuple[str, str]]:
    """Components with their streams, nearest to the spouts first."""
    found = sorted(recording.header.components, key=lambda component: component.level.depth)
    return [(component.id, stream.name) for component in found for stream in component.streams]


def _compare(a: _Side, b: _Side) -> None:
    """Compare all streams.

    Raises:
        AssertionError: one differs; it is one of those nearest to the spouts.
    """
    for component, stream in _streams(a.recording):
        pairs = zip_longest(a.recording.tuples(component, stream), b.recording.tuples(component, stream))
        for number, (one, other) in enumerate(pairs, start=1):
            if one is None or other is None or not same(one.values, other.values):
                sides = [*_side_lines("A", a, component, one), *_side_lines("B", b, component, other)]
                what = f"{component}/{stream} differs in its tuple {number:,}"
                raise AssertionError("\n".join((what, *sides, _how_to_repeat(a.how, b.how))))


def _how_to_repeat(a: Variant, b: Variant) -> str:
    """The arguments of `assert_deterministic` by which hardly more is run than two variants."""
    counts = list(dict.fromkeys((a.parallelism, b.parallelism)))
    kinds = list(dict.fromkeys((a.worker, b.worker)))
    seeds = [] if b.seed is None else [b.seed] * len(counts)  # one for each parallelism
    return f"to repeat it: parallelism={counts}, workers={kinds}, seeds={seeds}"


def _side_lines(name: str, side: _Side, component: str, found: Recorded | None) -> Iterator[str]:
    if found is None:
        yield f"{name}: no more tuples, {side.how}"
        return
    yield f"{name}: {_shown(found)} of task {found.task}, {side.how}"
    for hop in reversed(line_of_descent(found.position, component, side.recording.header)[:-1]):
        yield from _ancestor_lines(side.recording, hop)


def _ancestor_lines(recording: Recording, hop: Hop) -> Iterator[str]:
    known = None if hop.component is None else recording.header.component(hop.component)
    if hop.component is None or known is None:
        yield "     from tuples that the path had no room left to name"
        return
    where = f"partition {hop.copy}" if known.role is Role.SPOUT else f"output {hop.ordinal} of its input"
    for ancestor in islice(recording.at(hop.component, hop.position), _NAMESAKES):
        yield f"     from {_shown(ancestor)} of {hop.component}, {where}"


def _shown(recorded: Recorded) -> str:
    text = repr(recorded.values)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."

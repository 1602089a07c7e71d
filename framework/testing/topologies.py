"""Whole topologies, and single spouts, in a test, by threads or by a virtual clock."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from framework.frontends.builder import TopologyBuilder
from framework.model.config import Settings
from framework.model.topology import DEFAULT_STREAM, Argument, Topology, unknown
from framework.operators.components import Component
from framework.operators.sinks import CollectingSink
from framework.planning import Plan
from framework.recording.tap import tap_id, tapped
from framework.runtime import RunReport, StopReason, run
from framework.testing.clock import VirtualClock, VirtualWaits
from framework.testing.given import Inputs, collected, given
from framework.testing.preparing import Conf, by_the_clock, loaded, names_of, own_config, planned, settled

Row = tuple[Any, ...]

_SPOUT = "spout"
"""Id of a spout that runs alone."""


@dataclass(frozen=True, slots=True)
class TopologyRun:
    """A run that has ended, and everything that was emitted in it."""

    report: RunReport
    """Its counts, the results of its sinks, why it ended."""
    streams: Mapping[tuple[str, str], Sequence[Row]]
    """The rows of every declared stream, by component and name."""
    sinks: Mapping[str, Sequence[Row]] = field(default_factory=dict)
    """The rows that came to the sinks which stand in for bolts, by the bolt's id."""

    def emitted(self, component: str, stream: str = DEFAULT_STREAM) -> list[Row]:
        """Everything that the tasks of a component emitted on a stream, in the order of its positions.

        Raises:
            KeyError: there is no such component, or it declares no such stream.
        """
        names = {name for name, _ in self.streams}
        if component not in self.report.components:
            raise KeyError(unknown("component", component, names))
        if (component, stream) not in self.streams:
            declared = [other for name, other in self.streams if name == component]
            raise KeyError(f"component {component!r}: {unknown('stream', stream, declared)}")
        return list(self.streams[component, stream])

    def received(self, sink: str) -> list[Row]:
        """Everything that reached a bolt which ``sinks`` names, in the order of its positions.

        Raises:
            KeyError: it is not among them.
        """
        if sink not in self.sinks:
            raise KeyError(f"{unknown('sink', sink, self.sinks)}: name it in sinks=[...]")
        return list(self.sinks[sink])


@dataclass(frozen=True, slots=True)
class SpoutRun:
    """The run of a spout, and the rows that it emitted."""

    component: str
    """Its id in the run."""
    report: RunReport
    """Its counts, and why it ended."""
    streams: Mapping[str, Sequence[Row]]
    """The rows that it emitted on each declared stream."""

    def emitted(self, *names: str) -> list[Row]:
        """Return its rows of a stream, in order: of the default one, or of the named one.

        The spout's id, ``"spout"``, may stand before the name, as in a `TopologyRun`.

        Raises:
            KeyError: it declares no such stream.
            TypeError: several names of streams.
        """
        if names[:1] == (self.component,) and (len(names) > 1 or self.component not in self.streams):
            names = names[1:]
        if len(names) > 1:
            raise TypeError(f"found {names!r}, expected the name of one stream")
        stream = names[0] if names else DEFAULT_STREAM
        if stream not in self.streams:
            raise KeyError(unknown("stream", stream, self.streams))
        return list(self.streams[stream])


def run_topology(
    topology: object,
    *,
    inputs: Inputs | None = None,
    sinks: Collection[str] = (),
    conf: Conf | None = None,
    max_tuples: int | None = None,
    seed: int | None = None,
    environment: str | None = None,
    clock: VirtualClock | None = None,
    duration_s: float | None = None,
    timeout_s: float = 60.0,
) -> TopologyRun:
    """Run a topology to its end in this process.

    The same call gives the same rows in the same order, as long as the components depend on
    nothing but their input: time is logical unless ``viper.time`` or the spouts say otherwise.

    Args:
        topology: a topology class, ours or streamparse's, a `TopologyBuilder` or `StreamBuilder`, a
            function that returns one, a topology, or a target as on the command line (``topologies/x.yaml``).
        inputs: rows of values to emit in place of some spouts, by id of the spout; for a spout
            with several streams a mapping of stream to rows.
        sinks: ids of bolts that are not to run, such as those that write to a database. A sink with one
            task stands in for each; the result's ``received(id)`` has what came to it.
        conf: configuration, over what the topology says.
        max_tuples: tuples after which the spouts stop, for those that never end.
        seed: run tasks in a random order, which this number determines, instead of the usual one.
        environment: chooses from a ``par`` that is given per environment.
        clock: the clock that the run goes by, in one thread: while nothing is to be done, it runs ahead. The
            time of rows is then that of the clock, unless ``viper.time`` or the spouts say otherwise.
        duration_s: seconds after which the spouts are stopped, by `clock` if there is one; None for spouts
            that end.
        timeout_s: seconds after which a run that does not end is given up, whatever `clock` shows.

    Raises:
        TopologyError: the topology cannot run here; the error has all problems.
        ComponentError: a component raised.
        TimeoutError: the spouts have not ended in time.
        ValueError: a clock, and a configuration by which several threads or processes run.
    """
    options = {
        **({"viper.scheduling": "random", "viper.seed": seed} if seed is not None else {}),
        **(conf or {}),
    }
    prepared = collected(given(loaded(topology, environment), inputs or {}), names_of("sinks", sinks))
    settled(prepared, options)
    streams = [(c.id, stream.name) for c in prepared.components for stream in c.outputs or ()]
    watched = _watched(prepared, streams)
    if clock is None:
        plan, settings = planned(watched, options)
        limit_s = timeout_s if duration_s is None else min(duration_s, timeout_s)
        report = run(plan, settings, max_tuples=max_tuples, duration_s=limit_s)
        timed_out = report.reason is StopReason.DURATION and limit_s != duration_s
    else:
        plan, settings = by_the_clock(watched, options)
        limits = Limits(max_tuples, duration_s, timeout_s)
        report, timed_out = run_by(clock, plan, settings, limits)
    if timed_out:
        raise TimeoutError(
            f"topology {report.topology!r} has not ended within {timeout_s:g} s, after {report.emitted} "
            "tuples from its spouts: for spouts that never end give max_tuples, or inputs in their place"
        )
    rows = {(component, stream): report.result(tap_id(component, stream)) for component, stream in streams}
    return TopologyRun(_untapped(report, streams), rows, {sink: report.result(sink) for sink in sinks})


def run_spout(
    spout: type | Component,
    count: int | None = None,
    *,
    conf: Conf | None = None,
    args: Sequence[Argument] = (),
    kwargs: Mapping[str, Argument] | None = None,
    timeout_s: float = 10.0,
) -> SpoutRun:
    """Run a spout alone.

    Args:
        spout: its class, ours or streamparse's, or an instance of one of ours.
        count: tuples after which it is stopped; None for one that ends by itself.
        conf: configuration, over the spout's own.
        args: its constructor's arguments, plain values.
        kwargs: its constructor's keyword arguments, plain values.
        timeout_s: seconds after which a spout that does not end is given up.

    Raises:
        TopologyError: the class is no spout, or cannot run here.
        ComponentError: it raised.
        TimeoutError: it has neither ended in time nor emitted so many.
    """
    builder = TopologyBuilder()
    builder.set_spout(_SPOUT, spout, 1, args=args, kwargs=kwargs, config=own_config(spout, conf))
    ran = run_topology(builder, conf=conf, max_tuples=count, timeout_s=timeout_s)
    return SpoutRun(_SPOUT, ran.report, {stream: rows for (_, stream), rows in ran.streams.items()})


def _watched(topology: Topology, streams: Sequence[tuple[str, str]]) -> Topology:
    for component, stream in streams:
        topology = tapped(topology, component, CollectingSink, stream)
    return topology


def _untapped(report: RunReport, streams: Sequence[tuple[str, str]]) -> RunReport:
    taps = {tap_id(component, stream) for component, stream in streams}
    return replace(
        report,
        components={name: counters for name, counters in report.components.items() if name not in taps},
        results={name: result for name, result in report.results.items() if name not in taps},
    )


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits that end a run before its spouts do."""

    max_tuples: int | None
    """Tuples after which the spouts stop."""
    duration_s: float | None
    """Seconds on the clock after which they stop."""
    timeout_s: float
    """Seconds that really pass after which the run is given up."""


def run_by(clock: VirtualClock, plan: Plan, settings: Settings, limits: Limits) -> tuple[RunReport, bool]:
    """Run a plan by a clock, which passes at once whatever time there is nothing to do in.

    Args:
        clock: shows the time of the run.
        plan: what to run, by one executor.
        settings: the configuration it was planned with.
        limits: end it.

    Returns:
        The report, and whether the run was given up.

    Raises:
        ComponentError: a component raised.
        ValueError: the plan has several executors.
    """
    if plan.placement.threads > 1:
        raise ValueError(
            f"a run by a virtual clock has one thread: found {plan.placement.threads}; leave out "
            "viper.worker, viper.worker.threads, topology.workers and viper.blocking"
        )
    waits, drain_s = VirtualWaits(clock), settings["viper.drain.timeout.secs"]
    with clock.within(), _given_up_after(limits.timeout_s, clock, waits, drain_s) as given_up:
        max_tuples, duration_s = limits.max_tuples, limits.duration_s
        report = run(plan, settings, max_tuples=max_tuples, duration_s=duration_s, stop=waits)
    return report, given_up.is_set()


@contextmanager
def _given_up_after(
    timeout_s: float, clock: VirtualClock, waits: VirtualWaits, drain_s: float
) -> Iterator[threading.Event]:
    """While the block runs, give the run up after so many seconds that really pass.

    The clock may stand still, as in a callback that does not return. So it is moved to where no drain lasts.
    """
    given_up = threading.Event()

    def give_up() -> None:
        given_up.set()
        waits.request(StopReason.DURATION)
        clock.advance(2 * drain_s + 1)

    timer = threading.Timer(timeout_s, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield given_up
    finally:
        timer.cancel()
        timer.join()

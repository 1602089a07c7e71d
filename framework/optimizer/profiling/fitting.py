"""A profile from samples: the least squares that are not negative.

The time of a task is the sum of the times of its tuples, its runs and its crossings to other processes. Jumbo
tuples have no term. Their number follows too closely from the number of tuples, so that a fit gave each of
them 100 µs, and took that from the tuples.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from framework.optimizer.costs import ComponentCost, Flow, Profile, Shape, StreamCost
from framework.optimizer.profiling.least_squares import Term, least_squares
from framework.optimizer.profiling.samples import Sample, TaskSample, Way


@dataclass(frozen=True)
class Fit:
    """A profile, and how well it fits."""

    profile: Profile
    median_error: float
    """Of the processor time of tasks, relative; 0 where none took any."""
    samples: int


def fit(
    shape: Shape, samples: Sequence[Sample], *, with_runs: bool = True, guess: Profile | None = None
) -> Fit:
    """The profile that fits best.

    Args:
        shape: the topology's.
        samples: of runs of several plans, or of one where there is a guess.
        with_runs: whether runs cost anything; without, one sees what this term is good for.
        guess: what costs are expected to be, of all components or of some. It decides between costs that
            samples cannot tell apart, and stands for what no sample has; a cost of 0 is no guess.

    Raises:
        ValueError: nothing was brought in any of the runs, or no task took any time and there is no guess.
    """
    if not any(sample.brought for sample in samples):
        raise ValueError("no spout has brought anything: expected runs with tuples")
    tasks = [task for sample in samples for task in sample.tasks.values()]
    rows = [(_terms(task, with_runs), task.cpu_ns) for task in tasks if task.processed and task.cpu_ns > 0]
    if not rows and guess is None:
        raise ValueError("no task has taken processor time: expected longer runs, or a guess")
    expected = Guess(shape, guess)
    cost = least_squares(rows, expected.terms)
    errors = sorted(abs(_value(terms, cost) / ns - 1) for terms, ns in rows)
    # What no row has is as guessed; what there is without runs has no term for them at all.
    known = {term: ns for term, ns in expected.terms.items() if with_runs or term != RUN} | cost
    profile = _profile(shape, samples, known, expected)
    return Fit(profile, errors[len(errors) // 2] if errors else 0.0, len(samples))


def _terms(task: TaskSample, with_runs: bool) -> dict[Term, float]:
    terms: dict[Term, float] = {(IN, task.component): task.processed}
    if with_runs and task.runs:
        terms[RUN] = task.runs
    for kind, counted in ((ENCODE, task.encoded), (DECODE, task.decoded)):
        for way, tuples in counted.items():
            terms[kind, way] = tuples
    return {term: count for term, count in terms.items() if count}


def _value(terms: Mapping[Term, float], cost: Mapping[Term, float]) -> float:
    return sum(count * cost[term] for term, count in terms.items())


def _profile(shape: Shape, samples: Sequence[Sample], cost: Mapping[Term, float], guess: Guess) -> Profile:
    processed = _sums(sample.processed for sample in samples)
    emitted = _sums(sample.emitted for sample in samples)
    ways: dict[str, list[Way]] = defaultdict(list)
    for sample in samples:
        for name, way in sample.ways.items():
            ways[name].append(way)
    brought = sum(processed[node.name] for node in shape.nodes if node.is_spout)
    components = {}
    for node in shape.nodes:
        flows: dict[str, list[Flow]] = defaultdict(list)
        for flow in (flow for flow in shape.flows if flow.source == node.name):
            flows[flow.stream].append(flow)
        streams = {}
        for stream, taken in flows.items():
            seen = processed[node.name]
            each = emitted[f"{node.name}/{stream}"] / seen if seen else guess.selectivity(node.name, stream)
            streams[stream] = _stream(taken, each, ways, cost, guess)
        share = processed[node.name] / brought if node.is_spout else 1.0
        ns = cost.get((IN, node.name), 0.0)
        components[node.name] = ComponentCost(ns, streams, share=share, memory=guess.memory(node.name))
    everything = [way for found in ways.values() for way in found]
    jumbos, sent = sum(way.jumbos for way in everything), sum(way.tuples for way in everything)
    return Profile(
        components,
        run_ns=cost.get(RUN, 0.0),
        jumbo_tuples=sent / jumbos if jumbos else guess.jumbo_tuples,
        rates=guess.rates,
    )


def _stream(
    flows: Sequence[Flow],
    selectivity: float,
    ways: Mapping[str, Sequence[Way]],
    cost: Mapping[Term, float],
    guess: Guess,
) -> StreamCost:
    """Average the costs of a stream over its ways to consumers that crossed; if none did, as guessed."""
    names = [f"{flow.source}/{flow.target}" for flow in flows]
    crossed = {name: sum(way.crossed for way in ways.get(name, ())) for name in names}
    crossing = sum(crossed.values())
    if not crossing:
        size = guess.size(flows[0].source, flows[0].stream)
        encode, decode = (cost.get((kind, names[0]), 0.0) for kind in (ENCODE, DECODE))
        return StreamCost(selectivity, size, encode_ns=encode, decode_ns=decode)
    encode, decode = (
        sum(cost.get((kind, name), 0.0) * count for name, count in crossed.items()) / crossing
        for kind in (ENCODE, DECODE)
    )
    size = sum(way.bytes for name in names for way in ways.get(name, ())) / crossing
    return StreamCost(selectivity, size, encode_ns=encode, decode_ns=decode)


def _sums(counted: Iterable[Mapping[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for counts in counted:
        for name, count in counts.items():
            sums[name] += count
    return sums


IN, RUN, ENCODE, DECODE = "in", "run", "encode", "decode"
"""Kinds of terms: tuples that a component takes in, runs, and tuples that cross to another process."""
_NOTHING = ComponentCost(0.0)


class Guess:
    """A profile of all components, of some, or of none.

    Args:
        shape: of the topology whose costs are fitted.
        profile: None where nothing is known.
    """

    def __init__(self, shape: Shape, profile: Profile | None) -> None:
        self._shape = shape
        self._profile = profile or Profile({}, jumbo_tuples=1.0)
        self.terms: Mapping[Term, float] = {term: ns for term, ns in self._terms() if ns > 0}
        """Nanoseconds for each one, of those of which something is known."""

    @property
    def jumbo_tuples(self) -> float:
        """Tuples of a jumbo tuple."""
        return self._profile.jumbo_tuples

    @property
    def rates(self) -> Mapping[str, float]:
        """The rates that spouts can bring at most, which no fit finds."""
        return self._profile.rates

    def memory(self, component: str) -> float:
        """Bytes of memory for each tuple, which no fit finds; 0 where they are not known."""
        return self._of(component).memory

    def selectivity(self, component: str, stream: str) -> float:
        """Tuples of the stream for each one that the component takes in; 0 where that is not known."""
        return self._stream(component, stream).selectivity

    def size(self, component: str, stream: str) -> float:
        """Bytes of a tuple on its way to another process; 0 where that is not known."""
        return self._stream(component, stream).size

    def _terms(self) -> Iterator[tuple[Term, float]]:
        yield RUN, self._profile.run_ns
        for name in self._shape.names:
            yield (IN, name), self._taken_in_ns(name)
        for flow in self._shape.flows:
            cost, way = self._stream(flow.source, flow.stream), f"{flow.source}/{flow.target}"
            yield (ENCODE, way), cost.encode_ns
            yield (DECODE, way), cost.decode_ns

    def _taken_in_ns(self, name: str) -> float:
        """For a tuple of an average input, with all that is emitted for it: a fit has one term for these."""
        cost = self._of(name)
        by_input = [cost.inputs.get(_input(flow), cost.ns) for flow in self._shape.into[name]] or [cost.ns]
        emitting = sum(stream.ns * stream.selectivity for stream in cost.streams.values())
        return sum(by_input) / len(by_input) + emitting

    def _of(self, component: str) -> ComponentCost:
        return self._profile.components.get(component, _NOTHING)

    def _stream(self, component: str, stream: str) -> StreamCost:
        return self._of(component).streams.get(stream) or StreamCost(0.0)


def _input(flow: Flow) -> str:
    return f"{flow.source}/{flow.stream}"

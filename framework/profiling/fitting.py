"""A profile from samples: the least squares that are not negative.

What a task took is the sum of what its tuples, its runs and its crossings to other processes took. Jumbo
tuples have no term: how many there are follows too closely from how many tuples there are, so that a fit
gave each of them 100 µs, and took that from the tuples. All errors are relative, so that cheap tasks count as
much as dear ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from framework.costs import ComponentCost, Profile, Shape, StreamCost
from framework.profiling.samples import Sample, TaskSample, Way

_RUN = "run"
_ENCODE, _DECODE = "encode", "decode"
Term = Hashable
_ROUNDS = 2000
_DAMPING = 1e-3
"""How much a term is drawn to its first guess: where samples cannot tell two terms apart, they share."""


@dataclass(frozen=True)
class Fit:
    """A profile, and how well it fits."""

    profile: Profile
    median_error: float
    """Of the processor time of tasks, relative."""
    samples: int


def fit(shape: Shape, samples: Sequence[Sample], *, with_runs: bool = True) -> Fit:
    """The profile that fits best.

    Args:
        shape: the topology's.
        samples: of runs of several plans.
        with_runs: whether runs cost anything; without, one sees what this term is good for.

    Raises:
        ValueError: nothing was brought in any of the runs.
    """
    if not any(sample.brought for sample in samples):
        raise ValueError("no spout has brought anything: expected runs with tuples")
    rows = [
        (_terms(task, with_runs), task.cpu_ns) for s in samples for task in s.tasks.values() if task.processed
    ]
    rows = [(terms, ns) for terms, ns in rows if ns > 0]
    cost = least_squares(rows)
    errors = sorted(abs(_value(terms, cost) / ns - 1) for terms, ns in rows)
    return Fit(_profile(shape, samples, cost), errors[len(errors) // 2], len(samples))


def _terms(task: TaskSample, with_runs: bool) -> dict[Term, float]:
    terms: dict[Term, float] = {("in", task.component): task.processed}
    if with_runs and task.runs:
        terms[_RUN] = task.runs
    for kind, counted in ((_ENCODE, task.encoded), (_DECODE, task.decoded)):
        for way, tuples in counted.items():
            terms[kind, way] = tuples
    return {term: count for term, count in terms.items() if count}


def _value(terms: Mapping[Term, float], cost: Mapping[Term, float]) -> float:
    return sum(count * cost[term] for term, count in terms.items())


def least_squares(rows: Sequence[tuple[Mapping[Term, float], float]]) -> dict[Term, float]:
    """The coefficients, none of them negative, with the least sum of squares of relative errors.

    By coordinate descent, which converges for this convex problem. Terms that always come together share.

    Args:
        rows: for each the counts of its terms, and their sum of costs, which is above 0.
    """
    scaled = [({term: count / total for term, count in terms.items()}, total) for terms, total in rows]
    by_term: dict[Term, list[tuple[int, float]]] = defaultdict(list)
    for number, (terms, _) in enumerate(scaled):
        for term, part in terms.items():
            by_term[term].append((number, part))
    cost = dict.fromkeys(by_term, 0.0)
    left = [1.0] * len(scaled)
    squares = {term: sum(part * part for _, part in parts) for term, parts in by_term.items()}
    for _ in range(_ROUNDS):
        moved = 0.0
        for term, parts in by_term.items():
            slope = sum(left[number] * part for number, part in parts) - _DAMPING * squares[term] * cost[term]
            wanted = max(0.0, cost[term] + slope / (squares[term] * (1 + _DAMPING)))
            change = wanted - cost[term]
            for number, part in parts:
                left[number] -= change * part
            cost[term] = wanted
            moved = max(moved, abs(change) / (wanted or 1.0))
        if moved < 1e-6:
            break
    return cost


def _profile(shape: Shape, samples: Sequence[Sample], cost: Mapping[Term, float]) -> Profile:
    processed = _sums(sample.processed for sample in samples)
    emitted = _sums(sample.emitted for sample in samples)
    ways: dict[str, list[Way]] = defaultdict(list)
    for sample in samples:
        for name, way in sample.ways.items():
            ways[name].append(way)
    brought = sum(processed[node.name] for node in shape.nodes if node.is_spout)
    components = {}
    for node in shape.nodes:
        streams = {}
        for flow in (flow for flow in shape.flows if flow.source == node.name):
            between = f"{flow.source}/{flow.target}"
            found = ways[between]
            crossed = sum(one.crossed for one in found)
            streams[flow.stream] = StreamCost(
                selectivity=emitted[f"{flow.source}/{flow.stream}"] / max(processed[node.name], 1),
                size=sum(one.bytes for one in found) / max(crossed, 1),
                encode_ns=cost.get((_ENCODE, between), 0.0),
                decode_ns=cost.get((_DECODE, between), 0.0),
            )
        share = processed[node.name] / brought if node.is_spout else 1.0
        components[node.name] = ComponentCost(cost.get(("in", node.name), 0.0), streams, share=share)
    everything = [way for found in ways.values() for way in found]
    jumbos, sent = sum(way.jumbos for way in everything), sum(way.tuples for way in everything)
    return Profile(
        components,
        run_ns=cost.get(_RUN, 0.0),
        jumbo_tuples=sent / jumbos if jumbos else 1.0,
    )


def _sums(counted: Iterable[Mapping[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int)
    for counts in counted:
        for name, count in counts.items():
            sums[name] += count
    return sums

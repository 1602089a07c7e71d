"""The costs for planners if a tuple costs the same wherever it comes from, as in the paper's variants."""

from __future__ import annotations

from dataclasses import replace

from framework.optimizer.costs import ComponentCost, StreamCost
from framework.optimizer.search import Problem


def always_far(problem: Problem) -> Problem:
    """All tuples cross to another process, from the farthest place: the paper's RLAS_fix(L).

    Args:
        problem: as it is.
    """
    machine = problem.machine
    far = max((ns for row in machine.fetch_ns for ns in row), default=0.0)
    components = dict(problem.profile.components)
    for flow in problem.shape.flows:
        cost = components[flow.source].streams[flow.stream]
        target = components[flow.target]
        stream = f"{flow.source}/{flow.stream}"
        ns = target.inputs.get(stream, target.ns) + far * -(-cost.size // machine.line) + cost.decode_ns
        components[flow.target] = replace(target, inputs={**target.inputs, stream: ns})
    paid = {name: _with_encoding(cost) for name, cost in components.items()}
    return never_far(replace(problem, profile=replace(problem.profile, components=paid)))


def never_far(problem: Problem) -> Problem:
    """No tuple costs anything to fetch, to encode or to decode: the paper's RLAS_fix(U).

    Args:
        problem: as it is.
    """
    components = {
        name: replace(cost, streams={stream: _free(of) for stream, of in cost.streams.items()})
        for name, cost in problem.profile.components.items()
    }
    machine = replace(problem.machine, fetch_ns=())
    return replace(problem, profile=replace(problem.profile, components=components), machine=machine)


def _with_encoding(cost: ComponentCost) -> ComponentCost:
    streams = {name: replace(of, ns=of.ns + of.encode_ns) for name, of in cost.streams.items()}
    return replace(cost, streams=streams)


def _free(cost: StreamCost) -> StreamCost:
    return replace(cost, encode_ns=0.0, decode_ns=0.0)

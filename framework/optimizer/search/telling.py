"""A plan that was found, in words, as JSON, and as a picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from framework.optimizer.search.problem import Found, Problem


def in_words(problem: Problem, found: Found) -> Iterator[str]:
    """Lines: what it reaches, what holds it, how far it may be from the best, and each worker's load."""
    told = found.prediction
    yield f"predicted: {told.rate:,.0f} tuples of spouts a second, held by {told.bottleneck}"
    if found.gap <= 1e-9:
        yield f"no plan is predicted to be faster ({found.considered:,} parts of plans considered)"
    else:
        faster = found.bound / told.rate - 1
        yield f"no plan can be more than {faster:.1%} faster ({found.considered:,} plans considered)"
    most = 1e9 / told.rate
    for place in sorted(told.loads):
        load = told.loads[place] / problem.machine.places[place].cores
        yield f"worker {place + 1}: {load / most:4.0%} busy, {load:,.0f} ns a tuple: {_runs(found, place)}"


def as_json(found: Found) -> Mapping[str, Any]:
    """The same as values of JSON; workers have numbers from 1."""
    told = found.prediction
    return {
        "predicted_per_s": told.rate,
        "bottleneck": told.bottleneck,
        "bound_per_s": found.bound,
        "considered": found.considered,
        "tasks": {name: [place + 1 for place in places] for name, places in found.deployment.tasks.items()},
        "ns_by_worker": {str(place + 1): ns for place, ns in sorted(told.loads.items())},
        "runs": [
            {"source": flow.source, "stream": flow.stream, "target": flow.target, "length": length}
            for flow, length in told.runs.items()
            if length != float("inf")
        ],
    }


def as_mermaid(problem: Problem, found: Found) -> str:
    """A picture in Mermaid: a box for each worker, with what it runs and how busy it is."""
    told, most = found.prediction, 1e9 / found.prediction.rate
    lines = ["flowchart LR"]
    for place in sorted(told.loads):
        busy = told.loads[place] / problem.machine.places[place].cores / most
        lines.append(f'  subgraph w{place + 1}["worker {place + 1}: {busy:.0%} busy"]')
        for number, name in enumerate(problem.shape.names):
            if tasks := found.deployment.tasks[name].count(place):
                lines.append(f'    n{number}w{place + 1}["{name}{f" x {tasks}" if tasks > 1 else ""}"]')
        lines.append("  end")
    number_of = {name: number for number, name in enumerate(problem.shape.names)}
    for flow in problem.shape.flows:
        for source in dict.fromkeys(found.deployment.tasks[flow.source]):
            for target in dict.fromkeys(found.deployment.tasks[flow.target]):
                arrow = "-->" if source == target else "==>"
                ends = f"n{number_of[flow.source]}w{source + 1}", f"n{number_of[flow.target]}w{target + 1}"
                lines.append(f"  {ends[0]} {arrow} {ends[1]}")
    return "\n".join(lines) + "\n"


def _runs(found: Found, place: int) -> str:
    counts = Counter({name: places.count(place) for name, places in found.deployment.tasks.items()})
    return ", ".join(name if n == 1 else f"{n} of {name}" for name, n in counts.items() if n)

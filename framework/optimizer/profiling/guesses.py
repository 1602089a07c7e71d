"""The terms of a fit as a profile has them, if it is the first guess of another one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from framework.optimizer.costs import ComponentCost, Flow, Profile, Shape, StreamCost
from framework.optimizer.profiling.least_squares import Term

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

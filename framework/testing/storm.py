"""Names that Storm's ``org.apache.storm.Testing`` has, for users who expect them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from framework.model.topology import DEFAULT_STREAM
from framework.testing.given import Rows
from framework.testing.harness import Row, TopologyHarness
from framework.testing.preparing import Conf
from framework.testing.topologies import TopologyRun, run_topology

TRACKED_TIMEOUT_S: Final = 60.0
"""Seconds on the clock for which `TrackedTopology.tracked_wait` waits."""


class MockedSources:
    """Rows that take the place of spouts, as Storm's class of that name."""

    def __init__(self, data: Mapping[str, Rows | Mapping[str, Rows]] | None = None) -> None:
        """
        Args:
            data: as for `run_topology`.
        """
        self.data: dict[str, dict[str, list[Sequence[Any]]]] = {}
        for spout, given in (data or {}).items():
            for stream, rows in (given if isinstance(given, Mapping) else {DEFAULT_STREAM: given}).items():
                self.add_mock_data(spout, *rows, stream=stream)

    def add_mock_data(self, spout: str, *rows: Sequence[Any], stream: str = DEFAULT_STREAM) -> MockedSources:
        """Have rows come from a spout; returns the same object, so that calls can follow one another."""
        self.data.setdefault(spout, {}).setdefault(stream, []).extend(rows)
        return self


def complete_topology(
    topology: object, mocked_sources: MockedSources | None = None, *, storm_conf: Conf | None = None
) -> TopologyRun:
    """Run a topology with mocked sources to its end: `run_topology`, as Storm's ``Testing.completeTopology``.

    Args:
        topology: whatever `run_topology` takes.
        mocked_sources: rows in the place of spouts.
        storm_conf: configuration, over what the topology says.

    Raises:
        TopologyError: the topology cannot run here; the error has all problems.
        ComponentError: a component raised.
    """
    return run_topology(topology, inputs=mocked_sources.data if mocked_sources else {}, conf=storm_conf)


def read_tuples(result: TopologyRun, component: str, stream: str = DEFAULT_STREAM) -> list[Row]:
    """Read the tuples that a component has emitted on a stream, as Storm's ``Testing.readTuples``."""
    return result.emitted(component, stream)


def multiset_eq(first: Iterable[Sequence[Any]], second: Iterable[Sequence[Any]]) -> bool:
    """True if two collections have the same rows, each as often, in whatever order: ``Testing.multiseteq``.

    Here a run gives its rows in one order always, so that ``==`` does it, too.
    """
    return _counted(first) == _counted(second)


def _counted(rows: Iterable[Sequence[Any]]) -> Counter[str]:
    return Counter(repr(tuple(row)) for row in rows)


class TrackedTopology(TopologyHarness):
    """A `TopologyHarness` by the name and with the waits of Storm's tracked topologies."""

    _waited_for = 0
    """Acked tuples that `tracked_wait` has waited for so far."""

    def tracked_wait(self, amount: int = 1, timeout_s: float = TRACKED_TIMEOUT_S) -> None:
        """Wait until so many tuples more were acked than at the last call: ``Testing.trackedWait``.

        Args:
            amount: of tuples that were sent in the place of spouts.
            timeout_s: seconds on the clock.

        Raises:
            TimeoutError: not so many were acked in that time.
            ComponentError: a component raised.
        """
        until_s = self.clock.elapsed_s + timeout_s
        while (acked := self._acked_so_far() - self._waited_for) < amount:
            if self.clock.elapsed_s >= until_s:
                raise TimeoutError(
                    f"{acked} of {amount} tuples were acked within {timeout_s:g} s on the clock"
                )
            self.advance(1)
        self._waited_for += amount

    def _acked_so_far(self) -> int:
        return sum(len(self.acked(spout)) for spout in self.fed)

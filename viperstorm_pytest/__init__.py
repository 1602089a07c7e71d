"""Fixtures for pytest, which finds them by itself where ViperStorm is installed.

===================  ================================================================
`virtual_clock`      a clock that stands still until the test moves it
`bolt_harness`       makes a `BoltHarness`, and closes it when the test is over
`spout_harness`      makes a `SpoutHarness`, likewise
`topology_harness`   makes a `TopologyHarness`, likewise
===================  ================================================================

This package stands beside the others so that a test run which uses none of the fixtures imports nothing of
ViperStorm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from viperstorm.testing import BoltHarness, SpoutHarness, TopologyHarness, VirtualClock

Harness = TypeVar("Harness", "BoltHarness", "SpoutHarness", "TopologyHarness")


@pytest.fixture
def virtual_clock() -> VirtualClock:
    """A clock that stands still until the test moves it; the harnesses of the same test go by it."""
    from viperstorm.testing import VirtualClock

    return VirtualClock()


@pytest.fixture
def bolt_harness(virtual_clock: VirtualClock) -> Iterator[Callable[..., BoltHarness]]:
    """Makes a `viperstorm.testing.BoltHarness` of its arguments, closed when the test is over."""
    from viperstorm.testing import BoltHarness

    with ExitStack() as opened:
        yield lambda bolt, **options: _opened(opened, BoltHarness(bolt, **_with(virtual_clock, options)))


@pytest.fixture
def spout_harness(virtual_clock: VirtualClock) -> Iterator[Callable[..., SpoutHarness]]:
    """Makes a `viperstorm.testing.SpoutHarness` of its arguments, closed when the test is over."""
    from viperstorm.testing import SpoutHarness

    with ExitStack() as opened:
        yield lambda spout, **options: _opened(opened, SpoutHarness(spout, **_with(virtual_clock, options)))


@pytest.fixture
def topology_harness(virtual_clock: VirtualClock) -> Iterator[Callable[..., TopologyHarness]]:
    """Makes a `viperstorm.testing.TopologyHarness` of its arguments, closed when the test is over."""
    from viperstorm.testing import TopologyHarness

    with ExitStack() as opened:
        yield lambda topology, **options: _opened(
            opened, TopologyHarness(topology, **_with(virtual_clock, options))
        )


def _opened(opened: ExitStack, harness: Harness) -> Harness:
    """A harness that is open until the test is over, and then lets go of its memory."""
    opened.callback(harness.let_go)
    return opened.enter_context(harness)


def _with(clock: VirtualClock, options: dict[str, Any]) -> dict[str, Any]:
    return {"clock": clock, **options}

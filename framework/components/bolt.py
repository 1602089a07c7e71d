"""Bolts: components that receive tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.components.collector import EmitResult
from framework.components.component import Component
from framework.components.tuple import TICK_COMPONENT, TICK_STREAM, Tuple
from framework.specs import Spec, SpecMethod, bolt_spec


class Bolt(Component):
    """Receives tuples in `process`, and may emit, ack and fail them."""

    auto_anchor: bool = True
    """Whether each emit is anchored to the tuple that is being processed, unless it names other anchors."""
    auto_ack: bool = True
    """Whether a tuple is acked when `process` returns."""
    auto_fail: bool = True
    """Whether a tuple fails when `process` raises."""

    @staticmethod
    def is_tick(tup: Tuple) -> bool:
        """Whether a tuple is a tick."""
        return tup.component == TICK_COMPONENT and tup.stream == TICK_STREAM

    def process(self, tup: Tuple) -> None:
        """Process one tuple; must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define process(self, tup)")

    def process_tick(self, tup: Tuple) -> None:
        """Process a tick; does nothing unless a subclass overrides it.

        Ticks come where ``topology.tick.tuple.freq.secs`` is set for the bolt or the topology.
        """

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Sequence[Any] | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
    ) -> EmitResult:
        """Emit a tuple.

        Args:
            tup: its values, a list or tuple, one per declared field.
            stream: name of the stream; the default stream if None.
            anchors: tuples (or their ids) that it depends on; by default the one that is being processed.
            direct_task: id of the receiving task, for a direct stream only.
            need_task_ids: whether to return the ids of the receiving tasks.

        Returns:
            The ids of the receiving tasks if asked for, else None.

        Raises:
            EmitError: an unknown stream, a wrong number of values, a value that cannot be carried.
            TypeError: the values are neither list nor tuple.
        """
        return self._collector.emit(
            tup, stream=stream, anchors=anchors, direct_task=direct_task, need_task_ids=need_task_ids
        )

    def ack(self, tup: Any) -> None:
        """Answer that a tuple (or the tuple of that id) has been processed."""
        self._collector.ack(tup)

    def fail(self, tup: Any) -> None:
        """Answer that a tuple (or the tuple of that id) could not be processed."""
        self._collector.fail(tup)

    @SpecMethod
    def spec(
        component: Any,
        name: str | None = None,
        inputs: Any = None,
        par: int | Mapping[str, int] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Spec:
        """This bolt as a part of a `Topology` class; see `framework.dsl`."""
        return bolt_spec(component, name, inputs, par, config)

"""The object that a component's ``emit``, ``ack``, ``fail`` and the like are handed on to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

EmitResult = list[int] | None
"""Ids of the receiving tasks where ``need_task_ids`` asked for them, else None."""


class Collector(Protocol):
    """Takes what one task's component emits, answers and reports; the runtime gives one to each component."""

    @property
    def tells_receivers(self) -> bool:
        """True if an emit can say which tasks receive it."""

    def emit(self, tup: Sequence[Any], **options: Any) -> EmitResult:
        """Emit values; the options are those of the component's own ``emit``."""

    def emit_rows(
        self,
        rows: Any,
        *,
        of: Sequence[int] | None,
        ends: Sequence[int] | None,
        stream: str | None,
        gives_away: bool,
    ) -> None:
        """Emit the values of many tuples; see `BatchBolt.emit_rows` and `Spout.emit_rows`."""

    def ack(self, tup: Any) -> None:
        """Note that a bolt has processed a tuple (or the tuple of that id)."""

    def fail(self, tup: Any) -> None:
        """Note that a bolt could not process a tuple (or the tuple of that id)."""

    def begin_group(self, group: int) -> None:
        """Place later emits for the tuple in process among the outputs of a key group."""

    def report_metric(self, name: str, value: Any) -> None:
        """Note a metric."""

    def report_error(self, exception: BaseException, tup: Any) -> None:
        """Report an exception that the component has survived."""


class Unhosted:
    """The collector of a component that no topology runs: it refuses everything, and says what is missing."""

    tells_receivers = False

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "this component is not part of a running topology, so nobody receives what it emits: "
            "run it with framework.testing, or replace its emit, ack and fail in the test"
        )

    emit = emit_rows = ack = fail = begin_group = report_metric = report_error = _refuse


UNHOSTED: Collector = Unhosted()

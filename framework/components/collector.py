"""What stands behind a component's ``emit``, ``ack``, ``fail`` and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn, Protocol

EmitResult = list[int] | None
"""Ids of the receiving tasks where ``need_task_ids`` asked for them, else None."""


class Collector(Protocol):
    """One task's way out; the runtime gives one to each component that it hosts."""

    def emit(self, tup: Sequence[Any], **options: Any) -> EmitResult:
        """Emit values; the options are those of the component's own ``emit``."""

    def ack(self, tup: Any) -> None:
        """A bolt has processed a tuple (or the tuple of that id)."""

    def fail(self, tup: Any) -> None:
        """A bolt could not process a tuple (or the tuple of that id)."""

    def report_metric(self, name: str, value: Any) -> None:
        """Note a metric."""

    def report_error(self, exception: BaseException, tup: Any) -> None:
        """Report an exception that the component has survived."""


class Unhosted:
    """Stands in until a component is hosted, and says what is missing."""

    def _refuse(self, *_args: Any, **_kwargs: Any) -> NoReturn:
        raise RuntimeError(
            "this component is not part of a running topology, so nobody receives what it emits: "
            "run it with framework.testing, or replace its emit, ack and fail in the test"
        )

    emit = ack = fail = report_metric = report_error = _refuse


UNHOSTED: Collector = Unhosted()

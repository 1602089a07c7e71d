"""What stands behind the ``emit``, ``ack`` and ``log`` of a component that is served as a program."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from typing import Any

from framework.components.collector import EmitResult
from framework.errors import EmitError
from framework.multilang.wire import Wire


class Teller:
    """Tells the runtime what a component does; a `framework.components.collector.Collector`."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.anchor: str | None = None
        """Id of the tuple to which everything is anchored that says nothing else."""

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Sequence[Any] | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
        *,
        tup_id: Any = None,
        timestamp: Any = None,
    ) -> EmitResult:
        """The emit of a spout, or of a bolt.

        Raises:
            EmitError: with a timestamp, for which the protocol has no room.
            ProgramError: JSON cannot carry a value.
            TypeError: the values are neither list nor tuple.
        """
        if not isinstance(tup, list | tuple):
            raise TypeError(f"emit takes a list or tuple of values, found {type(tup).__name__}: {tup!r:.200}")
        if timestamp is not None:
            raise EmitError("a program cannot emit with timestamp=: declare a viper.timestamp.field")
        message: dict[str, Any] = {"command": "emit", "tuple": tup}
        ids = [self.anchor] if anchors is None and self.anchor is not None else map(_id_of, anchors or ())
        options = {"stream": stream, "task": direct_task, "id": tup_id, "anchors": list(ids) or None}
        message.update({name: value for name, value in options.items() if value is not None})
        if need_task_ids and direct_task is None:
            return list(self._wire.ask_receivers(message))
        self._wire.send({**message, "need_task_ids": False})
        return [direct_task] if need_task_ids and direct_task is not None else None

    def ack(self, tup: Any) -> None:
        """A tuple has been processed."""
        self._wire.send({"command": "ack", "id": _id_of(tup)})

    def fail(self, tup: Any) -> None:
        """A tuple could not be processed."""
        self._wire.send({"command": "fail", "id": _id_of(tup)})

    def report_metric(self, name: str, value: Any) -> None:
        """Tell of a metric."""
        self._wire.send({"command": "metrics", "name": name, "params": value})

    def report_error(self, exception: BaseException, tup: Any) -> None:
        """Tell of an exception, with its traceback."""
        where = f"{type(exception).__name__} raised while processing {tup!r:.500}\n" if tup else ""
        text = "".join(traceback.format_exception(exception))
        self._wire.send({"command": "error", "msg": where + text})


class TellingLog(logging.Handler):
    """Sends log records as messages."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire

    def emit(self, record: logging.LogRecord) -> None:
        """Send one."""
        try:
            level = min(max((record.levelno - 1) // 10 + 1, 0), 4)  # 10 is debug, which is 1, and so on
            self._wire.send({"command": "log", "msg": self.format(record), "level": level})
        except Exception:
            self.handleError(record)


def _id_of(tup: Any) -> str:
    return tup if isinstance(tup, str) else str(tup.id)

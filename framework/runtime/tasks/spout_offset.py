"""Where a spout is, as it says itself, so that another process can go on from there."""

from __future__ import annotations

from typing import Any

from framework.operators.components import SeekableSpout
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.hosts.user_errors import user_errors


class SpoutOffset:
    """Asks a spout where it is, and has the one that takes its place go on from there.

    Args:
        context: the task's.
        spout: the component; one that is not seekable begins anew.
    """

    def __init__(self, context: TaskContext, spout: Any) -> None:
        self._context = context
        self._spout = spout if isinstance(spout, SeekableSpout) else None

    def save(self) -> Any:
        """Where the spout is.

        Raises:
            ComponentError: it raised.
        """
        if self._spout is None:
            return None
        try:
            return self._spout.offset()
        except user_errors() as error:
            self._context.fail("offset", error)

    def restore(self, noted: Any) -> None:
        """Have the spout go on from there.

        Raises:
            ComponentError: it raised.
        """
        if self._spout is None:
            return
        try:
            self._spout.seek(noted)
        except user_errors() as error:
            self._context.fail("seek", error)

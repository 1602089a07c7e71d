"""``breakpoint()`` in a component."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any


@contextmanager
def debugger_on_stderr(hidden: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """For as long as the block runs, let ``breakpoint()`` talk through stderr.

    What is printed while a topology runs goes to a component's log, and so would the debugger's prompt.
    Whoever chose another debugger (``PYTHONBREAKPOINT``) keeps it.

    Args:
        hidden: makes the context in which the debugger talks; it keeps progress off the terminal.
    """

    def stop_here(*_args: Any, **_options: Any) -> None:
        import pdb

        class Debugger(pdb.Pdb):
            def interaction(self, *arguments: Any) -> None:
                with hidden():
                    super().interaction(*arguments)

        Debugger(stdout=sys.stderr).set_trace(sys._getframe(1))

    previous = sys.breakpointhook
    if "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = stop_here
    try:
        yield
    finally:
        sys.breakpointhook = previous

"""``breakpoint()`` in a component."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def debugger_on_stderr(before: Callable[[], None]) -> Iterator[None]:
    """For as long as the block runs, let ``breakpoint()`` talk through stderr.

    What is printed while a topology runs goes to a component's log, and so would the debugger's prompt.
    Whoever chose another debugger (``PYTHONBREAKPOINT``) keeps it.

    Args:
        before: called before the debugger starts, to clear what stands on the terminal's last line.
    """

    def stop_here(*_args: Any, **_options: Any) -> None:
        import pdb

        before()
        pdb.Pdb(stdout=sys.stderr).set_trace(sys._getframe(1))

    previous = sys.breakpointhook
    if "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = stop_here
    try:
        yield
    finally:
        sys.breakpointhook = previous

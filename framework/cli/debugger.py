"""``breakpoint()`` in a component."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, redirect_stdout
from typing import Any


@contextmanager
def debugger_on_terminal(hidden: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """For as long as the block runs, let ``breakpoint()`` talk to the terminal; without one, through stderr.

    Output that is printed while a topology runs goes to a component's log, and so would the debugger's
    prompt. On a terminal its lines can be edited and recalled, as usual. Whoever chose another debugger
    (``PYTHONBREAKPOINT``) keeps it.

    Args:
        hidden: makes the context in which the debugger talks; it keeps progress off the terminal.
    """

    def stop_here(*_args: Any, **_options: Any) -> None:
        import pdb

        class Debugger(pdb.Pdb):
            def interaction(self, *arguments: Any) -> None:
                with hidden(), _printing_there():
                    super().interaction(*arguments)

        with _printing_there():
            debugger = Debugger(stdout=None if _is_terminal() else sys.stderr)
        debugger.set_trace(sys._getframe(1))

    previous = sys.breakpointhook
    if "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = stop_here
    try:
        yield
    finally:
        sys.breakpointhook = previous


def _is_terminal() -> bool:
    """True if somebody sits at both ends, whom Python itself can ask for lines."""
    ends = (sys.__stdin__, sys.__stdout__)
    return sys.stdin is sys.__stdin__ and all(end is not None and end.isatty() for end in ends)


def _printing_there() -> AbstractContextManager[object]:
    """The context in which what is printed goes to the terminal, where there is one."""
    return redirect_stdout(sys.__stdout__) if _is_terminal() else nullcontext()

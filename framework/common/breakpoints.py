"""``breakpoint()`` where nobody can be asked for lines.

A file of its own, as no part of a run may set attributes of other modules, here those of `sys`.
"""

from __future__ import annotations

import os
import sys
from typing import Any


def refuse_breakpoints() -> None:
    """Have ``breakpoint()`` raise in this process from now on, as its debugger would find no input.

    Whoever chose another debugger (``PYTHONBREAKPOINT``) keeps it.
    """
    if "PYTHONBREAKPOINT" not in os.environ:
        sys.breakpointhook = _refused


def _refused(*_args: Any, **_options: Any) -> None:
    raise RuntimeError(
        "breakpoint() in a worker process, which has no terminal: run with --worker inline, or "
        "name a debugger that needs none by PYTHONBREAKPOINT"
    )

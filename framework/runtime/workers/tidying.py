"""The files that the server process removes when the leading process of a run was killed and could not.

`multiprocessing` preloads this module in the server alone, which ends once nobody is left who could ask it
for a process. The processes that it forks leave without what is registered here.
"""

from __future__ import annotations

import atexit
import os
import select
import shutil
from contextlib import suppress
from functools import partial
from multiprocessing import forkserver
from pathlib import Path

from framework.model.errors import ViperError
from framework.runtime.coordination.commands import forget_killed
from framework.runtime.coordination.registry import forget as forget_run
from framework.runtime.workers.server import LAST_BREATH_S, noted_in


def tidy(sockets: Path) -> None:
    """Remove the sockets of a process that leads runs, if it has ended.

    Args:
        sockets: the folder in which `multiprocessing` has those of the process.
    """
    for leader, folders in noted_in(sockets):
        if not has_ended(leader):
            return
        for forget in (partial(forget_run, leader), *(partial(forget_killed, folder) for folder in folders)):
            with suppress(OSError, ViperError):  # nobody hears of it
                forget()
        if sockets.name.startswith("pymp-"):  # a folder that multiprocessing has made itself
            shutil.rmtree(sockets, ignore_errors=True)


def has_ended(pid: int) -> bool:
    """True if a process has ended, which has closed the pipe to this one: then its locks are free, too."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    except (AttributeError, OSError):
        return False
    try:
        return bool(select.select([watched], [], [], LAST_BREATH_S)[0])
    finally:
        os.close(watched)


def _at_end() -> None:
    address = getattr(getattr(forkserver, "_forkserver", None), "_forkserver_address", None)
    if isinstance(address, str):
        tidy(Path(address).parent)


atexit.register(_at_end)

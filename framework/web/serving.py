"""Serves the web view of a run until the run ends."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import SuspendError, ViperError

if TYPE_CHECKING:
    from framework.web.watch import RunWatch

_LAST_ANSWERS_S = 2
_BEGINS_S = 0.05
"""Seconds between two looks for a run that is about to begin."""


def serve(control: Path, listening: socket.socket, token: str | None, *, within_s: float = 0.0) -> None:
    """Serve the view of a run until it has ended, or the process is interrupted.

    Args:
        control: the folder by which the run is found.
        listening: the socket that browsers reach.
        token: that they must have; None for none.
        within_s: seconds within which the run begins, if it is known and has not.

    Raises:
        ViperError: there is no such run, or it is of another version; or what serves is not installed.
    """
    check_installed()
    import uvicorn

    from framework.web.app import make_app

    watch = _waited_for(control, within_s)
    config = uvicorn.Config(
        make_app(watch, token),
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=_LAST_ANSWERS_S,
    )
    server = uvicorn.Server(config)

    async def serving() -> None:
        async def end_with_the_run() -> None:
            while not watch.ended.is_set():
                await asyncio.sleep(0.1)
            server.should_exit = True

        ending = asyncio.create_task(end_with_the_run())
        await server.serve(sockets=[listening])
        ending.cancel()

    with closing(listening), watch.watching(), suppress(KeyboardInterrupt):
        asyncio.run(serving())


def _waited_for(control: Path, within_s: float) -> RunWatch:
    """Watches a run as soon as it answers."""
    from framework.web.watch import RunWatch

    ends_s = time.monotonic() + within_s
    while True:
        try:
            return RunWatch(control)
        except SuspendError:
            if time.monotonic() >= ends_s:
                raise
            time.sleep(_BEGINS_S)


def check_installed() -> None:
    """Raises ViperError, which says what to install, where what serves the view is missing."""
    try:
        import prometheus_client
        import starlette
        import uvicorn
    except ImportError as error:
        raise ViperError(
            f"the web view is an extra, and part of it is missing ({error}): "
            "pip install '/path/to/viperstorm[ui]'"
        ) from None
    del prometheus_client, starlette, uvicorn

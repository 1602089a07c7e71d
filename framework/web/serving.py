"""Serves the web view of a run until the run ends."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from framework.model.errors import ViperError

if TYPE_CHECKING:
    from framework.web.watch import Outcome

_LAST_ANSWERS_S = 2
_LOOKS_S = 0.1
"""Seconds between two looks whether the run has ended."""


def serve(
    control: Path,
    listening: socket.socket,
    token: str | None,
    *,
    within_s: float = 0.0,
    outcome: Outcome | None = None,
) -> None:
    """Serve the view of a run until it has ended, or the process is interrupted.

    Args:
        control: the folder by which the run is found.
        listening: the socket that browsers reach.
        token: that they must have; None for none.
        within_s: seconds within which the run begins, if it is known and has not.
        outcome: how it has ended, once that is known; None where nobody will tell.

    Raises:
        ViperError: there is no such run, or it is of another version.
        ImportError: what serves is not installed (`check_installed`).
    """
    import uvicorn

    from framework.web.app import RunApp
    from framework.web.showing import Showing

    app, ended = RunApp(token), threading.Event()
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=_LAST_ANSWERS_S,
    )
    server = uvicorn.Server(config)
    showing = Showing(control, within_s, app, ended, outcome)

    async def serving() -> None:
        async def end_with_the_run() -> None:
            while not ended.is_set():
                await asyncio.sleep(_LOOKS_S)
            server.should_exit = True

        ending = asyncio.create_task(end_with_the_run())
        await server.serve(sockets=[listening])
        ending.cancel()

    with closing(listening), showing.going_on(), suppress(KeyboardInterrupt):
        asyncio.run(serving())
    if showing.failure is not None:
        raise showing.failure


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

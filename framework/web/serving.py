"""Serves the web view of a run until the run ends, and polls the run meanwhile."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from framework.model.errors import SuspendError, ViperError
from framework.web.watch import Outcome, RunWatch

if TYPE_CHECKING:  # it needs the extra, and `check_installed` does not
    from framework.web.app import RunApp

_LAST_ANSWERS_S = 2


_TOLD_WITHIN_S = 10.0
"""Seconds that the starter of the run may take to report how it has ended."""
_HEARD_WITHIN_S = 2.0
"""Seconds that a page may take to hear of it; it asks once a second."""
_LOOKS_S = 0.1
"""Seconds between two looks for a run that is about to begin, or may have ended."""


class Showing:
    """Has an application show a run as soon as that answers, and until it ends.

    Args:
        control: the folder by which the run is found.
        within_s: seconds within which it begins.
        app: what shows it.
        ended: is set when there is no more to see.
        outcome: how it has ended, once that is known; None if nobody will report it.
    """

    def __init__(
        self, control: Path, within_s: float, app: RunApp, ended: threading.Event, outcome: Outcome | None
    ) -> None:
        self._control = control
        self._within_s = within_s
        self._app = app
        self._ended = ended
        self._outcome = outcome
        self._over = threading.Event()
        self.failure: ViperError | None = None
        """Why the run cannot be shown; None if it can."""

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """For as long as the block runs, a thread looks; which also ends when there is no more to see."""
        thread = threading.Thread(target=self._run, name="viper-show", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()

    def _run(self) -> None:
        try:
            watch = self._found()
            if watch is None:
                return
            self._app.show(watch)
            with watch.watching():
                while not (self._over.is_set() or watch.outcome.told.is_set() or watch.ended.wait(_LOOKS_S)):
                    pass
            if self._outcome is not None and not self._over.is_set():
                self._outcome.told.wait(_TOLD_WITHIN_S)
                self._outcome.wait_for_pages(_HEARD_WITHIN_S)
        except ViperError as error:
            self.failure = error
        finally:
            self._ended.set()

    def _found(self) -> RunWatch | None:
        """Watches the run as soon as it answers; None if nobody waits for it any more."""
        ends_s = time.monotonic() + self._within_s
        while True:
            try:
                return RunWatch(self._control, self._outcome)
            except SuspendError:
                if time.monotonic() >= ends_s:
                    raise
            is_over = self._outcome is not None and self._outcome.told.is_set()
            if is_over or self._over.wait(_LOOKS_S):
                return None


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
        outcome: how it has ended, once that is known; None if nobody will report it.

    Raises:
        ViperError: there is no such run, or it is of another version.
        ImportError: what serves is not installed (`check_installed`).
    """
    import uvicorn

    from framework.web.app import RunApp

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

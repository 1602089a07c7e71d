"""Serves the web view of a run until the run ends."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import socket
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import SuspendError, ViperError
from framework.web.access import is_loopback

if TYPE_CHECKING:
    from framework.web.watch import RunWatch

TOKEN = "VIPER_UI_TOKEN"
"""The environment variable with the token that others must have; without it one is drawn."""
PORT = 8080
"""The port of Storm's own view, which comes first where none is named."""
_TRIES = 20
_LAST_ANSWERS_S = 2
_BEGINS_S = 0.05
"""Seconds between two looks for a run that is about to begin."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the view is to be served."""

    host: str = "127.0.0.1"
    port: int | None = None
    """None for the first free one from `PORT` on."""

    @property
    def is_local(self) -> bool:
        """Whether it is only reached from this machine."""
        return is_loopback(self.host)

    def listen(self) -> socket.socket:
        """A socket that listens there.

        Raises:
            ViperError: that is not possible, e.g. as another program does.
        """
        ports = [self.port] if self.port is not None else range(PORT, PORT + _TRIES)
        for port in ports:
            try:
                return _listening(self.host, port)
            except OSError as error:
                if error.errno != errno.EADDRINUSE or self.port is not None:
                    reason = error.strerror or str(error)
                    raise ViperError(f"cannot serve the web view at {self.host}:{port}: {reason}") from None
        raise ViperError(
            f"cannot serve the web view: ports {PORT} to {PORT + _TRIES - 1} of {self.host} are taken: "
            "name another one (HOST:PORT)"
        )


def parse_address(text: str) -> Address:
    """The address of ``HOST:PORT``, ``HOST``, ``:PORT`` or ``PORT``; in brackets what has colons itself.

    Raises:
        ValueError: it is none.
    """
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = ("", text) if text.isdecimal() else (text, "")
    elif text.endswith("]"):
        host, port = text, ""
    elif ":" in host and not (host.startswith("[") and host.endswith("]")):
        raise ValueError(f"{text!r}: expected HOST:PORT, with an IPv6 address in brackets as [::1]:8080")
    if port and not (port.isdecimal() and int(port) < 1 << 16):
        raise ValueError(f"{text!r}: {port!r} is no port: expected a number from 0 to 65535")
    return Address(host or Address().host, int(port) if port else None)


def token_for(address: Address) -> str | None:
    """The token that whoever asks at an address must have; None where only this machine is served."""
    given = os.environ.get(TOKEN)
    if given or address.is_local:
        return given or None
    return secrets.token_urlsafe(24)


def url_of(listening: socket.socket, token: str | None) -> str:
    """What a browser opens."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/" + ("" if token is None else f"?token={token}")


def serve(control: Path, listening: socket.socket, token: str | None, *, waits: bool = False) -> None:
    """Serve the view of a run until it has ended, or the process is interrupted.

    Args:
        control: the folder by which the run is found.
        listening: the socket that browsers reach.
        token: that they must have; None for none.
        waits: whether the run is about to begin, and is waited for.

    Raises:
        ViperError: there is no such run, or it is of another version; or what serves is not installed.
    """
    check_installed()
    import uvicorn

    from framework.web.app import make_app
    from framework.web.watch import RunWatch

    watch = _waited_for(control) if waits else RunWatch(control)
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


def _waited_for(control: Path) -> RunWatch:
    """Watches a run as soon as it begins; whoever has started this process ends it if that never happens."""
    from framework.web.watch import RunWatch

    while True:
        try:
            return RunWatch(control)
        except SuspendError:
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


def _listening(host: str, port: int) -> socket.socket:
    found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    family, kind, protocol, _, address = found[0]
    listening = socket.socket(family, kind, protocol)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except BaseException:
        listening.close()
        raise
    return listening

"""The address at which the web view is served, and the link that opens it there."""

from __future__ import annotations

import errno
import ipaddress
import os
import secrets
import socket
from dataclasses import dataclass

from framework.model.errors import ViperError

TOKEN = "VIPERSTORM_UI_TOKEN"
"""The environment variable with the token that others must have; without it one is drawn."""
PORT = 8080
"""The port of Storm's own view, which comes first where none is named."""
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Address:
    """The address at which the view is to be served."""

    host: str = "127.0.0.1"
    port: int | None = None
    """None for the first free one from `PORT` on."""

    @property
    def is_local(self) -> bool:
        """True if it is only reached from this machine."""
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


def is_loopback(host: str) -> bool:
    """True if a host, as an address or a name, is only reached from this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def token_for(address: Address) -> str | None:
    """The token that whoever asks at an address must have; None where only this machine is served."""
    given = os.environ.get(TOKEN)
    if given or address.is_local:
        return given or None
    return secrets.token_urlsafe(24)


def url_of(listening: socket.socket, token: str | None) -> str:
    """Make the link that a browser opens; it hides a token that the reader has set in the environment."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = socket.gethostname()
    shown = f"[{host}]" if ":" in host else host
    is_known = token is None or token == os.environ.get(TOKEN)
    return f"http://{shown}:{port}/" + ("" if is_known else f"?token={token}")


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

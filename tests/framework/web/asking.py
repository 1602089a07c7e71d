"""Asks an application as a server would, without one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Message

_NOTHING: Any = object()


@dataclass(frozen=True)
class Answer:
    """The response of the view."""

    status: int
    headers: Mapping[str, str]
    text: str

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)


class Client:
    """Somebody who asks an application, and keeps the cookies that it sets.

    Args:
        app: the application.
        host: the address that is asked, as the header `Host` has it.
    """

    def __init__(self, app: ASGIApp, host: str = "localhost:8080") -> None:
        self.cookies: dict[str, str] = {}
        self._app = app
        self._host = host

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Ask for something."""
        return self._ask("GET", path, headers or {}, b"")

    def post(
        self, path: str, body: Any = _NOTHING, headers: Mapping[str, str] | None = None, text: str = ""
    ) -> Answer:
        """Ask for something to be done, with a body of JSON or of any text."""
        content = text if body is _NOTHING else json.dumps(body)
        return self._ask("POST", path, headers or {}, content.encode())

    def _ask(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Answer:
        url = urlsplit(target)
        sent = {"host": self._host, **{name.lower(): value for name, value in headers.items()}}
        if self.cookies:
            sent["cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": url.path,
            "raw_path": url.path.encode(),
            "query_string": url.query.encode(),
            "root_path": "",
            "headers": [(name.encode(), value.encode()) for name, value in sent.items()],
            "client": ("127.0.0.1", 50_000),
            "server": ("127.0.0.1", 8080),
        }
        return asyncio.run(self._answered(scope, body))

    async def _answered(self, scope: dict[str, Any], body: bytes) -> Answer:
        messages: list[Message] = []
        requests: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Message:
            if not requests:  # and nobody hangs up
                await asyncio.Event().wait()
            return requests.pop()

        async def send(message: Message) -> None:
            messages.append(message)

        await self._app(scope, receive, send)
        start = messages[0]
        headers = {name.decode().lower(): value.decode() for name, value in start["headers"]}
        for name, morsel in SimpleCookie(headers.get("set-cookie", "")).items():
            self.cookies[name] = morsel.value
        content = b"".join(message.get("body", b"") for message in messages[1:])
        return Answer(start["status"], headers, content.decode())

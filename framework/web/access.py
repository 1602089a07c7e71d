"""The rules of access: on this machine everybody may ask, from elsewhere whoever has the token.

A page of another site must not reach the view through the browser of somebody who may. So a request has to
name the address that is served, as a name of another site can be bound to it at any time. A request that
changes something must not come from a page of another origin.
"""

from __future__ import annotations

import hmac
from typing import Final
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from framework.web.address import is_loopback

COOKIE: Final = "viperstorm-token"
"""The cookie's name, which the port follows: browsers send it to all ports of a host."""
OPEN: Final = ("/healthz",)
"""Addresses that say only whether the run continues, and ask for no token."""
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Access:
    """Lets requests through that are allowed.

    Args:
        app: what answers them.
        token: that others must have; None where only this machine is served.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            refused = self._refused(scope)
        except ValueError as error:  # of an address that is none
            refused = PlainTextResponse(f"the request cannot be understood: {error}\n", 400)
        await (refused or self._app)(scope, receive, _with_headers(send))

    def _refused(self, scope: Scope) -> Response | None:
        headers = Headers(scope=scope)
        if self._token is None and not is_loopback(_host_of(headers)):
            return PlainTextResponse("this view answers to localhost only\n", 421)
        if scope["method"] not in _SAFE_METHODS and _is_foreign(headers):
            return PlainTextResponse("refused: the request comes from a page of another site\n", 403)
        if self._token is None or scope["path"] in OPEN:
            return None
        return self._without_token(scope, headers, self._token)

    def _without_token(self, scope: Scope, headers: Headers, token: str) -> Response | None:
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        name = f"{COOKIE}-{scope['server'][1]}"
        cookies = cookie_parser(headers.get("cookie", ""))
        given = bearer.strip() if scheme.lower() == "bearer" else cookies.get(name, "")
        if _same(given, token):
            return None
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if not _same(dict(query).get("token", ""), token):
            return PlainTextResponse("wants the token that viper has printed (?token=, or bearer)\n", 401)
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        response = RedirectResponse(scope["path"] + (f"?{rest}" if rest else ""), 303)
        # Lax, so that a link to the page works; what changes something is refused from other pages anyway.
        response.set_cookie(name, token, httponly=True, samesite="lax")
        return response


def _same(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode(), token.encode())


def _host_of(headers: Headers) -> str:
    return urlsplit(f"//{headers.get('host', '')}").hostname or ""


def _is_foreign(headers: Headers) -> bool:
    """True if a browser says that a request comes from a page of another origin; programs say nothing."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if site is not None and site not in ("same-origin", "none"):
        return True
    return origin is not None and urlsplit(origin).netloc != headers.get("host", "")


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sending

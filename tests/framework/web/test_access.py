"""The rules of access: requests as browsers and programs send them."""

from __future__ import annotations

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from framework.web.access import COOKIE, Access
from framework.web.address import TOKEN, Address, is_loopback, parse_address, token_for
from tests.framework.web.asking import Client

SECRET = "a-secret"


async def answered(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"{Request(scope).url.path} answered")(scope, receive, send)


def client(token: str | None = None, host: str = "localhost:8080", app: ASGIApp = answered) -> Client:
    return Client(Access(app, token), host)


class TestLocal:
    @pytest.mark.parametrize("host", ["localhost", "localhost:80", "127.0.0.1:9", "127.8.8.8", "[::1]:8080"])
    def test_this_machine_needs_no_token(self, host: str) -> None:
        assert client(host=host).get("/api/run").status == 200

    @pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "10.0.0.1", "localhost.evil.org"])
    def test_a_name_that_others_can_bind_to_this_machine_is_refused(self, host: str) -> None:
        assert client(host=host).get("/api/run").status == 421

    @pytest.mark.parametrize(
        "headers",
        [
            {"Origin": "http://evil.example"},
            {"Origin": "http://localhost:9999"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:8080"},
        ],
    )
    def test_pages_of_others_change_nothing(self, headers: dict[str, str]) -> None:
        assert client().post("/api/run/drain", headers=headers).status == 403

    @pytest.mark.parametrize(
        "headers", [{}, {"Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"}]
    )
    def test_its_own_page_and_programs_do(self, headers: dict[str, str]) -> None:
        assert client().post("/api/run/drain", headers=headers).status == 200


class TestToken:
    HOST = "viper.example:8080"

    def test_without_it_nothing_is_told_but_health(self) -> None:
        found = client(SECRET, self.HOST)
        for path in ("/", "/api/run", "/metrics", "/static/page.js", "/api/v1/topology/summary"):
            assert found.get(path).status == 401
        assert found.get("/healthz").status == 200

    @pytest.mark.parametrize(
        "given", ["", "other", "Bearer", "Bearer other", f"Basic {SECRET}", f"Bearer x{SECRET}"]
    )
    def test_others_are_refused(self, given: str) -> None:
        assert client(SECRET, self.HOST).get("/metrics", headers={"Authorization": given}).status == 401

    def test_as_a_bearer(self) -> None:
        headers = {"Authorization": f"Bearer {SECRET}"}
        assert client(SECRET, self.HOST).get("/metrics", headers=headers).status == 200

    def test_from_the_address_it_becomes_a_cookie_and_leaves_the_address(self) -> None:
        found = client(SECRET, self.HOST)
        answer = found.get(f"/?a=1&token={SECRET}&b=%26")
        assert (answer.status, answer.headers["location"]) == (303, "/?a=1&b=%26")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=lax" in cookie
        assert found.cookies == {f"{COOKIE}-8080": SECRET}
        assert found.get("/api/run").status == 200

    @pytest.mark.parametrize("neighbour", ['a={"x":"y z"}', "a[b]=1", "foo", "foo@b(=1", "=", ";;"])
    def test_cookies_of_others_are_no_hindrance(self, neighbour: str) -> None:
        headers = {"Cookie": f"{neighbour}; {COOKIE}-8080={SECRET}"}
        assert client(SECRET, self.HOST).get("/api/run", headers=headers).status == 200

    def test_nor_is_that_of_a_view_at_another_port(self) -> None:
        headers = {"Cookie": f"{COOKIE}-8081=other; {COOKIE}-8080={SECRET}"}
        assert client(SECRET, self.HOST).get("/api/run", headers=headers).status == 200

    @pytest.mark.parametrize("headers", [{"Host": "["}, {"Origin": "http://["}])
    def test_what_is_no_address_is_refused(self, headers: dict[str, str]) -> None:
        assert client().post("/api/run", headers=headers).status in (400, 403)

    def test_a_wrong_one_in_the_address_is_none(self) -> None:
        assert client(SECRET, self.HOST).get("/?token=other").status == 401

    def test_a_page_of_another_site_has_no_use_of_the_cookie(self) -> None:
        found = client(SECRET, self.HOST)
        found.cookies[f"{COOKIE}-8080"] = SECRET
        assert found.post("/api/run/drain", headers={"Origin": "http://evil.example"}).status == 403


class TestAddresses:
    @pytest.mark.parametrize(
        ("text", "address"),
        [
            ("8081", Address(port=8081)),
            (":8081", Address(port=8081)),
            ("0.0.0.0:80", Address("0.0.0.0", 80)),
            ("example.org", Address("example.org")),
            ("[::1]:8080", Address("[::1]", 8080)),
            ("[::1]", Address("[::1]")),
        ],
    )
    def test_what_is_understood(self, text: str, address: Address) -> None:
        assert parse_address(text) == address

    @pytest.mark.parametrize("text", ["a:b", "a:70000", "::1:8080", "a:-1"])
    def test_what_is_none(self, text: str) -> None:
        with pytest.raises(ValueError, match="expected"):
            parse_address(text)

    @pytest.mark.parametrize(
        ("host", "is_local"),
        [("localhost", True), ("127.0.0.1", True), ("[::1]", True), ("0.0.0.0", False), ("a.b", False)],
    )
    def test_others_need_a_token(self, host: str, is_local: bool, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(TOKEN, raising=False)
        assert is_loopback(host) is is_local
        assert (token_for(Address(host)) is None) is is_local

    def test_each_run_draws_its_own_unless_one_is_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(TOKEN, raising=False)
        drawn = {token_for(Address("0.0.0.0")) for _ in range(3)}
        assert len(drawn) == 3 and all(token is not None and len(token) >= 32 for token in drawn)
        monkeypatch.setenv(TOKEN, SECRET)
        assert token_for(Address("0.0.0.0")) == token_for(Address()) == SECRET

"""The addresses of the web view, and what answers at each."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from framework.model.errors import ViperError
from framework.web.access import OPEN, Access
from framework.web.prometheus import exposed
from framework.web.storm import ALL_TIME, StormView
from framework.web.watch import RunWatch, as_rates

STATIC = Path(__file__).with_name("static")

Answer = Callable[[Request], Any]


class RunApp:
    """The application that shows one run, which may not have begun yet.

    Args:
        token: that whoever asks must have; None where only this machine is served.
    """

    def __init__(self, token: str | None = None) -> None:
        self._access = Access(self._answer, token)
        self._app: ASGIApp = _app_before()

    def show(self, watch: RunWatch) -> None:
        """The run has begun; from any thread.

        Args:
            watch: what is seen of it.
        """
        self._app = _app_of(watch)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        await self._access(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


def _app_before() -> Starlette:
    """Answers as long as there is no run to be seen: a page looks again every second."""

    def unavailable(request: Request) -> Response:
        told = {"error": "Service Unavailable", "errorMessage": "the run is starting"}
        return JSONResponse(told, 503, {"Retry-After": "1"})

    routes: list[BaseRoute] = [
        Route("/", lambda request: FileResponse(STATIC / "starting.html")),
        *(Route(path, lambda request: JSONResponse({"status": "ok", "run": "starting"})) for path in OPEN),
        *_of_page(),
        Route("/{path:path}", unavailable, methods=["GET", "POST"]),
    ]
    return Starlette(routes=routes)


def _app_of(watch: RunWatch) -> Starlette:
    routes: list[BaseRoute] = [
        Route("/", lambda request: FileResponse(STATIC / "index.html")),
        Route("/healthz", partial(_healthz, watch)),
        Route("/metrics", partial(_metrics, watch)),
        *_own(watch),
        *_of_storm(watch, StormView(watch)),
        *_of_page(),
    ]
    return Starlette(routes=routes)


def _of_page() -> list[BaseRoute]:
    """List the routes to the page's own files."""
    icon = Route("/favicon.ico", lambda request: FileResponse(STATIC / "icon.svg"))
    return [icon, Mount("/static", StaticFiles(directory=STATIC))]


# -- for the page


def _own(watch: RunWatch) -> list[Route]:
    commands = ("drain", "suspend", "checkpoint", "activate", "deactivate")
    return [
        _get("/api/run", lambda request: _seen(watch, request)),
        _get("/api/run/description", lambda request: watch.description.as_object()),
        _get("/api/run/statistics", lambda request: watch.ask("statistics")),
        _get("/api/run/stacks", lambda request: watch.ask("stacks")),
        *(_post(f"/api/run/{name}", partial(_commanded, watch, name)) for name in commands),
        _post("/api/run/scale", lambda body: watch.ask("scale", tasks=_counts(body.get("tasks")))),
    ]


def _commanded(watch: RunWatch, command: str, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return watch.ask(command)


def _seen(watch: RunWatch, request: Request) -> Mapping[str, Any]:
    """All that changes: the last snapshot, and the samples after the one whose number is given."""
    last = watch.last
    since = request.query_params.get("since", "0")
    snapshot = last.snapshot.as_object()
    for component in snapshot["components"]:
        for task in component["tasks"]:
            del task["times"]  # of which the page has percentiles
    return {
        "run": watch.description.run,
        "outcome": watch.outcome.asked(),
        "state": watch.state,
        "at_s": last.at_s,
        "to_go_s": watch.to_go_s,
        "snapshot": snapshot,
        "rates": as_rates(last),
        "holds": None if last.holds is None else {**asdict(last.holds), "told": last.holds.told},
        "samples": watch.samples_behind(int(since) if since.isdecimal() else 0),
    }


def _counts(tasks: Any) -> Mapping[str, int]:
    is_mapping = isinstance(tasks, dict) and all(type(count) is int for count in tasks.values())
    if not is_mapping or not tasks:
        raise ViperError(f'found tasks={tasks!r:.100}: expected the number by component, as {{"split": 5}}')
    counts: Mapping[str, int] = tasks
    return counts


# -- for others


async def _healthz(watch: RunWatch, request: Request) -> Response:
    state = watch.state
    is_well = state not in ("ended", "silent")
    return JSONResponse({"status": "ok" if is_well else "fail", "run": state}, 200 if is_well else 503)


async def _metrics(watch: RunWatch, request: Request) -> Response:
    content, content_type = exposed(watch, request.headers.get("accept", ""))
    return Response(content, headers={"Content-Type": content_type})


def _of_storm(watch: RunWatch, storm: StormView) -> list[Route]:
    base, one = "/api/v1", "/api/v1/topology/{id:path}"

    def checked(answer: Answer) -> Answer:
        def answered(request: Request) -> Any:
            storm.check(request.path_params["id"])
            return answer(request)

        return answered

    def command(name: str) -> Callable[[Request, Mapping[str, Any]], Any]:
        def commanded(request: Request, body: Mapping[str, Any]) -> Any:
            id = request.path_params["id"]
            storm.check(id)
            watch.ask(name)
            return {"topologyOperation": _OPERATIONS[name], "topologyId": id, "status": "success"}

        return commanded

    def rebalance(request: Request, body: Mapping[str, Any]) -> Any:
        id = request.path_params["id"]
        storm.check(id)
        options = body.get("rebalanceOptions", {})
        watch.ask("scale", tasks=_counts(options.get("executors") if isinstance(options, dict) else None))
        return {"topologyOperation": "rebalance", "topologyId": id, "status": "success"}

    return [
        _get(f"{base}/cluster/summary", lambda request: storm.cluster_summary()),
        _get(f"{base}/cluster/configuration", lambda request: storm.configuration()),
        _get(f"{base}/supervisor/summary", lambda request: storm.supervisor_summary()),
        _get(f"{base}/nimbus/summary", lambda request: storm.nimbus_summary()),
        _get(f"{base}/topology/summary", lambda request: storm.topology_summary()),
        _get(
            one + "/component/{component:path}",  # whose id may hold a slash
            checked(lambda request: storm.component(request.path_params["component"], _window(request))),
        ),
        _get(one, checked(lambda request: storm.topology(_window(request)))),
        _ordered(one + "/activate", command("activate")),
        _ordered(one + "/deactivate", command("deactivate")),
        _ordered(one + "/kill/{wait}", command("end")),
        _ordered(one + "/rebalance/{wait}", rebalance),
    ]


_OPERATIONS = {"activate": "activate", "deactivate": "deactivate", "end": "kill"}


def _window(request: Request) -> str:
    return request.query_params.get("window", ALL_TIME)


# -- how answers are given


def _get(path: str, answer: Answer) -> Route:
    """Make a route that responds with the return value of `answer`, as JSON."""

    def respond(request: Request) -> Response:
        return _answered(lambda: answer(request))

    return Route(path, respond)


def _post(path: str, answer: Callable[[Mapping[str, Any]], Any]) -> Route:
    return _ordered(path, lambda request, body: answer(body))


def _ordered(path: str, answer: Callable[[Request, Mapping[str, Any]], Any]) -> Route:
    """As `_get`, for what changes something and may have a body of JSON."""

    async def respond(request: Request) -> Response:
        text = await request.body()
        try:
            body = json.loads(text) if text.strip() else {}
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return _failed("the body is no JSON object", 400)
        return await run_in_threadpool(_answered, lambda: answer(request, body))

    return Route(path, respond, methods=["POST"])


def _answered(answer: Callable[[], Any]) -> Response:
    try:
        return JSONResponse(answer())
    except ViperError as error:
        return _failed(str(error), 400)


def _failed(message: str, status: int) -> Response:
    return JSONResponse({"error": "Bad Request", "errorMessage": message}, status)



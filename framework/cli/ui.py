"""``viper ui``, and ``viper run --ui``: the web view of a run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from framework.cli.messages import note, warning_line
from framework.cli.parameters import run_argument
from framework.model.errors import ViperError

if TYPE_CHECKING:
    import socket

    from framework.web.address import Address

_ENDS_WITHIN_S = 5.0
LAST_LOOK_S = 3.0
"""Seconds that a page may take to hear how the run has ended."""
_BEGINS_WITHIN_S = 10.0


def parse_listen(ctx: click.Context, param: click.Parameter, value: str | None) -> Address | None:
    """Parse the address to serve at; None if the option is not set."""
    if value is None:
        return None
    from framework.web.address import parse_address

    try:
        return parse_address(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


def listen_option(name: str, help: str) -> Callable[..., Any]:
    """An option that takes where to serve."""
    return click.option(name, metavar="[HOST:]PORT", callback=parse_listen, help=help)


@click.command()
@run_argument
@listen_option("--listen", "Where to serve; else the first free port from 8080 on, for this machine only.")
def ui(run: str, listen: Address | None) -> None:
    """Show RUN in a browser, until the run ends or Ctrl-C.

    RUN is an id or the name of a topology, as viper ps shows them; or a folder by which the run is found
    (viper run --control, --checkpoints). Prints the address of the page. Storm's REST calls are below
    /api/v1, metrics for Prometheus at /metrics, and /healthz says whether the run continues. If others than
    this machine can reach it (--listen 0.0.0.0:8080), they need the token in that address, or that of
    VIPERSTORM_UI_TOKEN. Exit code 1 if there is no such run.
    """
    from framework.runtime.coordination.registry import control_of, known_runs
    from framework.web.address import Address, token_for, url_of
    from framework.web.serving import serve

    _check_installed()
    control, address = control_of(run), listen or Address()
    listening, token = address.listen(), token_for(address)
    note(f"web view: {url_of(listening, token)}")
    is_known = any(Path(known.control) == control for known in known_runs())
    serve(control, listening, token, within_s=_BEGINS_WITHIN_S if is_known else 0.0)


class WebView:
    """The web view beside a run, served by a process of its own.

    Its socket is made before the run begins, so that a port that is taken ends the command early.

    Args:
        address: where to serve it.

    Raises:
        ViperError: it cannot be served there, or what serves it is not installed.
    """

    def __init__(self, address: Address) -> None:
        from framework.web.address import token_for, url_of

        _check_installed()
        self._token = token_for(address)
        self._listening: socket.socket = address.listen()
        self.url = url_of(self._listening, self._token)
        """The address that a browser opens."""

    @contextmanager
    def beside(self, control: Path | None) -> Iterator[None]:
        """For as long as the block runs, serve the run that is found by a folder.

        Raises:
            ViperError: there is none, as the run could not be registered.
        """
        from framework.common.lifeline import ending_with_this_thread
        from framework.web.address import TOKEN

        if control is None:
            raise ViperError("--ui finds the run by a folder, and none was made: name one (--control FOLDER)")
        descriptor = self._listening.fileno()
        environment = {**os.environ, **({} if self._token is None else {TOKEN: self._token})}
        # -P: the modules of the current folder are not its own.
        command = [sys.executable, "-P", "-m", "framework.web", str(descriptor), str(control)]
        serving = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[descriptor],
            env=environment,
            process_group=0,  # so that Ctrl-C, after which the run drains, does not end it
            preexec_fn=ending_with_this_thread(),
        )
        self.close()  # so that nobody waits for an answer where that process is gone
        outcome = "ended"
        try:
            yield
        except BaseException as error:
            outcome = f"failed: {error}"
            raise
        finally:
            _ended(serving, outcome)

    def close(self) -> None:
        """Serve no more."""
        self._listening.close()


@contextmanager
def web_view(address: Address | None, *, wanted: bool) -> Iterator[WebView | None]:
    """The view of a run that is about to begin, whose address is printed; None where none is wanted.

    Args:
        address: where to serve it; None for wherever there is room.
        wanted: whether there is to be one although no address is given.
    """
    if address is None and not wanted:
        yield None
        return
    from framework.web.address import Address

    view = WebView(address or Address())
    note(f"web view: {view.url}")
    try:
        yield view
    finally:
        view.close()


def _check_installed() -> None:
    """Refuse the command where what serves the view is missing."""
    from framework.web.serving import check_installed

    try:
        check_installed()
    except ViperError as error:
        raise click.UsageError(str(error)) from None


def _ended(serving: subprocess.Popen[bytes], outcome: str) -> None:
    """End the process that serves, once the page that somebody watches has heard how the run has ended."""
    assert serving.stdin is not None
    if serving.poll():
        warning_line(f"the web view has ended before the run, with exit code {serving.returncode}")
        serving.stdin.close()
        return
    with suppress(OSError, subprocess.TimeoutExpired):
        serving.communicate(outcome.encode(), LAST_LOOK_S)
    serving.terminate()
    try:
        serving.wait(_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        serving.kill()
        serving.wait()

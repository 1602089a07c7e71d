"""``viper run --ui`` and ``viper ui``, as processes."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from framework.cli.exit_codes import ExitCode
from tests.framework.cli.conftest import process, project, viper
from tests.framework.runtime.workers.orphaned import children_of
from tests.framework.web.conftest import until

Process = Callable[..., "subprocess.Popen[str]"]
__all__ = ["process", "project", "viper"]


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runs"))


@pytest.fixture
def free_port() -> Iterator[int]:
    """A port that nobody listens at, and that is not given to others."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


def url_of(running: subprocess.Popen[str]) -> str:
    """The address that a command prints, among others."""
    assert running.stderr is not None
    for line in running.stderr:
        if found := re.match(r"web view: (http://\S+)$", line):
            return found[1]
    raise AssertionError("it has printed no address")


def fetched(url: str) -> dict[str, object]:
    with urllib.request.urlopen(url, timeout=60) as answer:
        found: dict[str, object] = json.load(answer)
        return found


def status_of(url: str) -> int | None:
    """The status of an answer; None if nobody listens."""
    try:
        fetched(url)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except (OSError, http.client.HTTPException):  # it may end in the midst of its answer
        return None
    return 200


def command_of(pid: int) -> bytes:
    """The arguments of a process, each before a zero byte."""
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def answers(url: str) -> bool:
    return status_of(url) == 200


class TestBesideARun:
    def test_it_is_there_with_the_run_and_gone_with_it(self, process: Process) -> None:
        running = process("run", "endless", "--ui-listen", "127.0.0.1:0")
        url = url_of(running)
        until(lambda: answers(f"{url}api/run"))
        seen = fetched(f"{url}api/run")
        assert seen["snapshot"]["topology"] == "endless"  # type: ignore[index]
        assert fetched(f"{url}api/run/description")["pid"] == running.pid
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        assert running.returncode == ExitCode.OK
        assert not answers(f"{url}healthz")

    @pytest.mark.slow(daily=True)
    def test_ctrl_c_drains_the_run_and_the_view_is_there_meanwhile(self, process: Process) -> None:
        running = process("run", "stuck", "--ui-listen", "127.0.0.1:0", start_new_session=True)
        url = url_of(running)
        until(lambda: answers(f"{url}api/run"))
        os.killpg(running.pid, signal.SIGINT)
        until(lambda: fetched(f"{url}api/run")["state"] == "draining")
        os.killpg(running.pid, signal.SIGINT)
        running.communicate(timeout=60)
        assert running.returncode == ExitCode.STOPPED and not answers(f"{url}healthz")

    def test_a_token_that_its_user_knows_is_not_printed(self, process: Process) -> None:
        running = process("run", "endless", "--ui-listen", "127.0.0.1:0", VIPERSTORM_UI_TOKEN="open-sesame")
        url = url_of(running)
        assert "token" not in url
        until(lambda: answers(f"{url}healthz"))
        assert status_of(f"{url}api/run") == 401

    @pytest.mark.slow(daily=True)
    def test_a_page_hears_why_the_run_has_failed(self, process: Process, project: Path) -> None:
        parts, wait = project / "src" / "parts.py", "while not os.path.exists('go'): time.sleep(0.01)"
        raises = "        raise ZeroDivision"
        text = parts.read_text().replace(raises, f"        {wait}\n{raises}")
        parts.write_text(f"import os, time\n{text}")
        running = process("run", "broken", "--ui-listen", "127.0.0.1:0")
        url = url_of(running)
        until(lambda: answers(f"{url}api/run"))
        Path("go").touch()
        until(lambda: str(fetched(f"{url}api/run")["outcome"]).startswith("failed: component 'double'"))
        assert running.wait(60) == ExitCode.FAILED

    def test_a_run_that_fails_at_once_is_not_held_up(self, process: Process) -> None:
        running = process("run", "broken", "--ui-listen", "127.0.0.1:0")
        _, told = running.communicate(timeout=60)
        assert running.returncode == ExitCode.FAILED and "no such number" in told

    def test_modules_of_the_current_folder_are_not_its_own(self, process: Process, project: Path) -> None:
        (project / "h11.py").write_text("raise ImportError('mine')")
        running = process("run", "endless", "--ui-listen", "127.0.0.1:0")
        url = url_of(running)
        until(lambda: answers(f"{url}api/run"))

    @pytest.mark.slow(daily=True)
    def test_a_run_is_suspended_by_either_of_its_folders_at_once(
        self, process: Process, project: Path
    ) -> None:
        text = (project / "topologies" / "endless.py").read_text().replace("Endless", "Counted")
        (project / "topologies" / "counted.py").write_text(text)
        parts = project / "src" / "parts.py"
        text = parts.read_text().replace("            raise StopIteration\n", "            return\n")
        parts.write_text(text)
        running = process("run", "counted", "--checkpoints", "kept", "--ui-listen", "127.0.0.1:0")
        url = url_of(running)
        until(lambda: answers(f"{url}api/run"))
        began_s = time.monotonic()
        request = urllib.request.Request(f"{url}api/run/suspend", data=b"{}", method="POST")
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.load(answer)["id"] == 1
        assert time.monotonic() - began_s < 4.5  # before, it waited for itself for 5 s
        assert running.wait(60) == ExitCode.OK

    def test_it_dies_with_a_run_that_is_killed(self, process: Process) -> None:
        running = process("run", "endless", "--ui-listen", "127.0.0.1:0")
        url = url_of(running)
        assert answers(f"{url}healthz")
        running.kill()
        until(lambda: not answers(f"{url}healthz"))

    @pytest.mark.slow(daily=True)
    def test_the_run_goes_on_where_it_is_killed(self, process: Process) -> None:
        running = process("run", "endless", "--ui-listen", "127.0.0.1:0")
        url = url_of(running)
        until(lambda: answers(f"{url}healthz"))
        view = next(pid for pid in children_of(running.pid) if b"framework.web" in command_of(pid))
        os.kill(view, signal.SIGKILL)
        until(lambda: not answers(f"{url}healthz"))
        running.send_signal(signal.SIGINT)
        _, told = running.communicate(timeout=60)
        assert running.returncode == ExitCode.OK
        assert "the web view has ended before the run, with exit code -9" in told

    def test_a_port_that_is_taken_ends_the_command_before_anything_starts(
        self, process: Process, project: Path
    ) -> None:
        with socket.socket() as other:
            other.bind(("127.0.0.1", 0))
            other.listen()
            port = other.getsockname()[1]
            running = process("run", "endless", "--ui-listen", f"127.0.0.1:{port}")
            _, told = running.communicate(timeout=60)
        assert running.returncode == ExitCode.FAILED
        assert f"cannot serve the web view at 127.0.0.1:{port}: Address already in use" in told

    def test_what_is_no_address_is_refused(self, process: Process) -> None:
        running = process("run", "doubling", "--ui-listen", "a:b")
        _, told = running.communicate(timeout=60)
        assert running.returncode == ExitCode.USAGE and "'b' is no port" in told

    def test_others_than_this_machine_need_the_token(self, process: Process) -> None:
        running = process("run", "endless", "--ui-listen", "0.0.0.0:0")
        base, _, token = url_of(running).partition("?token=")
        port = base.rsplit(":", 1)[1].strip("/")
        local = f"http://127.0.0.1:{port}"
        until(lambda: fetched(f"{local}/healthz")["run"] == "running")
        assert answers(f"{local}/healthz")
        assert status_of(f"{local}/api/run") == 401
        request = urllib.request.Request(f"{local}/api/run", headers={"Authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert answer.status == 200


class TestUi:
    def test_it_shows_a_run_by_its_name_and_ends_with_it(self, process: Process) -> None:
        running = process("run", "endless")
        until(lambda: "endless" in _known())
        shown = process("ui", "endless", "--listen", "127.0.0.1:0")
        url = url_of(shown)
        until(lambda: answers(f"{url}api/run"))
        assert fetched(f"{url}api/run/description")["pid"] == running.pid
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=60)
        shown.communicate(timeout=60)
        assert shown.returncode == ExitCode.OK

    @pytest.mark.slow(daily=True)
    def test_ctrl_c_ends_it_and_not_the_run(self, process: Process) -> None:
        running = process("run", "endless")
        until(lambda: "endless" in _known())
        shown = process("ui", str(running.pid), "--listen", "127.0.0.1:0")
        assert answers(f"{url_of(shown)}healthz")
        shown.send_signal(signal.SIGINT)
        shown.communicate(timeout=60)
        assert shown.returncode == ExitCode.OK and running.poll() is None

    def test_there_is_no_such_run(self, process: Process) -> None:
        shown = process("ui", "nothing")
        _, told = shown.communicate(timeout=60)
        assert shown.returncode == ExitCode.FAILED and "no run 'nothing' is going on here" in told


def test_without_the_extra_it_says_what_to_install(process: Process, tmp_path: Path) -> None:
    (tmp_path / "hides").mkdir()
    (tmp_path / "hides" / "starlette.py").write_text("raise ImportError('No module named starlette')")
    path = os.pathsep.join((str(tmp_path / "hides"), str(Path(__file__).parents[3])))
    running = process("run", "doubling", "--ui", PYTHONPATH=path)
    _, told = running.communicate(timeout=60)
    assert running.returncode == ExitCode.USAGE
    assert "pip install '/path/to/viperstorm[ui]'" in told


def _known() -> set[str]:
    from framework.runtime.coordination.registry import known_runs

    return {run.topology for run in known_runs()}

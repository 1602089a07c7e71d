"""Each line of the log says which task spoke in which process, wherever that was."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import ComponentError, ConfigError
from framework.model.tracebacks import of_user_code
from tests.framework.runtime.workers import conftest
from tests.framework.runtime.workers.components import open_gate, wait_at
from tests.framework.runtime.workers.conftest import Gate, Viper
from tests.framework.runtime.workers.ported_speaker import SpeaksPorted
from tests.framework.runtime.workers.running import PROCESSES, Workers, every_kind
from tests.framework.runtime.workers.speakers import Dated, FailsToClose, Speaks, Survives, chain
from tests.portions import at_every_change

LINE = re.compile(r"^\d\d:\d\d:\d\d\.\d{3} (\w+) +(\S+) \[(\d+)\] (.*)$")


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO)
    return caplog


@pytest.fixture
def said(viper: Viper, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run ``viper run`` on a target of `speakers`, and return its stderr."""
    monkeypatch.setattr(conftest, "TARGETS", "tests.framework.runtime.workers.speakers")

    def run(target: str, *arguments: str, workers: Workers, **options: Any) -> str:
        out, err = viper(target, *arguments, workers=workers, **options).communicate()
        assert out == ""
        return err

    return run


def origin(record: logging.LogRecord) -> tuple[Any, Any]:
    return record.viper_component, record.viper_task  # type: ignore[attr-defined]


class TestWhoSpeaks:
    @every_kind
    def test_a_record_names_task_and_process(self, workers: Workers, log: pytest.LogCaptureFixture) -> None:
        workers.run(chain(Speaks, par=2))
        ways = {"logger": True, "log": True, "print": True, "myapp": True, "thread": False}
        for way, task_known in ways.items():
            found = [r for r in log.records if r.getMessage().startswith(f"{way} ")]
            assert len(found) == 4, way
            assert {r.getMessage().split()[2] for r in found} == {"1", "2"}
            for record in found:
                _, component, task, pid = record.getMessage().split()
                assert origin(record) == (component, int(task) if task_known else None)
                assert record.process == int(pid)

    @every_kind
    def test_components_of_streamparses_are_named_likewise(
        self, workers: Workers, log: pytest.LogCaptureFixture
    ) -> None:
        workers.run(chain(SpeaksPorted, par=2))
        for way in ("logger", "log", "print", "myapp"):
            found = [r for r in log.records if r.getMessage().startswith(f"{way} ")]
            assert {r.getMessage().split()[2] for r in found} == {"1", "2"}
            for record in found:
                _, component, task, pid = record.getMessage().split()
                assert (*origin(record), record.process) == (component, int(task), int(pid))

    @every_kind
    def test_constructors_and_unfinished_lines_have_an_origin(
        self, workers: Workers, log: pytest.LogCaptureFixture
    ) -> None:
        workers.run(chain(Speaks, par=2))
        made = [r for r in log.records if r.getMessage() == "made"]
        left = [r for r in log.records if r.getMessage().startswith("unfinished middle")]
        assert sorted(origin(r) for r in made) == [("middle", 1), ("middle", 2)]
        assert {origin(r) for r in left} == {("middle", 1), ("middle", 2)}
        for record in left:
            assert f"middle {origin(record)[1]} " in record.getMessage()

    @every_kind
    def test_threads_that_nobody_knows_say_nothing(
        self, workers: Workers, log: pytest.LogCaptureFixture
    ) -> None:
        workers.run(chain(Speaks))
        assert {origin(r) for r in log.records if r.getMessage().startswith("stray")} == {(None, None)}

    @every_kind
    def test_the_time_is_that_of_logging(self, workers: Workers, log: pytest.LogCaptureFixture) -> None:
        workers.run(chain(Dated))
        for record in log.records:
            if record.getMessage().startswith("at "):
                assert 0 <= record.created - float(record.getMessage()[3:]) < 1

    @every_kind
    def test_nothing_of_it_stays(self, workers: Workers) -> None:
        root = logging.getLogger()
        before = logging.getLogRecordFactory(), list(root.handlers), root.level
        workers.run(chain(Speaks))
        assert (logging.getLogRecordFactory(), list(root.handlers), root.level) == before


class TestErrors:
    @every_kind
    def test_one_that_is_survived_is_one_record_with_the_users_frames(
        self, workers: Workers, log: pytest.LogCaptureFixture
    ) -> None:
        workers.run(chain(Survives, 1))
        (record,) = [r for r in log.records if r.levelno >= logging.ERROR]
        assert record.getMessage().startswith("LookupError raised while processing Tuple(")
        lines = logging.Formatter().format(record).splitlines()
        assert lines[1] == "Traceback (most recent call last):"
        assert "speakers.py" in lines[2]
        assert lines[-1] == "LookupError: no 0"

    @every_kind
    def test_one_in_close_comes_with_its_traceback(
        self, workers: Workers, log: pytest.LogCaptureFixture
    ) -> None:
        with pytest.raises(ComponentError) as caught:
            workers.run(chain(FailsToClose, 1))
        assert "".join(of_user_code(caught.value.__cause__)).endswith("\nLookupError: cannot close\n")
        assert [r for r in log.records if r.levelno >= logging.ERROR] == []

    @every_kind
    def test_a_program_of_ones_own_gets_every_record(
        self, workers: Workers, log: pytest.LogCaptureFixture
    ) -> None:
        workers.run(chain(Survives, 100))
        assert len([r for r in log.records if r.levelno >= logging.ERROR]) == 100


class TestCommandLine:
    @pytest.mark.few(1)
    @every_kind
    def test_lines(self, said: Callable[..., str], workers: Workers) -> None:
        found = [LINE.match(line) for line in said("speaking", "-q", workers=workers).splitlines()]
        lines = [match.groups() for match in found if match]
        assert len(lines) == len(found)
        for level, who, pid, message in lines:
            way, *more = message.removeprefix("myapp: ").split()
            if way in ("logger", "log", "print", "myapp"):
                assert (level, who, pid) == ("INFO", f"middle:{more[1]}", more[2])
        assert sum(message.startswith("myapp: myapp middle") for *_, message in lines) == 4

    @pytest.mark.few(1)
    @every_kind
    def test_every_line_is_an_object_where_that_is_asked_for(
        self, said: Callable[..., str], workers: Workers
    ) -> None:
        err = said("surviving", "--log-format", "json", "--log-level", "middle=info", workers=workers)
        found = [json.loads(line) for line in err.splitlines()]
        errors = [line for line in found if line.get("error") == "LookupError"]
        assert {(line["component"], line["task"], line["logger"]) for line in errors} == {
            ("middle", 1, "viperstorm.component.middle")
        }
        assert len([line for line in errors if "traceback" in line]) == 5
        assert sum(line.get("repeated", 1) for line in errors) == 1000
        assert any("done after" in line["message"] for line in found if line["logger"] == "viperstorm.cli")

    @pytest.mark.few(1)
    @every_kind
    def test_errors_that_repeat_are_counted(self, said: Callable[..., str], workers: Workers) -> None:
        err = said("surviving", "-q", workers=workers)
        assert err.count("LookupError: no ") == 5
        counts = re.findall(r"\(LookupError at .*speakers.py:\d+\) \.\.\. repeated ([\d,]+) times in", err)
        assert sum(int(count.replace(",", "")) for count in counts) == 995

    @pytest.mark.slow
    def test_the_keys_say_how_many(self, said: Callable[..., str]) -> None:
        options = {"topology__max__error__report__per__interval": 2}
        assert said("surviving", "-q", workers=PROCESSES, **options).count("LookupError: no ") == 2
        options = {"topology__error__throttle__interval__secs": 0}
        assert said("surviving", "-q", workers=PROCESSES, **options).count("LookupError: no ") == 1000

    @pytest.mark.few(1)
    @every_kind
    @pytest.mark.parametrize(
        ("arguments", "options", "logged"),
        at_every_change(
            [
                (("--log-level", "warning", "--log-level", "middle=info"), {}, True),
                ((), {"pystorm__log__level": "warning"}, False),
                ((), {}, True),
                (("--log-level", "middle=warning"), {}, False),
                ((), {"pystorm__log__level": "warning", "topology__debug": "true"}, True),
            ],
            2,
        ),
    )
    def test_levels(
        self,
        said: Callable[..., str],
        workers: Workers,
        arguments: tuple[str, ...],
        options: dict[str, Any],
        logged: bool,
    ) -> None:
        err = said("speaking", "-q", *arguments, workers=workers, **options)
        assert ("] logger middle" in err) is logged

    @pytest.mark.few(1)
    @pytest.mark.parametrize("send", at_every_change([os.killpg, os.kill]), ids=["terminal", "kill"])
    @every_kind
    def test_sigquit_shows_where_tasks_are_and_the_run_goes_on(
        self,
        viper: Viper,
        monkeypatch: pytest.MonkeyPatch,
        gate: Gate,
        workers: Workers,
        send: Callable[[int, int], None],
    ) -> None:
        monkeypatch.setattr(conftest, "TARGETS", "tests.framework.runtime.workers.speakers")
        arrived, go = gate("arrived"), gate("go")
        running = viper("waiting", workers=workers, gate__arrived=arrived, gate__go=go, wait__at=1)
        wait_at(arrived)
        before = _group(running.pid)
        send(running.pid, signal.SIGQUIT)
        shown = _read_until(running, "wait_at(self.storm_conf")
        assert before <= _group(running.pid)
        open_gate(go)
        _, rest = running.communicate()
        assert running.returncode == 0
        assert re.search(r"WARNING middle:1 \[\d+\] middle:1 is in process:\n", shown)
        assert "bolt_task.py" not in shown
        assert "done after" in rest
        assert (shown + rest).count("is in process") == 1


def _group(leader: int) -> set[str]:
    """The processes of a group, servers that start others among them; none where the system does not say."""
    alive = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, group, *_ = path.read_text().rpartition(")")[2].split()
            alive |= {path.parent.name} if group == str(leader) and state not in "ZX" else set()
    return alive


def _read_until(running: subprocess.Popen[str], text: str) -> str:
    """Read its stderr up to the line that holds a text."""
    assert running.stderr is not None
    lines: list[str] = []
    while not lines or (lines[-1] and text not in lines[-1]):
        lines.append(running.stderr.readline())
    return "".join(lines)


class TestFiles:
    @every_kind
    def test_each_task_has_its_own(
        self, workers: Workers, log: pytest.LogCaptureFixture, tmp_path: Path
    ) -> None:
        workers.run(chain(Speaks, par=2), pystorm__log__path=str(tmp_path / "new" / "logs"))
        found = {path.name: path.read_text() for path in (tmp_path / "new" / "logs").iterdir()}
        names = [re.fullmatch(r"pystorm_tested_(\w+)_(\d)_(\d+)\.log", name) for name in found]
        assert sorted((m[1], m[2]) for m in names if m) == [
            ("middle", "1"),
            ("middle", "2"),
            ("sink", "3"),
            ("source", "4"),
        ]
        for name, text in found.items():
            _, _, component, task, pid = name.removesuffix(".log").split("_")
            if component == "middle":
                for way in ("logger", "log", "print", "myapp"):
                    assert text.count(f"{way} middle {task} {pid}") == 2
                assert " - viperstorm.component.middle - INFO - made\n" in text
            else:
                assert text == ""
        assert any(r.getMessage().startswith("logger middle 2") for r in log.records)

    @every_kind
    def test_a_logger_without_a_level_gets_the_configured_one(self, workers: Workers, tmp_path: Path) -> None:
        workers.run(chain(Speaks), pystorm__log__path=str(tmp_path), pystorm__log__file="{task_id}.log")
        assert (tmp_path / "1.log").read_text().count("logger middle") == 4
        assert logging.getLogger("viperstorm.component.middle").level == logging.NOTSET

    @every_kind
    def test_they_are_rotated(self, workers: Workers, log: pytest.LogCaptureFixture, tmp_path: Path) -> None:
        workers.run(
            chain(Speaks, 100),
            pystorm__log__path=str(tmp_path),
            pystorm__log__file="{component_name}.log",
            pystorm__log__max_bytes=1000,
            pystorm__log__backup_count=2,
            pystorm__log__format="%(message)s",
        )
        names = {path.name for path in tmp_path.iterdir()}
        assert names == {"source.log", "sink.log", "middle.log", "middle.log.1", "middle.log.2"}
        assert all(path.stat().st_size <= 1000 for path in tmp_path.iterdir())

    @every_kind
    def test_one_that_cannot_be_opened_is_told(self, workers: Workers, tmp_path: Path) -> None:
        (tmp_path / "taken").touch()
        with pytest.raises(
            ConfigError, match=r"task \d: its log file cannot be opened: .*pystorm\.log\.path"
        ):
            workers.run(chain(Speaks), pystorm__log__path=str(tmp_path / "taken"))


def test_options_may_not_hold_what_a_file_name_cannot(tmp_path: Path) -> None:
    builder: TopologyBuilder = chain(Speaks)
    with pytest.raises(AssertionError, match=r"text without other fields than \{topology_name\}"):
        PROCESSES.run(builder, pystorm__log__file="{nobody}.log")

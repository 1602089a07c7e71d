"""Spouts that end: as programs they end as they do when they are hosted, and to Storm they never end."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from click.testing import CliRunner

from framework import TopologyBuilder
from framework.cli import main
from framework.frontends.multilang.as_programs import as_programs
from framework.frontends.multilang.components import ProgramSpout
from framework.frontends.multilang.messages import ENDS_ARE_KNOWN, encoded
from framework.model.errors import ProgramError
from framework.model.topology import ShellImplementation, Topology
from framework.operators.components.collector import Collector
from framework.operators.sinks import CollectingSink
from tests.framework.frontends.multilang import ported, served
from tests.framework.frontends.multilang.pieces import run_spout, run_topology

HERE = __name__.rpartition(".")[0]
WORDS = [("dog",), ("cat",), ("zebra",)]


def topology(spout: type[Any], bolt: type[Any] | None = None) -> Topology:
    builder = TopologyBuilder()
    builder.set_spout("spout", spout)
    if bolt is not None:
        builder.set_bolt("bolt", bolt).shuffle_grouping("spout")
    builder.set_bolt("sink", CollectingSink).global_grouping("spout" if bolt is None else "bolt")
    return builder.build("ends")


WORKERS = [{}, {"viper__worker": "process", "topology__workers": 2}]


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", WORKERS, ids=["inline", "process"])
def test_a_spout_of_streamparses_ends_once(workers: dict[str, Any]) -> None:
    hosted = topology(ported.Words)
    for one in (hosted, as_programs(hosted).topology):
        report = run_topology(one, viper__on__error="restart", **workers)
        assert report.result("sink") == WORDS
        assert (report.components["spout"].restarts, report.components["spout"].errors) == (0, 0)


def test_it_hears_of_fails_after_its_end() -> None:
    hosted = topology(ported.Tracked, ported.Upper)
    for one in (hosted, as_programs(hosted).topology):
        report = run_topology(one)
        assert sorted(report.result("sink")) == [("CAT",), ("DOG",)]
        assert report.components["bolt"].failed == 2


def started(module: str, name: str) -> tuple[ProgramSpout, mock.Mock]:
    """A spout that has been activated, and the collector that it emits to."""
    collector = mock.create_autospec(Collector, instance=True)
    spout = ProgramSpout(ShellImplementation((sys.executable, "-m", module, f"{HERE}.{name}")))
    spout._collector = collector
    spout.component_name, spout.task_id, spout.logger = "spout", 1, logging.getLogger("spout")
    spout.initialize({}, {"taskid": 1, "componentid": "spout"})
    spout.activate()
    return spout, collector


@pytest.mark.few(1)
@pytest.mark.parametrize("module", ["framework.frontends.streamparse.serve", "streamparse.run"])
def test_stop_iteration_elsewhere_is_an_error(module: str) -> None:
    spout, _ = started(module, "ported.RaisesInAck")
    spout.next_tuple()
    with pytest.raises(ProgramError, match="it has reported: Python StopIteration raised"):
        for _ in range(2):  # pystorm's process ends after it has answered
            spout.ack("dog")
    spout.close()


def test_under_streamparse_run_it_ends_with_its_process() -> None:
    command = (sys.executable, "-m", "streamparse.run", f"{HERE}.ported.Words")
    assert run_spout(command, viper__on__error="restart").result("sink") == WORDS


def test_what_fails_after_that_is_told(caplog: pytest.LogCaptureFixture) -> None:
    spout, collector = started("streamparse.run", "ported.Tracked")
    spout.next_tuple()
    spout.next_tuple()
    with pytest.raises(StopIteration):
        spout.next_tuple()
    spout.ack("dog")
    spout.fail("cat")
    spout.deactivate()
    spout.close()
    assert [call.args for call in collector.emit.call_args_list] == [(["dog"],), (["cat"],)]
    assert "tuple 'cat' has failed, and the program has ended and cannot emit it again" in caplog.text


PROJECT = {
    "src/spouts/__init__.py": "",
    "src/spouts/words.py": Path(ported.__file__).read_text("utf-8"),
    "topologies/finite.py": """
from streamparse import Topology
from spouts.words import Words

class Finite(Topology):
    words = Words.spec()
""",
}


@pytest.mark.parametrize("options", [[], ["--shell"]], ids=["hosted", "shell"])
def test_a_run_of_a_project_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]) -> None:
    for name, text in PROJECT.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    arguments = [
        "run",
        "topologies/finite.py",
        "-q",
        "--print",
        "words",
        "-o",
        "viper.worker=inline",
        *options,
    ]
    result = CliRunner().invoke(main, arguments)
    assert (result.exit_code, result.stdout.split()) == (0, ["dog", "cat", "zebra"]), result.output


class TestServedToStorm:
    """A spout sends ``end`` only where it is known: Storm halts its worker at an unknown command."""

    def answers(self, folder: Path, module: str, name: str, conf: dict[str, Any]) -> list[Any]:
        """Run a spout, and list its answers after its pid, one list for each command."""
        context = {"componentid": "spout", "taskid": 1, "task->component": {"1": "spout"}}
        asked = ["activate", *["next"] * 15, "deactivate"]
        messages = [{"conf": conf, "context": context, "pidDir": str(folder)}]
        messages += [{"command": command} for command in asked]
        ran = subprocess.run(
            [sys.executable, "-m", module, f"{HERE}.{name}"],
            input=b"".join(map(encoded, messages)),
            capture_output=True,
            check=False,
        )
        sent = [json.loads(text) for text in ran.stdout.decode().split("\nend\n") if text]
        assert set(sent.pop(0)) == {"pid"}, ran.stderr
        answers: list[list[Any]] = [[]]
        for message in sent:
            if message["command"] == "sync":
                answers.append([])
            else:
                answers[-1].append(message)
        assert len(answers) == len(asked) + 1, ran.stderr.decode()
        return answers[:-1]

    @pytest.mark.few(1)
    @pytest.mark.parametrize(
        ("module", "name", "rows"),
        [
            ("framework.frontends.multilang.serve", "served.Numbers", 15),
            ("framework.frontends.multilang.serve", "served.Polled", 10),
            ("framework.frontends.streamparse.serve", "ported.Words", 3),
        ],
    )
    def test_it_goes_on_answering(self, tmp_path: Path, module: str, name: str, rows: int) -> None:
        assert served.Polled is not None
        to_storm = self.answers(tmp_path, module, name, {})
        commands = [message["command"] for answer in to_storm for message in answer]
        assert "end" not in commands
        known = self.answers(tmp_path, module, name, {ENDS_ARE_KNOWN: True})
        commands = [message["command"] for answer in known for message in answer]
        assert commands.count("end") == (1 if rows < 15 else 0)
        emitted = [m["tuple"] for answer in to_storm for m in answer if m["command"] == "emit"]
        assert emitted == [m["tuple"] for answer in known for m in answer if m["command"] == "emit"]

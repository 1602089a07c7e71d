"""`framework.run`: a topology from a Python program, in one line."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, Grouping, Spout, Topology, TopologyBuilder, run
from framework.model.errors import ComponentError, LoadError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.runtime import Progress, RunReport, StopReason, StopSignal
from framework.runtime.coordination.registry import known_runs
from tests.framework.counted_words import COUNTED, Count, Lines, Split

REPOSITORY = Path(__file__).parents[2]

KINDS = [
    pytest.param({}, id="as configured"),
    pytest.param({"worker": "inline"}, id="inline"),
    pytest.param({"worker": "thread", "workers": 2}, id="threads"),
    pytest.param({"workers": 2}, id="processes"),
]


class WordCount(Topology):
    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=2)
    count = Count.spec(inputs={split: Grouping.fields("word")}, par={"small": 1, "large": 3})
    kept = CollectingSink.spec(inputs={count: Grouping.GLOBAL})


def builder() -> TopologyBuilder:
    made = TopologyBuilder()
    made.set_spout("lines", Lines)
    made.set_bolt("split", Split, 2).shuffle_grouping("lines")
    made.set_bolt("count", Count, 3).fields_grouping("split", "word")
    made.set_bolt("kept", CollectingSink).global_grouping("count")
    return made


YAML = """
name: counted
spouts:
  - {id: lines, className: counted_parts.Lines}
bolts:
  - {id: kept, className: framework.operators.sinks.CollectingSink}
streams:
  - {from: lines, to: kept, grouping: {type: GLOBAL}}
"""

PARTS = """
from framework import Spout

class Lines(Spout):
    outputs = ["line"]
    def tuples(self):
        yield ["from a file"]
"""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without configuration."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_one_line_runs_a_topology(kind: dict[str, Any]) -> None:
    report = run(WordCount, environment="large", **kind)
    assert isinstance(report, RunReport)
    assert report.result("kept") == COUNTED
    assert report.reason is StopReason.EXHAUSTED
    assert report.topology == "WordCount"


@pytest.mark.parametrize(
    "form", [builder(), builder, builder().build("named")], ids=["builder", "def", "value"]
)
def test_it_takes_every_form_of_a_topology(form: object) -> None:
    assert run(form).result("kept") == COUNTED


@pytest.mark.parametrize("as_path", [str, Path])
def test_it_takes_the_path_of_a_file(tmp_path: Path, as_path: type[Any]) -> None:
    (tmp_path / "counted.yaml").write_text(YAML)
    (tmp_path / "counted_parts.py").write_text(PARTS)
    report = run(as_path("counted.yaml"))
    assert (report.topology, report.result("kept")) == ("counted", [("from a file",)])


def test_arguments_stand_above_conf_and_conf_above_files_and_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "viper.yaml").write_text("my.key: from the file\nmy.other: from the file\n")
    monkeypatch.setenv("VIPER_WORKER", "process")
    seen: dict[str, Any] = {}

    class Look(Bolt):
        def initialize(self, storm_conf: Any, context: Any) -> None:
            seen.update(storm_conf, pid=os.getpid())

        def process(self, tup: Any) -> None: ...

    class Looking(Topology):
        lines = Lines.spec()
        look = Look.spec(inputs=[lines])

    run(Looking, conf={"my.key": "from conf", "viper.worker": "thread"}, worker="inline")
    assert (seen["my.key"], seen["my.other"], seen["pid"]) == ("from conf", "from the file", os.getpid())


class Forever(Spout):
    outputs = ["n"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.n = 0

    def next_tuple(self) -> None:
        self.n += 1
        self.emit([self.n])
        if self.n == self.storm_conf.get("interrupts.at"):
            os.kill(os.getpid(), signal.SIGINT)


class Endless(Topology):
    forever = Forever.spec()
    kept = CollectingSink.spec(inputs={forever: Grouping.GLOBAL})


def test_it_ends_after_so_many_tuples_or_seconds() -> None:
    report = run(Endless, max_tuples=5)
    assert (report.result("kept"), report.reason) == ([(n,) for n in range(1, 6)], StopReason.MAX_TUPLES)
    assert run(Endless, duration_s=0.01).reason is StopReason.DURATION


def test_the_first_interrupt_drains() -> None:
    before = signal.getsignal(signal.SIGINT)
    report = run(Endless, conf={"interrupts.at": 40})
    assert report.reason is StopReason.INTERRUPTED
    assert report.drained
    assert len(report.result("kept")) == report.emitted >= 40
    assert signal.getsignal(signal.SIGINT) is before


def test_another_thread_may_run_one_and_be_told_to_stop() -> None:
    stop = StopSignal()
    reports: list[RunReport] = []

    def stop_later(progress: Progress) -> None:
        stop.request(StopReason.INTERRUPTED)

    thread = threading.Thread(target=lambda: reports.append(run(Endless, stop=stop, on_progress=stop_later)))
    thread.start()
    thread.join()
    assert reports[0].reason is StopReason.INTERRUPTED
    assert len(reports[0].result("kept")) == reports[0].emitted


def test_a_run_is_recorded_and_replayed(tmp_path: Path) -> None:
    recorded = run(WordCount, environment="small", record=tmp_path / "a.viper")
    replayed = run(WordCount, environment="large", replay=str(tmp_path / "a.viper"))
    assert replayed.result("kept") == recorded.result("kept") == COUNTED


def test_a_component_that_raises_is_an_exception() -> None:
    class Raise(Bolt):
        def process(self, tup: Any) -> None:
            raise ZeroDivisionError("on purpose")

    class Raising(Topology):
        lines = Lines.spec()
        broken = Raise.spec(inputs=[lines])

    with pytest.raises(ComponentError, match=r"component 'broken', task ., in process: ZeroDivisionError"):
        run(Raising)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(TopologyError) as error:
        run(WordCount, environment="large", conf={"viper.jumbo.siez": 1, "viper.slice.tuples": 0})
    assert [str(problem) for problem in error.value.problems] == [
        "argument of run(): unknown configuration key 'viper.jumbo.siez'; did you mean 'viper.jumbo.size'?",
        "argument of run(): viper.slice.tuples is 0: expected an integer of at least 1",
    ]


@pytest.mark.parametrize(("given", "found"), [(5, "found 5"), (Count, "found the class Count")])
def test_what_is_no_topology_is_refused(given: object, found: str) -> None:
    with pytest.raises(LoadError, match=f"^{found}, expected a Topology class, .* or the path of a topology"):
        run(given)


def test_a_missing_file_is_refused_with_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "counted.yaml").write_text(YAML)
    with pytest.raises(TopologyError, match=r"no such file: 'countd.yaml'; did you mean 'counted.yaml'\?"):
        run("countd.yaml")


def test_warnings_go_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        run(WordCount, environment="large", conf={"toplogy.workers": 1})
    first, second = [record.getMessage() for record in caplog.records if record.name == "viperstorm.run"]
    assert first.startswith("argument of run(): configuration key 'toplogy.workers' is unknown")
    assert "bolt 'split' is outside the order guarantee" in second


# -- scripts, and what is typed in

TOPOLOGY = """
from framework import Bolt, Grouping, Spout, Topology, run
from framework.operators.sinks import CollectingSink

class Numbers(Spout):
    outputs = ["n"]

    def tuples(self):
        print("printed")
        yield from ([n] for n in range(3))

class Small(Topology):
    numbers = Numbers.spec()
    kept = CollectingSink.spec(inputs={numbers: Grouping.GLOBAL})

"""
ROWS = "[(0,), (1,), (2,)]\n"


def python(*arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        input=stdin,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
    )


def script(call: str) -> str:
    Path("script.py").write_text(TOPOLOGY + call)
    return "script.py"


CALL = "print(run(Small).result('kept'))\n"
WITH_PROCESSES = "print(run(Small, workers=2).result('kept'))\n"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "call", [CALL, f"if __name__ == '__main__':\n    {WITH_PROCESSES}"], ids=["inline", "processes"]
)
def test_a_script_runs_its_own_topology_and_logs_to_stderr(call: str) -> None:
    ran = python(script(call))
    assert (ran.returncode, ran.stdout) == (0, ROWS)
    assert "printed" in ran.stderr
    assert "INFO    numbers:" in ran.stderr


def test_a_script_that_workers_would_run_again_is_refused_before_anything_starts() -> None:
    ran = python(script(WITH_PROCESSES))
    assert (ran.returncode, ran.stdout) == (1, "")
    line = len(TOPOLOGY.splitlines()) + 1
    assert f"script.py:{line}: each worker process loads this script" in ran.stderr
    assert 'put the call under `if __name__ == "__main__":`' in ran.stderr


def test_a_guard_that_guards_nothing_ends_the_run_and_says_why() -> None:
    ran = python(script(f"if Small:\n    {WITH_PROCESSES}"))
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "run() was called again by a worker process: put the call under" in ran.stderr


CELL = """
import linecache, sys
cell = sys.stdin.read()
linecache.cache["<cell 1>"] = (len(cell), None, cell.splitlines(keepends=True), "<cell 1>")
exec(compile(cell, "<cell 1>", "exec"), globals())
"""
"""Runs a cell as notebooks do: in the main module, which has no file, and with lines that tracebacks show."""


WITHOUT_CLOUDPICKLE = "import sys; sys.modules['cloudpickle'] = None\n"


def test_what_stands_in_a_notebook_runs_without_worker_processes() -> None:
    assert python("-c", CELL, stdin=TOPOLOGY + CALL).stdout == ROWS
    ran = python("-c", CELL, stdin=WITHOUT_CLOUDPICKLE + TOPOLOGY + WITH_PROCESSES)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "the class __main__.Numbers, which another process cannot import" in ran.stderr


def test_a_wrong_argument_is_told_by_its_key() -> None:
    with pytest.raises(TopologyError, match=r"argument of run\(\): viper.worker is 'treads': expected "):
        run(WordCount, environment="large", worker="treads")


def test_what_is_typed_in_runs() -> None:
    typed = TOPOLOGY.replace('"]\n\n', '"]\n').replace("\nclass", "\n\nclass") + "\n" + CALL
    ran = python("-i", "-q", stdin=typed)
    assert ran.stdout == ROWS
    ran = python("-", stdin=WITHOUT_CLOUDPICKLE + TOPOLOGY + WITH_PROCESSES)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "the class __main__.Numbers, which another process cannot import" in ran.stderr


def test_a_run_with_a_folder_by_which_it_is_found_is_listed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    listed: list[tuple[str, str]] = []

    def look(progress: Progress) -> None:
        listed.extend((known.topology, known.control) for known in known_runs())

    run(builder(), worker="inline", control=tmp_path / "control", on_progress=look)
    assert listed and set(listed) == {("topology", str(tmp_path / "control"))}
    assert known_runs() == []


def test_one_without_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    run(builder(), worker="inline")
    assert list(tmp_path.iterdir()) == []

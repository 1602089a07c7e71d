"""``viper run --trace``: the trees of the tuples that are followed."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framework.cli import main
from framework.cli.exit_codes import ExitCode
from framework.recording import Recording
from tests.framework.runtime.workers.running import Workers, every_kind

TARGET = """
from framework import Bolt, Grouping, Spout, Stream, Topology, TopologyBuilder


class Lines(Spout):
    outputs = ["line"]

    def tuples(self):
        for line in ("the cow", "jumped", "over the moon"):
            yield [line]


class Split(Bolt):
    outputs = ["word", Stream(["length"], name="lengths")]
    config = {"viper.stateless": True}

    def process(self, tup):
        for word in tup.values.line.split():
            self.emit([word])
        self.emit([len(tup.values.line)], stream="lengths")


class Count(Bolt):
    outputs = ["word", "count"]
    config = {"topology.tick.tuple.freq.secs": 1000}

    def initialize(self, conf, context):
        self.counts = {}

    def process(self, tup):
        word = tup.values.word
        self.counts[word] = self.counts.get(word, 0) + 1
        self.emit([word, self.counts[word]])

    def process_tick(self, tup):
        for word in sorted(self.counts):
            if word == "the":
                self.emit([word, "in all"])


class Words(Topology):
    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=PAR)
    count = Count.spec(inputs={split: Grouping.fields("word")}, par=PAR)


class Down(Bolt):
    outputs = ["left"]

    def process(self, tup):
        left = len(tup.values[0]) if isinstance(tup.values[0], str) else tup.values[0]
        if left:
            self.emit([left - 1])


def loop():
    builder = TopologyBuilder()
    builder.set_spout("lines", Lines)
    builder.set_bolt("down", Down).shuffle_grouping("lines").shuffle_grouping("down")
    return builder
"""
TREES = """\
  lines  ('the cow',)
*   split  ('the',)
*     count  ('the', 1)
    split  ('cow',)
      count  ('cow', 1)
    split/lengths  (7,)
  lines  ('over the moon',)
    split  ('over',)
      count  ('over', 1)
*   split  ('the',)
*     count  ('the', 2)
    split  ('moon',)
      count  ('moon', 1)
    split/lengths  (13,)
* count  ('the', 'in all')  from no tuple: a tick, a window, a cycle or the beginning
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, par: int = 1, target: str = "Words") -> Result:
    name = f"traced_{par}.py"
    Path(name).write_text(TARGET.replace("PAR", str(par)), encoding="utf-8")
    return CliRunner().invoke(main, ["run", f"{name}:{target}", "-q", *arguments])


def shown(done: Result) -> list[str]:
    """List the lines on stderr without warnings of ticks, which go by the wall clock here, and of processes
    that other tests have had multiprocessing start."""
    told = "outside the order guarantee", "WARNING viperstorm.worker"
    return [line for line in done.stderr.splitlines() if not any(one in line for one in told)]


@every_kind
@pytest.mark.parametrize("par", [1, 3])
def test_the_trees_are_the_same_however_the_run_is(workers: Workers, par: int) -> None:
    chosen = ("--worker", workers.kind, "--workers", str(workers.number))
    done = run("--trace", "word=the", *chosen, par=par)
    assert (done.exit_code, done.stdout) == (ExitCode.OK, "")
    assert shown(done) == TREES.splitlines()


def test_several_values_are_followed_and_few_trees_shown() -> None:
    done = run("--trace", "word=cow", "--trace", "length=6", "--trace", "line=nothing", "--trace-limit", "1")
    assert shown(done)[3:] == [
        "*   split  ('cow',)",
        "*     count  ('cow', 1)",
        "    split/lengths  (7,)",
        "1 more tree with word=cow, length=6, line=nothing: --trace-limit shows them",
    ]


@pytest.mark.parametrize(
    ("wanted", "begin"), [("count=2", "* "), ("count='in all'", "* count"), ("word='cow'", "*")]
)
def test_a_value_is_found_as_it_reads_and_as_python_writes_it(wanted: str, begin: str) -> None:
    assert any(line.startswith(begin) for line in run("--trace", wanted).stderr.splitlines())


def test_nothing_that_has_the_value_is_said() -> None:
    done = run("--trace", "word=horse")
    assert (done.exit_code, shown(done)) == (ExitCode.OK, ["no tuple has word=horse"])


def test_what_comes_back_through_a_cycle_is_shown() -> None:
    lines = shown(run("--trace", "left=4", target="loop"))
    assert lines == ["* down  (4,)  from no tuple: a tick, a window, a cycle or the beginning"] * 3


def test_the_recording_stays_where_one_is_asked_for(project: Path) -> None:
    assert run("--trace", "word=cow", "--record", "here.viper").stderr.count("*") == 2
    with Recording(project / "here.viper") as recording:
        assert len(list(recording.tuples("lines"))) == 3


def test_long_trees_and_long_values_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    from framework.cli import trace

    monkeypatch.setattr(trace, "MOST_TUPLES", 2)
    monkeypatch.setattr(trace, "LONGEST", 5)
    assert shown(run("--trace", "word=cow")) == [
        "  lines  ('the ...",
        "    split  ('the ...",
        "  and 4 more tuples of this tree",
    ]


@pytest.mark.parametrize("given", ["word", "=the", ""])
def test_what_is_no_field_and_value_is_refused(given: str) -> None:
    done = run("--trace", given)
    assert done.exit_code == ExitCode.USAGE
    assert "expected FIELD=VALUE, as word=the" in done.stderr


def test_an_unknown_field_is_refused_before_anything_runs() -> None:
    done = run("--trace", "wrd=the")
    assert done.exit_code == ExitCode.USAGE
    assert "--trace: unknown field 'wrd'" in done.stderr
    assert "did you mean 'word'" in done.stderr


def test_a_run_that_fails_shows_how_far_they_came() -> None:
    text = TARGET.replace("PAR", "1").replace("self.emit([word])", "raise ValueError(word)")
    Path("fails.py").write_text(text, encoding="utf-8")
    done = CliRunner().invoke(main, ["run", "fails.py:Words", "-q", "--trace", "line=the cow"])
    assert done.exit_code == ExitCode.FAILED
    told = shown(done)
    assert "* lines  ('the cow',)" in told and any("ValueError" in line for line in told)


def test_a_run_that_records_nothing_shows_nothing_of_the_one_before() -> None:
    assert run("--record", "run.viper").exit_code == ExitCode.OK
    refused = run("--record", "run.viper", "--trace", "line=the cow", "--checkpoints", "kept")
    assert refused.exit_code != ExitCode.OK
    assert "the cow" not in refused.stderr

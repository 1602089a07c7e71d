"""Validation says all that a run refuses before it starts, by the configuration and options of that run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from framework import BatchingBolt, Bolt, SeekableSpout, Spout, Stream, TicklessBatchingBolt, TopologyBuilder
from framework.api import run
from framework.cli.main import main
from framework.model.config import resolve
from framework.model.errors import CheckpointError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource
from framework.operators.state import ValueState
from framework.planning.validation import check_runnable, validate
from framework.runtime.leading.beginning import start_problems

SLACK, LATE, AT = "viper.timestamp.slack", "viper.timestamp.late", "viper.timestamp.field"
EXACT = {"viper.recovery": "exact", "viper.worker": "process"}
STREAMS = [Stream(["at"]), Stream(["at"], name="belated")]


class Plain(Spout):
    outputs = STREAMS

    def tuples(self) -> Iterator[list[int]]:
        yield from ([3], [1], [2])


class Seekable(SeekableSpout):
    outputs = STREAMS
    number = 0

    def tuples(self) -> Iterator[list[int]]:
        for at in [3, 1, 2][self.number :]:
            self.number += 1
            yield [at]

    def offset(self) -> int:
        return self.number

    def seek(self, offset: int) -> None:
        self.number = offset


class Hearing(Seekable):
    def ack(self, tup_id: Any) -> None:
        pass


class Batches(BatchingBolt):
    outputs = ["at"]

    def process_batch(self, key: Any, tups: Any) -> None:
        pass


class ByTimer(TicklessBatchingBolt):
    outputs = ["at"]

    def process_batch(self, key: Any, tups: Any) -> None:
        pass


class Lives(Bolt):
    outputs = ["at"]
    kept = ValueState(default=None, per="task", durable="checkpoint")

    def process(self, tup: Any) -> None:
        pass


@dataclass(frozen=True)
class Case:
    """A topology, and how it is run."""

    source: Callable[[], Any]
    config: dict[str, Any] = field(default_factory=dict)
    bolt: type | None = None
    options: dict[str, Any] = field(default_factory=dict)
    checkpoints: bool = False
    subscribed: str = ""
    says: str = ""
    """The refused things; empty for none."""
    is_warned: bool = False
    """True if that depends on how it is run, and so is but a warning."""

    def built(self) -> TopologyBuilder:
        builder = TopologyBuilder()
        builder.set_spout("source", self.source(), config=self.config or None)
        stateless = {"viper.stateless": True}
        sink = builder.set_bolt("sink", CollectingSink, config=stateless).global_grouping("source")
        if self.subscribed:
            sink.global_grouping("source", stream=self.subscribed)
        if self.bolt is not None:
            builder.set_bolt("bolt", self.bolt).global_grouping("source")
        return builder

    def problems(self) -> list[tuple[bool, str]]:
        topology = self.built().build("tested")
        settings, found = resolve(topology, options=self.options)
        found += [*validate(topology, settings), *check_runnable(topology)]
        if all(problem.warning for problem in found):
            found += start_problems(topology, settings, checkpoints=self.checkpoints)
        return [(problem.warning, problem.message) for problem in found]


def csv(**options: Any) -> Callable[[], CsvSource]:
    def made() -> CsvSource:
        Path("a.csv").write_text("at\n3\n1\n2\n")
        return CsvSource("a.csv", types={"at": "int64"}, **options)

    return made


TIMED = csv(timestamp="at", unit="ms")
IN_ORDER = {SLACK: 5, LATE: "belated"}
CASES: dict[str, Case] = {
    "files in order": Case(TIMED, IN_ORDER, subscribed="belated"),
    "files in order, checkpoints": Case(TIMED, IN_ORDER, checkpoints=True, subscribed="belated"),
    "files in order, exact": Case(TIMED, IN_ORDER, options=EXACT, subscribed="belated"),
    "files, late ones dropped": Case(TIMED, {SLACK: 5, LATE: "drop"}, checkpoints=True, options=EXACT),
    "files, nobody reads late ones": Case(TIMED, IN_ORDER, says="no bolt subscribes to stream 'belated'"),
    "files by logical time": Case(
        TIMED, IN_ORDER, options={"viper.time": "logical"}, says="by event time", subscribed="belated"
    ),
    "a seekable spout": Case(Seekable, {**IN_ORDER, AT: "at"}, checkpoints=True, options=EXACT),
    "a seekable spout that is made again": Case(
        Seekable,
        {**IN_ORDER, AT: "at", "viper.on.error": "restart"},
        checkpoints=True,
        says="set viper.on.error to stop or skip",
    ),
    "a seekable spout that blocks": Case(
        Seekable, {"viper.blocking": True}, checkpoints=True, says="set viper.blocking to false"
    ),
    "a plain spout in order": Case(Plain, {**IN_ORDER, AT: "at"}),
    "a plain spout, checkpoints": Case(
        Plain, {**IN_ORDER, AT: "at"}, checkpoints=True, says="cannot say where it is: define offset and seek"
    ),
    "a plain spout, exact": Case(
        Plain, {**IN_ORDER, AT: "at"}, options=EXACT, says="does not say where it is"
    ),
    "another stream": Case(
        Plain, {SLACK: 5, LATE: "later", AT: "at"}, says="found an unknown stream 'later'"
    ),
    "another field": Case(Plain, {SLACK: 5, AT: "when"}, says="takes its timestamps from an unknown field"),
    "batches": Case(
        TIMED,
        bolt=Batches,
        options={"topology.tick.tuple.freq.secs": 1},
        checkpoints=True,
        says="gathers batches, which no checkpoint holds",
    ),
    "batches, exact": Case(
        TIMED,
        {SLACK: 5},
        bolt=Batches,
        options={**EXACT, "topology.tick.tuple.freq.secs": 1},
        checkpoints=True,
    ),
    "batches by a timer": Case(
        TIMED, bolt=ByTimer, checkpoints=True, says="a timer processes the batches of bolt 'bolt'"
    ),
    "batches whose acks are waited for": Case(
        Seekable,
        {AT: "at", "topology.max.spout.pending": 2},
        bolt=Batches,
        options={"topology.tick.tuple.freq.secs": 1},
        says="acks its batches at ticks of event time",
    ),
    "values that live in their process": Case(
        TIMED, bolt=Lives, says="durable='checkpoint' in a run without checkpoints", is_warned=True
    ),
    "values that live in their process, checkpoints": Case(TIMED, {SLACK: 5}, bolt=Lives, checkpoints=True),
    "acks that wait for nothing": Case(
        Hearing, {"viper.ack.after": "checkpoint"}, says="and the run has no folder for them", is_warned=True
    ),
    "acks that wait": Case(Hearing, {"viper.ack.after": "checkpoint"}, checkpoints=True),
    "acks that wait, untracked": Case(
        Hearing,
        {"viper.ack.after": "checkpoint"},
        options={"topology.acker.executors": 0},
        checkpoints=True,
        says="acks of spout 'source' cannot wait for checkpoints",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_run_refuses_what_validation_has_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = CASES[name]
    said = case.problems()
    options = {"viper.worker": "inline", **case.options}
    kept = {"checkpoints": tmp_path / "kept"} if case.checkpoints else {}
    if not case.says:
        assert [message for is_warning, message in said if not is_warning] == []
        report = run(case.built(), conf=options, **kept)
        assert [row[0] for row in report.result("sink")] in ([1, 2, 3], [3, 1, 2])
        return
    assert [
        message for is_warning, message in said if is_warning is case.is_warned and case.says in message
    ], said
    with pytest.raises((TopologyError, CheckpointError), match=case.says):
        run(case.built(), conf=options, **kept)
    assert not (tmp_path / "kept").exists()


def test_a_cycle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    builder = TopologyBuilder()
    builder.set_spout("source", TIMED())
    bolt = builder.set_bolt("round", Lives)
    bolt.global_grouping("source").global_grouping("round")
    topology = builder.build("tested")
    settings, _ = resolve(topology)
    found = [problem.message for problem in start_problems(topology, settings, checkpoints=True)]
    assert any("what goes back from 'round' to 'round' has no place" in message for message in found), found


# -- the command

PLAIN = """
from viperstorm import Spout, Stream, Topology
from viperstorm.sinks import CollectingSink

class Plain(Spout):
    outputs = ["at"]
    def tuples(self):
        yield [1]

class Tested(Topology):
    source = Plain.spec()
    sink = CollectingSink.spec(inputs=[source])
"""


def validated(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["validate", *args])
    return result.exit_code, result.stdout


def test_the_command_says_what_the_options_of_the_run_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tested.py").write_text(PLAIN)
    assert validated("tested.py") == (0, "")
    code, told = validated("tested.py", "--checkpoints", "kept")
    assert (
        code == 3
        and "tested.py:11: Tested.source: spout 'source' cannot say where it is: define offset and seek"
        in told
    )
    assert not Path("kept").exists()
    code, told = validated("tested.py", "-o", "viper.checkpoint.secs=5")
    assert code == 0 and "warning: spout 'source' cannot say where it is" in told
    Path("nothing").mkdir()
    code, told = validated("tested.py", "--from", "nothing")
    assert code == 3 and "there is no checkpoint in" in told


def test_the_command_says_what_does_not_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("at\n3\n1\n")
    text = """
from viperstorm import Topology
from viperstorm.sinks import CollectingSink
from viperstorm.sources import CsvSource

class Tested(Topology):
    source = CsvSource("a.csv", timestamp="at", unit="s").spec(config={"viper.timestamp.slack": 5000})
    sink = CollectingSink.spec(inputs=[source])
"""
    Path("tested.py").write_text(text)
    Path("done.json").write_text("{}")
    code, told = validated("tested.py", "--from", "done.json")
    assert code == 3 and "done.json is no report of a run" in told

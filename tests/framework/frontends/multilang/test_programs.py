"""Programs as bolts and as spouts: everything that the protocol has, in the dialects that there are."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from typing import Any

import pytest

from framework import Bolt, ShellSpout, Stream, Topology, TopologyBuilder
from framework.frontends.builder import shell
from framework.operators.sinks import CollectingSink
from framework.testing import run_topology
from tests.framework.frontends.multilang.conftest import FIXTURES, Script
from tests.framework.frontends.multilang.pieces import around, behind, run_bolt, run_spout
from tests.framework.runtime.pieces import listed, run_built

PERL = shutil.which("perl")
SPLIT = [sys.executable, str(FIXTURES / "split.py")]
SENTENCES = [["the cow jumped"], ["over"], [""], ["the moon"]]
WORDS = [("the",), ("cow",), ("jumped",), ("over",), ("the",), ("moon",)]


def has_perl() -> bool:
    return PERL is not None and subprocess.run([PERL, "-MJSON::PP", "-e", "1"], check=False).returncode == 0


def test_a_bolt_stands_in_order_below_its_input() -> None:
    report = run_bolt(SPLIT, *SENTENCES)
    assert report.result("sink") == WORDS
    counters = report.components["bolt"]
    assert (counters.processed, counters.emitted, counters.acked, counters.unplanned) == (4, 6, 4, 0)


@pytest.mark.skipif(not has_perl(), reason="there is no perl with JSON::PP")
def test_a_bolt_in_another_language() -> None:
    assert run_bolt([str(PERL), str(FIXTURES / "split.pl")], *SENTENCES).result("sink") == WORDS


@pytest.mark.parametrize("par", [1, 3])
def test_parallelism_does_not_show(par: int) -> None:
    rows = [[f"a{n} b{n} c{n}"] for n in range(50)]
    builder = around(SPLIT, listed(*rows), par=par, viper__stateless=True)
    assert run_built(builder).result("sink") == [(f"{c}{n}",) for n in range(50) for c in "abc"]


def test_a_spout_says_when_it_ends() -> None:
    report = run_spout([sys.executable, str(FIXTURES / "counting.py"), "5"])
    assert report.result("sink") == [(n,) for n in range(5)]


def test_a_spout_is_told_all_that_storm_tells() -> None:
    outputs = ["command", "id", Stream(["text"], name="tracked")]
    builder = behind([sys.executable, str(FIXTURES / "listening.py")], outputs)
    told = run_built(builder).result("sink")
    assert told[:2] == [("activate", None), ("next", None)]
    assert sorted(told[2:], key=str) == [("ack", "a"), ("ack", ["b", 1])]


def test_acks_that_come_at_the_emit_wait_for_its_answer(script: Script) -> None:
    command = script(
        """
        import speaking
        acked = []

        def next(id):
            for number in range(3):
                speaking.emit([number], id=number)
            assert acked == []
            speaking.end()

        def ack(id):
            acked.append(id)
            if len(acked) == 3:
                speaking.emit([acked])

        speaking.run_spout({"next": next, "ack": ack})
        """
    )
    rows = run_spout(command, topology__acker__executors=0).result("sink")
    assert rows == [(0,), (1,), (2,), ([0, 1, 2],)]


def test_an_id_of_any_kind_comes_back(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    command = script(
        """
        import speaking
        ids = [1, "a", ["b", {"c": None}], 2.5]

        def next(id):
            if ids:
                speaking.emit([str(ids[0])], id=ids.pop(0))
            elif len(heard) == 4:
                speaking.end()

        def ack(id):
            heard.append(id)
            speaking.log(repr(id))

        heard = []
        speaking.run_spout({"next": next, "ack": ack})
        """
    )
    assert len(run_spout(command).result("sink")) == 4
    for found in ("1", "'a'", "['b', {'c': None}]", "2.5"):
        assert found in [record.getMessage() for record in caplog.records]


class Values(Bolt):
    """Emits a value of each kind."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        for value in (b"\xc3\xa4", (1, 2), {1: 2}, "ä", None, 1.5, True):
            self.emit([value])


def test_values_are_those_of_json(script: Script) -> None:
    command = script("import speaking\nspeaking.run_bolt(lambda tup: speaking.emit(tup['tuple']))")
    builder = TopologyBuilder()
    builder.set_spout("source", listed(["x"]))
    builder.set_bolt("values", Values).shuffle_grouping("source")
    builder.set_bolt("same", shell(*command, outputs=["value"])).shuffle_grouping("values")
    builder.set_bolt("sink", CollectingSink).global_grouping("same")
    rows = run_built(builder).result("sink")
    assert rows == [("ä",), ([1, 2],), ({"1": 2},), ("ä",), (None,), (1.5,), (True,)]


class Tells(Bolt):
    """Emits its own task's id with what it receives."""

    outputs = ["task", "stream", "value"]

    def process(self, tup: Any) -> None:
        self.emit([self.task_id, tup.stream, *tup.values])


@pytest.mark.parametrize("workers", [{}, {"viper__worker": "process", "topology__workers": 2}], ids=str)
def test_streams_direct_tasks_and_ids_of_receivers(script: Script, workers: dict[str, Any]) -> None:
    command = script(
        """
        import speaking

        def initialize(conf, context):
            names = context["task->component"].items()
            speaking.tasks = sorted(int(task) for task, name in names if name == "tells")

        def process(tup):
            told = speaking.emit([tup["tuple"][0]], stream="named", anchors=[tup])
            assert told == [speaking.tasks[0]], told
            assert speaking.emit(["unseen"], stream="named", need_task_ids=False) is None
            assert speaking.emit(["direct"], stream="direct", task=speaking.tasks[1]) is None
            speaking.ack(tup)

        speaking.run_bolt(process, initialize)
        """
    )
    outputs = [Stream(["value"], name="named"), Stream(["value"], name="direct", direct=True)]
    builder = TopologyBuilder()
    builder.set_spout("source", listed(["x"], ["y"]) if not workers else Named)
    builder.set_bolt("bolt", shell(*command, outputs=outputs)).shuffle_grouping("source")
    tells = builder.set_bolt("tells", Tells, 2)
    tells.global_grouping("bolt", "named").direct_grouping("bolt", "direct")
    builder.set_bolt("sink", CollectingSink).global_grouping("tells")
    rows = run_built(builder, **workers).result("sink")
    tasks = sorted({task for task, *_ in rows})
    expected = []
    for value in ("x", "y"):
        expected += [
            (tasks[0], "named", value),
            (tasks[0], "named", "unseen"),
            (tasks[1], "direct", "direct"),
        ]
    assert rows == expected


class Named(listed(["x"], ["y"])):  # type: ignore[misc]
    """The same rows, from a class that other processes find."""

    __qualname__ = "Named"


def test_ticks_reach_the_program(script: Script) -> None:
    command = script(
        """
        import speaking

        def process(tup):
            if speaking.is_tick(tup):
                speaking.emit([[tup["comp"], tup["stream"], tup["task"], tup["tuple"]]])
            else:
                speaking.emit([tup["tuple"][1]])
            speaking.ack(tup)

        speaking.run_bolt(process)
        """
    )
    builder = TopologyBuilder()
    spout = listed([0, 0], [0, 999], [0, 1001], outputs=["n", "time"], **_TIMED)
    builder.set_spout("source", spout)
    bolt = builder.set_bolt(
        "bolt", shell(*command, outputs=["value"]), config={"topology.tick.tuple.freq.secs": 1}
    )
    bolt.shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
    tick = (["__system", "__tick", -1, [1]],)
    assert run_built(builder).result("sink") == [(0,), (999,), tick, (1001,), tick]


_TIMED = {"config": {"viper.timestamp.field": "time"}}


def test_logs_errors_and_metrics(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    command = script(
        """
        import sys, speaking

        def process(tup):
            for level in range(5):
                speaking.log(f"level {level}", level)
            speaking.say({"command": "log", "msg": "no level"})
            speaking.say({"command": "log", "msg": "level 7", "level": 7})
            speaking.error("Traceback: reported")
            speaking.metric("seen", {"n": 5})
            print("to stderr", file=sys.stderr)
            speaking.emit(["went on"])

        speaking.run_bolt(process)
        """
    )
    report = run_bolt(command, ["x"])
    assert report.result("sink") == [("went on",)]
    counters = report.components["bolt"]
    assert (counters.errors, counters.metrics) == (1, {"seen": {"n": 5}})
    said = [(r.levelname, r.getMessage()) for r in caplog.records if r.name == "viperstorm.component.bolt"]
    names = ["DEBUG", "DEBUG", "INFO", "WARNING", "ERROR"]
    expected = [(name, f"level {level}") for level, name in enumerate(names)]
    expected += [("INFO", "no level"), ("INFO", "level 7"), ("ERROR", "Traceback: reported")]
    assert [one for one in said if one[1] != "to stderr"] == expected
    assert ("INFO", "to stderr") in said


def test_what_a_program_emits_by_itself_is_fetched(script: Script) -> None:
    """A bolt that answers in the background has its last words at the end of the input at the latest."""
    command = script(
        """
        import speaking
        waiting = []

        def shake():
            speaking.shake_hands()
            while True:
                tup = speaking._command()
                if speaking.is_heartbeat(tup):
                    speaking.sync()  # before what waits, as a library does that answers in the background
                    while waiting:
                        speaking.emit(waiting.pop(0)["tuple"], need_task_ids=False)
                else:
                    waiting.append(tup)

        shake()
        """
    )
    assert run_bolt(command, ["a"], ["b"]).result("sink") == [("a",), ("b",)]


def test_acks_and_fails_reach_the_source(script: Script) -> None:
    command = script(
        """
        import speaking
        speaking.run_bolt(
            lambda tup: speaking.fail(tup) if tup["tuple"][0] % 2 else speaking.ack(tup)
        )
        """
    )
    counters = run_bolt(command, [0], [1], [2]).components["bolt"]
    assert (counters.acked, counters.failed) == (2, 1)


def test_shell_components_of_a_topology_class() -> None:
    class Counting(Topology):
        numbers = ShellSpout.spec(
            command=sys.executable, script=str(FIXTURES / "counting.py"), outputs=["value"]
        )
        sink = CollectingSink.spec(inputs=[numbers])

    assert run_topology(Counting, max_tuples=3).emitted("numbers") == [(0,), (1,), (2,)]

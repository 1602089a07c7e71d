"""The traffic of the pipes: much at once in any direction, and nothing for long; nobody waits for ever."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import pytest

from framework.frontends.multilang import program
from framework.model.errors import ComponentError
from framework.runtime import StopReason, StopSignal
from tests.framework.frontends.multilang.conftest import Script
from tests.framework.frontends.multilang.pieces import run_bolt, run_spout
from tests.framework.runtime.workers.components import open_gate, wait_at

Gate = Callable[[str], str]


def test_a_megabyte_of_stderr_holds_nobody_up(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    command = script(
        """
        import sys, speaking

        def process(tup):
            for number in range(10_000):
                print(f"{number:0100}", file=sys.stderr)
            sys.stderr.write("x" * 200_000 + "\\n")
            speaking.emit(["done"])

        speaking.run_bolt(process)
        """
    )
    assert run_bolt(command, ["x"]).result("sink") == [("done",)]
    lines = [r.getMessage() for r in caplog.records if r.name == "viperstorm.component.bolt"]
    assert lines[:10_000] == [f"{number:0100}" for number in range(10_000)]
    assert sum(map(len, lines[10_000:])) == 200_000


@pytest.mark.few(1)
@pytest.mark.parametrize("need_task_ids", [False, True])
def test_thousands_of_tuples_for_one(script: Script, need_task_ids: bool) -> None:
    command = script(
        f"""
        import speaking

        def process(tup):
            for number in range(5_000):
                speaking.emit([[number, "x" * 100]], need_task_ids={need_task_ids})

        speaking.run_bolt(process)
        """
    )
    rows = run_bolt(command, ["x"], ["y"], viper__channel__tuples=1024).result("sink")
    assert [row[0][0] for row in rows] == [*range(5_000)] * 2


def test_a_program_writes_much_before_it_reads(script: Script) -> None:
    """Both pipes are full: the tuple is larger than one, and so is what is said before it is read on."""
    command = script(
        """
        import json, sys, speaking
        speaking.shake_hands()
        speaking.read()
        speaking.sync()
        sys.stdin.read(1)
        for _ in range(2_000):
            speaking.emit(["x" * 1_000], need_task_ids=False)
        tup = json.loads("{" + sys.stdin.readline())
        sys.stdin.readline()
        speaking.emit([len(tup["tuple"][0])], need_task_ids=False)
        while True:
            speaking.read()
            speaking.sync()
        """
    )
    rows = run_bolt(command, ["y" * 3_000_000]).result("sink")
    assert len(rows) == 2_001
    assert rows[-1] == (3_000_000,)


def test_a_silent_program_is_waited_for(script: Script, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked after many times without an answer, and left alone."""
    monkeypatch.setattr(program, "CHECK_S", 0.001)
    here = gate("gate")
    looks, has_exited = [], program.Program._has_exited

    def counted(self: program.Program) -> bool:
        looks.append(1)
        if len(looks) == 50:
            threading.Thread(target=open_gate, args=[here]).start()
        return has_exited(self)

    monkeypatch.setattr(program.Program, "_has_exited", counted)
    command = script(
        f"import speaking\nspeaking.run_bolt(lambda tup: (open({here!r}).read(), speaking.emit(['awake'])))"
    )
    assert run_bolt(command, ["x"]).result("sink") == [("awake",)]
    assert len(looks) >= 50


def test_a_silent_program_is_killed_if_that_is_asked_for(script: Script) -> None:
    command = script("import signal, speaking\nspeaking.run_bolt(lambda tup: signal.pause())")
    with pytest.raises(
        ComponentError, match=r"has sent nothing for 0.3 s \(topology.subprocess.timeout.secs\)"
    ):
        run_bolt(command, ["x"], topology__subprocess__timeout__secs=0.3)


def test_a_spout_that_never_returns_flows_and_is_stopped(
    script: Script, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody waits for it to see the end of its stdin, at which it never looks."""
    monkeypatch.setattr(program, "EXIT_S", 1_000.0)
    command = script(
        """
        import itertools, speaking

        def next_tuple(id):
            for number in itertools.count():
                speaking.emit([number], need_task_ids=False)

        speaking.run_spout({"next": next_tuple})
        """
    )
    rows = run_spout(command, {"max_tuples": 2_000}).result("sink")
    assert rows[:2_000] == [(number,) for number in range(2_000)]
    assert "left behind" not in caplog.text


def test_a_spout_that_waits_for_ever_is_left_when_the_time_is_up(
    script: Script, gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    there, here, stop = gate("there"), gate("here"), StopSignal()
    waits = f"(open({there!r}, 'w').close(), open({here!r}).read())"
    command = script(f"import speaking\nspeaking.run_spout({{'next': lambda id: {waits}}})")

    def stop_when_there() -> None:
        wait_at(there)
        stop.request(StopReason.DURATION)

    stopping = threading.Thread(target=stop_when_there)
    stopping.start()
    run_spout(command, {"stop": stop}, viper__drain__timeout__secs=0)
    stopping.join()
    assert "has not returned from a callback" in caplog.text
    assert not [record for record in caplog.records if record.levelname == "ERROR"]  # it was we who killed it
    assert "is restarted" not in caplog.text

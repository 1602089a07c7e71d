"""The handshake: its messages, in every order that libraries send them in, and the folder for the pid."""

from __future__ import annotations

import logging
import sys
from pathlib import Path

import pytest

from framework.model.errors import ComponentError
from tests.framework.frontends.multilang.conftest import FIXTURES, Script
from tests.framework.frontends.multilang.pieces import around, run_bolt, run_spout
from tests.framework.runtime.pieces import listed, run_built

LATE = [sys.executable, str(FIXTURES / "late_pid.py")]


class TestPidFile:
    def test_a_bolt_may_create_it_after_it_has_sent_its_pid(self) -> None:
        assert run_bolt([*LATE, "bolt"], [1], [2]).result("sink") == [(1,), (2,)]

    def test_a_spout_may_do_so_too(self) -> None:
        assert run_spout([*LATE, "spout"]).result("sink") == [(0,), (1,), (2,)]

    @pytest.mark.parametrize("late", [False, True])
    def test_its_folder_is_gone_after_the_first_answer(self, script: Script, late: bool) -> None:
        begin = "speaking._commands.append(speaking.read())" if late else ""
        command = script(
            f"""
            import os, speaking
            setup = speaking.read()
            folder = setup["pidDir"]
            if not {late}:
                open(os.path.join(folder, str(os.getpid())), "w").close()
            speaking.say({{"pid": os.getpid()}})
            {begin}
            if {late}:
                open(os.path.join(folder, str(os.getpid())), "w").close()
            speaking.shake_hands = lambda: (setup["conf"], setup["context"])
            speaking.run_bolt(lambda tup: speaking.emit([os.path.isdir(folder)]))
            """
        )
        assert run_bolt(command, ["x"]).result("sink") == [(False,)]

    def test_its_folder_goes_with_a_program_that_fails(self, script: Script, temporary: Path) -> None:
        with pytest.raises(ComponentError, match="in the handshake"):
            run_bolt(script("import speaking\nspeaking.read()"), ["x"])
        assert list(temporary.iterdir()) == []

    def test_a_program_may_remove_the_folder(self, script: Script) -> None:
        command = script(
            """
            import os, speaking
            setup = speaking.read()
            os.rmdir(setup["pidDir"])
            speaking.say({"pid": os.getpid()})
            speaking.shake_hands = lambda: (setup["conf"], setup["context"])
            speaking.run_bolt(lambda tup: speaking.emit(tup["tuple"]))
            """
        )
        assert run_bolt(command, ["x"]).result("sink") == [("x",)]


def test_a_program_may_log_and_report_before_its_pid(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    """storm.js does so with whatever a component logs while it is initialized."""
    caplog.set_level(logging.INFO)
    command = script(
        """
        import os, speaking
        setup = speaking.read()
        speaking.log("logged first")
        speaking.error("reported first")
        speaking.metric("early", 1)
        speaking.say({"pid": os.getpid()})
        speaking.shake_hands = lambda: (setup["conf"], setup["context"])
        speaking.run_bolt(lambda tup: speaking.emit(tup["tuple"]))
        """
    )
    report = run_bolt(command, ["x"])
    assert report.result("sink") == [("x",)]
    assert (report.components["bolt"].errors, report.components["bolt"].metrics) == (1, {"early": 1})
    messages = [record.getMessage() for record in caplog.records]
    assert messages.index("logged first") < messages.index("reported first")


def test_an_emit_before_the_pid_is_refused(script: Script) -> None:
    command = script(
        "import speaking\nspeaking.read()\nspeaking.emit([1], need_task_ids=False)\nspeaking.read()"
    )
    with pytest.raises(ComponentError, match="expected its pid in the handshake"):
        run_bolt(command, ["x"])


def test_handshake(script: Script) -> None:
    command = script(
        """
        import os, speaking
        setup = speaking.read()
        folder = setup["pidDir"]
        open(os.path.join(folder, str(os.getpid())), "w").close()
        speaking.say({"pid": os.getpid()})
        speaking.sync()
        tup = speaking.read()
        again = speaking.read()
        conf, context = setup["conf"], setup["context"]
        told = [context[key] for key in ("componentid", "taskid", "source->stream->fields")]
        told += [conf["topology.name"], conf["mine"], os.path.isdir(folder)]
        speaking.emit(told, need_task_ids=False)
        speaking.sync()
        while True:
            speaking.read()
            speaking.sync()
        """
    )
    outputs = ["component", "task", "fields", "topology", "mine", "folder"]
    rows = run_built(around(command, listed(["x"]), outputs, mine={"a": 1})).result("sink")
    assert rows == [("bolt", 1, {"source": {"default": ["value"]}}, "tested", {"a": 1}, False)]


def test_what_json_cannot_carry_of_the_configuration_is_left_out(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    command = script(
        """
        import speaking
        speaking.run_bolt(
            lambda tup: speaking.emit(["mine" in conf]),
            lambda c, context: globals().update(conf=c),
        )
        """
    )
    assert run_built(around(command, listed(["x"]), mine={1, 2})).result("sink") == [(False,)]
    assert "configuration lacks mine: JSON cannot carry that" in caplog.text

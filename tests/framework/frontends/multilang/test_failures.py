"""Programs that fail, in every way: the error says what has happened, and what the program has said."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from framework import Stream, TopologyBuilder
from framework.frontends.builder import shell
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.planning.validation import check_runnable
from tests.framework.frontends.multilang.conftest import FIXTURES, Script
from tests.framework.frontends.multilang.pieces import STOP, around, behind, run_bolt, run_spout
from tests.framework.runtime.pieces import listed, run_built


def failing(command: Any, *rows: Any, **options: Any) -> str:
    """Run a bolt that fails, and return the error's message."""
    with pytest.raises(ComponentError) as error:
        run_bolt(command, *(rows or (["x"],)), **options)
    assert error.value.component == "bolt"
    return str(error.value)


class TestDeath:
    def test_of_a_bolt_in_process(self, script: Script) -> None:
        command = script(
            """
            import sys, speaking

            def process(tup):
                print("first line\\nlast line", file=sys.stderr)
                sys.exit(3)

            speaking.run_bolt(process)
            """
        )
        said = failing(command)
        assert "in process: ProgramError: the program" in said
        assert command[1] in said
        assert "has ended with exit status 3" in said
        assert "first line\n    last line" in said
        assert "tuple: Tuple(id=" in said

    def test_by_a_signal(self, script: Script) -> None:
        command = script("import os, speaking\nspeaking.run_bolt(lambda tup: os.kill(os.getpid(), 9))")
        assert "was killed by SIGKILL" in failing(command)

    def test_with_half_a_message(self, script: Script) -> None:
        command = script(
            "import os, speaking\nspeaking.run_bolt(lambda tup: (os.write(1, b'{\"comm'), os._exit(0)))"
        )
        said = failing(command)
        assert "has ended with exit status 0" in said
        assert """the last that it wrote: '{"comm'""" in said

    def test_of_a_spout(self, script: Script) -> None:
        command = script("import sys, speaking\nspeaking.run_spout({'next': lambda id: sys.exit(4)})")
        with pytest.raises(ComponentError, match=r"'spout', task 2, in next_tuple: .* exit status 4"):
            run_spout(command)

    def test_while_a_program_that_it_has_started_holds_its_pipes(self, script: Script) -> None:
        """Its stdout does not end then, and it is seen that the program itself has."""
        command = script(
            """
            import os, subprocess, sys, speaking

            def process(tup):
                waits = "import signal; signal.pause()"
                subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.DEVNULL)
                os._exit(5)

            speaking.run_bolt(process)
            """
        )
        assert "has ended with exit status 5" in failing(command)

    def test_of_its_stdout_only(self, script: Script) -> None:
        command = script(
            "import os, signal, speaking\nspeaking.run_bolt(lambda tup: (os.close(1), signal.pause()))"
        )
        assert "has closed its stdout" in failing(command)

    def test_of_its_stdin_only(self, script: Script) -> None:
        command = script(
            "import os, signal, speaking\nspeaking.run_bolt(lambda tup: (os.close(0), signal.pause()))"
        )
        assert "has closed its stdin" in failing(command)

    def test_a_reported_error_is_told(self, script: Script) -> None:
        command = script(
            """
            import sys, speaking

            def process(tup):
                speaking.error("Traceback: what has happened")
                sys.exit(1)

            speaking.run_bolt(process)
            """
        )
        assert "it has reported: Traceback: what has happened" in failing(command)


class TestStart:
    def test_exits_at_once(self, script: Script) -> None:
        said = failing(script("import sys; sys.exit('nothing to do here')"))
        assert "in initialize: " in said
        assert "has ended with exit status 1 in the handshake" in said
        assert "nothing to do here" in said

    def test_answers_something_else(self, script: Script) -> None:
        said = failing(script("import speaking; speaking.read(); speaking.sync(); speaking.read()"))
        assert "has sent {'command': 'sync'}: expected its pid in the handshake" in said

    def test_does_not_speak_json(self, script: Script) -> None:
        said = failing(script("print('ready', flush=True); input()"))
        assert "has written to stdout what is no message: 'ready' in the handshake" in said
        assert "print to stderr" in said

    def test_is_not_on_the_path(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "/nowhere:/elsewhere")
        said = failing(["no-such-program", "x"])
        assert (
            "the program 'no-such-program x' cannot be started: there is no 'no-such-program' on the PATH"
            in said
        )
        assert "/nowhere:/elsewhere" in said

    def test_is_not_in_the_folder(self) -> None:
        said = failing(["./no-such-program"])
        assert f"there is no './no-such-program' in the folder {os.getcwd()!r}" in said

    def test_is_not_executable(self, tmp_path: Path) -> None:
        file = tmp_path / "program"
        file.write_text("#!/bin/sh\n")
        assert f"{str(file)!r} is not executable" in failing([str(file)])

    def test_cannot_be_executed(self, tmp_path: Path) -> None:
        file = tmp_path / "program"
        file.write_text("#!/no/such/interpreter\n")
        file.chmod(0o755)
        assert "cannot be started: [Errno 2]" in failing([str(file)])

    def test_another_serializer(self, script: Script) -> None:
        command = script("import speaking; speaking.run_bolt(print)")
        said = failing(
            command, topology__multilang__serializer="com.yelp.pyleus.serializer.MessagePackSerializer"
        )
        assert "MessagePackSerializer': viper sends JSON to programs" in said

    def test_storms_own_serializer_is_the_same(self, script: Script) -> None:
        command = script("import speaking; speaking.run_bolt(lambda tup: speaking.emit([1]))")
        name = "org.apache.storm.multilang.JsonSerializer"
        assert run_bolt(command, ["x"], topology__multilang__serializer=name).result("sink") == [(1,)]


class TestBeforeTheRun:
    """Mistakes that can be seen before anything starts are refused then."""

    def refused(self, *command: str) -> list[str]:
        return [str(problem) for problem in check_runnable(around(command, listed(["x"])).build("t"))]

    def test_a_missing_program(self) -> None:
        (problem,) = self.refused("no-such-program", "x.rb")
        assert (
            "bolt 'bolt' is the program 'no-such-program x.rb': there is no 'no-such-program' on the PATH"
            in problem
        )

    def test_msgpack(self) -> None:
        words = sys.executable, "-m", "streamparse.run"
        for said in (["-s", "msgpack", "a.B"], ["-s msgpack a.B"], ["--serializer=msgpack", "a.B"]):
            (problem,) = self.refused(*words, *said)
            assert "it uses msgpack, and viper sends JSON to programs" in problem
        assert self.refused(*words, "-s", "json", "a.B") == []
        assert self.refused(sys.executable, "-s", str(FIXTURES / "split.py")) == []


class TestProtocol:
    @pytest.mark.parametrize(
        ("told", "said"),
        [
            ("print('hello', flush=True)", "what is no message: 'hello'"),
            (
                "speaking.say({'tuple': [1]})",
                "{'tuple': [1]}: expected "
                "'ack', 'emit', 'error', 'fail', 'log', 'metrics' or 'sync' as command",
            ),
            ("speaking.say({'command': ['emit']})", "{'command': ['emit']}: expected 'ack'"),
            ("speaking.say([1])", "has sent [1]: expected an object with a command"),
            ("speaking.say({'command': 'emit'})", "{'command': 'emit'}: expected 'tuple'"),
            ("speaking.emit({'a': 1})", "expected a list as 'tuple'"),
            ("speaking.emit([1], task='1')", "expected the id of a task as 'task'"),
            ("speaking.say({'command': 'ack'})", "{'command': 'ack'}: expected 'id'"),
            ("speaking.say({'command': 'emit', 'tuple': [1], 'anchors': 1})", "expected a list as 'anchors'"),
            (
                "speaking.say({'command': 'emit', 'tuple': [1], 'need_task_ids': 'false'})",
                "expected true or false as 'need_task_ids'",
            ),
            ("speaking.say({'command': 'metrics', 'params': 1})", "expected 'name'"),
        ],
    )
    def test_a_message_that_is_wrong_is_shown(self, script: Script, told: str, said: str) -> None:
        assert said in failing(script(f"import speaking\nspeaking.run_bolt(lambda tup: {told})"))

    def test_a_print_by_pystorms_own_is_named(self, script: Script) -> None:
        command = script(
            """
            import sys
            from pystorm import Bolt

            class Prints(Bolt):
                def process(self, tup):
                    print("forgotten", flush=True)

            Prints().run()
            """
        )
        assert "has written to stdout what is no message: 'forgotten'" in failing(command)

    @pytest.mark.parametrize("name", ["nowhere", "default"])
    def test_an_emit_that_cannot_be_is_an_error_of_the_component(self, script: Script, name: str) -> None:
        command = script(f"import speaking\nspeaking.run_bolt(lambda tup: speaking.emit([1, 2], {name!r}))")
        said = failing(command)
        assert "in process: EmitError: component 'bolt'" in said

    def test_a_value_that_is_no_json_is_refused_before_it_is_sent(self, script: Script) -> None:
        command = script("import speaking\nspeaking.run_bolt(lambda tup: None)")
        said = failing(command, [{1, 2}])
        assert "in process: ProgramError: JSON cannot carry {1, 2}, a set" in said
        assert "component 'bolt'" in said


class TestGoingOn:
    """With ``viper.on.error``: what comes after an error is right again."""

    def test_skips_a_tuple_that_cannot_be_told(self, script: Script) -> None:
        command = script("import speaking\nspeaking.run_bolt(lambda tup: speaking.emit(tup['tuple']))")
        report = run_bolt(command, [1], [{1, 2}], [3], viper__on__error="skip")
        assert report.result("sink") == [(1,), (3,)]

    def test_skips_an_emit_that_cannot_be_with_the_rest_of_its_answer(self, script: Script) -> None:
        command = script(
            """
            import speaking

            def process(tup):
                value = tup["tuple"][0]
                assert speaking.emit([value]) == [2]
                receivers = [2] if value == 1 else []
                assert speaking.emit([value] * value) == receivers
                assert speaking.emit(["after"]) == receivers

            speaking.run_bolt(process)
            """
        )
        report = run_bolt(command, [1], [2], [1], viper__on__error="skip")
        assert report.result("sink") == [(1,), (1,), ("after",), (2,), (1,), (1,), ("after",)]

    def test_restarts_a_program_that_has_died(self, script: Script, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        command = script(
            """
            import sys, speaking

            def process(tup):
                if tup["tuple"][0] == 2:
                    sys.exit(1)
                speaking.emit(tup["tuple"])

            speaking.run_bolt(process)
            """
        )
        report = run_built(around(command, listed([1], [2], [3])))  # nobody says anything else
        assert report.result("sink") == [(1,), (3,)]
        assert report.components["bolt"].restarts == 1


class TestPystorm:
    """After an error that it reports, pystorm sends a `sync` that nobody has asked for."""

    def test_its_error_puts_nothing_out_of_step(self, script: Script) -> None:
        command = script(
            """
            from pystorm import Bolt

            class Reports(Bolt):
                exit_on_exception = False

                def process(self, tup):
                    value = tup.values[0]
                    if value == 1:
                        raise ValueError("one")
                    if value == 2:
                        try:
                            raise ValueError("two")
                        except ValueError as error:
                            self.raise_exception(error, tup)
                    self.emit([value, "first"])
                    self.emit([value, "second"])

            Reports().run()
            """
        )
        values = range(6)
        builder = TopologyBuilder()
        builder.set_spout("source", listed(*([value] for value in values)))
        builder.set_bolt("bolt", shell(*command, outputs=["value", "which"])).shuffle_grouping("source")
        builder.set_bolt("sink", CollectingSink).global_grouping("bolt").global_grouping("source")
        report = run_built(builder)
        expected: list[tuple[Any, ...]] = []
        for value in values:  # a tuple of the source stands before what comes of it
            expected.append((value,))
            expected += [(value, which) for which in ("first", "second") if value != 1]
        assert report.result("sink") == expected
        assert report.components["bolt"].errors == 2


def test_a_direct_stream_needs_a_task(script: Script) -> None:
    command = script("import speaking\nspeaking.run_spout({'next': lambda id: speaking.emit([1])})")
    with pytest.raises(ComponentError, match="a direct stream needs direct_task="):
        run_built(behind(command, [Stream(["value"], direct=True)]), **STOP)

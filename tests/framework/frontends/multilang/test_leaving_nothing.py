"""No program is left at any end, nor a folder; `conftest` checks it after each test."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from framework.frontends.multilang import program as programs
from framework.frontends.multilang.host import host_program
from framework.model.errors import ComponentError
from framework.model.topology import ShellImplementation
from tests.framework.frontends.multilang.conftest import MARK, Script, marked
from tests.framework.frontends.multilang.pieces import around, run_bolt
from tests.framework.runtime.pieces import listed

Gate = Callable[[str], str]
REPOSITORY = Path(__file__).parents[4]

LISTENS = """
    import os, sys, speaking

    def activate(id):
        with open(sys.argv[1], "w") as pipe:
            print(os.getpid(), file=pipe)

    speaking.run_spout({"activate": activate})
"""
DEAF = LISTENS.replace("import os, sys, speaking", "import os, signal, sys, speaking").replace(
    "print(os.getpid(), file=pipe)", "print(os.getpid(), file=pipe)\n        signal.pause()"
)
"""As `LISTENS`, but it waits for signals only, so it does not see the end of its stdin."""
CHILD = """
    import subprocess, sys, speaking
    waits = "import signal; signal.pause()"
    child = subprocess.Popen([sys.executable, "-c", waits], stdin=subprocess.DEVNULL)
"""


def test_marked_processes_are_found() -> None:
    """Or the tests here would see nothing."""
    waiting = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (found,) = marked(os.environ[MARK])
        assert "sys.stdin.read()" in found
        process.communicate()


def test_a_program_that_does_not_look_at_its_stdin_is_killed(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "EXIT_S", 0.05)
    command = script(
        """
        import signal, speaking

        try:
            speaking.run_bolt(lambda tup: speaking.emit(["x"]))
        except SystemExit:  # at the end of stdin
            signal.pause()
        """
    )
    assert run_bolt(command, ["x"]).result("sink") == [("x",)]


def test_a_program_may_say_much_at_its_end(script: Script) -> None:
    """It gets to its end, as somebody takes what it says; 2 s would be over otherwise."""
    command = script(
        """
        import os, sys, speaking
        try:
            speaking.run_bolt(lambda tup: None)
        except SystemExit:
            for _ in range(3_000):
                speaking.log("x" * 1_000)
            open(os.environ["TMPDIR"] + "/ended", "w").close()
        """
    )
    run_bolt(command, ["x"])
    (Path(os.environ["TMPDIR"]) / "ended").unlink()


@pytest.mark.parametrize("ending", ["speaking.emit(['x'])", "sys.exit(1)"])
def test_what_a_program_has_started_ends_with_it(script: Script, ending: str) -> None:
    command = script(CHILD + f"    speaking.run_bolt(lambda tup: {ending})\n")
    if "exit" in ending:
        with pytest.raises(ComponentError, match="exit status 1"):
            run_bolt(command, ["x"])
    else:
        run_bolt(command, ["x"])


def test_others_are_ended_where_one_fails(script: Script) -> None:
    from framework import TopologyBuilder
    from framework.frontends.builder import shell
    from tests.framework.runtime.pieces import listed, run_built

    builder = TopologyBuilder()
    builder.set_spout("source", listed(["x"]))
    fine = script(CHILD + "    speaking.run_bolt(lambda tup: speaking.emit(['x']))\n")
    fails = script("import sys, speaking\nspeaking.run_bolt(lambda tup: sys.exit(1))")
    builder.set_bolt("fine", shell(*fine, outputs=["value"]), 2).shuffle_grouping("source")
    builder.set_bolt("fails", shell(*fails, outputs=["value"])).shuffle_grouping("fine")
    with pytest.raises(ComponentError):
        run_built(builder, viper__on__error="stop")


class TestAbandon:
    def test_kills_and_may_come_at_any_time(self, script: Script) -> None:
        command = script("import speaking\nspeaking.run_bolt(print)")
        bolt = around(command, listed(["x"])).build("t").component("bolt")
        host = host_program(bolt, ())
        host.abandon()  # before it has been started
        program = programs.Program(ShellImplementation(command), (), *_log())
        program.abandon()
        program.abandon()
        program.close()
        assert program._process.returncode == -signal.SIGKILL

    def test_after_the_end(self, script: Script) -> None:
        program = programs.Program(
            ShellImplementation(script("import speaking\nspeaking.shake_hands()")), (), *_log()
        )
        program.close()
        program.close()
        program.abandon()
        assert program._process.returncode is not None

    def test_by_another_thread_ends_the_waiting(
        self, script: Script, gate: Gate, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        import threading

        here = gate("gate")
        waiting = "import sys\nopen(sys.argv[1], 'w').close()\nsys.stdin.read()"
        program = programs.Program(ShellImplementation((*script(waiting), here)), (), *_log())
        with open(here) as pipe:
            pipe.read()
        killing = threading.Thread(target=program.abandon)
        read = program._pipes.read

        def read_while_it_is_killed(wait_s: float) -> bytes | None:
            if killing.ident is None:
                killing.start()
            return read(wait_s)

        monkeypatch.setattr(program._pipes, "read", read_while_it_is_killed)
        with pytest.raises(programs.ProgramError, match="was killed by SIGKILL"):
            program.receive()
        killing.join()
        assert program._process.stdin is not None and program._process.stdin.closed


def _log() -> tuple[object, object]:
    import logging

    from framework.operators.log import Origin

    return logging.getLogger("viperstorm.component.program"), Origin("program", 1)


@pytest.fixture
def running(script: Script, gate: Gate, tmp_path: Path) -> Iterator[Callable[..., tuple[int, int]]]:
    """Start ``viper run`` with a program that listens; returns both pids once it runs."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*options: str, text: str = LISTENS) -> tuple[int, int]:
        here = gate("gate")
        (tmp_path / "topology.yaml").write_text(
            f"name: killed\nspouts:\n  - id: spout\n    className: {SPOUT}\n    constructorArgs:\n"
            f"      - {list((*script(text), here))}\n      - [value]\n"
            "bolts:\n  - id: sink\n    className: framework.operators.sinks.CountingSink\n"
            "streams:\n  - {from: spout, to: sink, grouping: {type: GLOBAL}}\n".replace("\n", "\n"),
            "utf-8",
        )
        command = [sys.executable, "-m", "framework.cli", "run", str(tmp_path / "topology.yaml"), *options]
        process = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.DEVNULL)
        started.append(process)
        with open(here) as pipe:
            return process.pid, int(pipe.readline())

    yield start
    for process in started:
        with process:
            process.kill()


SPOUT = "org.apache.storm.flux.wrappers.spouts.FluxShellSpout"
pidfds = pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="there is no way to wait for any process")


@pytest.mark.few(1)
@pidfds
@pytest.mark.parametrize("workers", [(), ("-w", "2", "--worker", "process")], ids=["inline", "process"])
def test_a_run_that_is_killed(running: Callable[..., tuple[int, int]], workers: tuple[str, ...]) -> None:
    """The program sees the end of its stdin."""
    kill(*running(*workers))


@pytest.mark.few(1)
@pidfds
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux kills a process that looks at nothing")
@pytest.mark.parametrize("workers", [(), ("-w", "2", "--worker", "process")], ids=["inline", "process"])
def test_a_program_that_looks_at_nothing_ends_with_a_run_that_is_killed(
    running: Callable[..., tuple[int, int]], workers: tuple[str, ...]
) -> None:
    kill(*running(*workers, text=DEAF))


@pidfds
def test_an_interrupt_of_the_terminal_reaches_the_run_alone(running: Callable[..., tuple[int, int]]) -> None:
    """A program that dies of it could not finish what is in flight."""
    pid, program = running()
    assert os.getpgid(program) == program != os.getpgid(pid)
    kill(pid, program)


def kill(pid: int, program: int) -> None:
    """Kill a run, and wait until its program has ended, for which `conftest` sets a bound."""
    end = os.pidfd_open(program)
    os.kill(pid, signal.SIGKILL)
    select.select([end], [], [])
    os.close(end)

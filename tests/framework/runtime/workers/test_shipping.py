"""The classes, arguments and configuration that go to a worker process; refused before anything starts."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder
from framework.model.errors import ConfigError, TopologyError, WorkerError
from framework.operators.sinks import CollectingSink
from framework.runtime.workers import launcher
from framework.runtime.workers.starting import start
from tests.framework.runtime.workers.components import Forward, Numbers
from tests.framework.runtime.workers.conftest import REPOSITORY
from tests.framework.runtime.workers.running import PROCESSES, THREADS


def topology(middle: type[Bolt] = Forward, **options: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[10])
    builder.set_bolt("middle", middle, **options).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    return builder


@pytest.fixture
def nothing_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_arguments: Any) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr("framework.runtime.workers.launcher.start", start)
    monkeypatch.setitem(sys.modules, "cloudpickle", None)  # which would carry what these tests refuse


@pytest.mark.usefixtures("nothing_starts")
class TestRefused:
    def test_a_class_of_a_function(self) -> None:
        class Local(Forward):
            pass

        builder = topology(Local)
        builder.set_bolt("more", Local).shuffle_grouping("source")
        with pytest.raises(TopologyError) as caught:
            PROCESSES.run(builder)
        first, second = caught.value.problems
        assert "test_shipping.py" in str(first)
        assert first.message == (
            f"bolt 'middle' is the class {__name__}.TestRefused.test_a_class_of_a_function.<locals>.Local, "
            "which another process cannot import: install cloudpickle (pip install 'cloudpickle>=3.1'), "
            "which sends it as it is; or define it at the top level of a module, or run it with --worker "
            "inline (viper.worker)"
        )
        assert second.message.startswith("bolt 'more' is the class ")

    def test_a_class_whose_name_is_another_ones(self) -> None:
        shadowing = type("Forward", (Forward,), {"__module__": Forward.__module__})
        with pytest.raises(TopologyError, match=r"the class .*components\.Forward, which another process"):
            PROCESSES.run(topology(shadowing))

    def test_a_custom_grouping_of_a_function(self) -> None:
        class Choice:
            def prepare(self, context: Any, component: Any, stream: Any, targets: Any) -> None:
                self.targets = targets

            def choose_tasks(self, values: Any) -> list[int]:
                return [self.targets[0]]

        builder = topology()
        builder.set_bolt("chosen", Forward).custom_grouping("source", Choice)
        with pytest.raises(TopologyError, match=r"input from 'source': the custom grouping is .*\.Choice, w"):
            PROCESSES.run(builder)

    def test_a_value_that_cannot_be_carried(self) -> None:
        builder = topology(config={"callback": lambda: None})
        with pytest.raises(TopologyError, match=r"'middle' has .* value that cannot be carried .*<lambda>"):
            PROCESSES.run(builder)

    @pytest.mark.parametrize("number", [2**35, 2**40])
    def test_channels_larger_than_all_memory(self, number: int) -> None:
        with pytest.raises(ConfigError, match=r"needs \d{11,} bytes, .*lower .*viper\.channel\.bytes"):
            PROCESSES.run(topology(), viper__channel__bytes=number)

    def test_what_threads_may_share_is_none_of_their_business(self) -> None:
        class Local(Forward):
            pass

        assert len(THREADS.run(topology(Local), viper__channel__bytes=2**35).result("sink")) == 10


def test_a_process_that_cannot_be_started_ends_those_that_were(monkeypatch: pytest.MonkeyPatch) -> None:
    def start_two(context: Any, name: str, *arguments: Any) -> Any:
        if name == "viper-worker-3":
            raise OSError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return start(context, name, *arguments)

    monkeypatch.setattr(launcher, "start", start_two)
    with pytest.raises(WorkerError, match=r"process 3 of 3 cannot be started: .*; use fewer \(topology\.w"):
        PROCESSES.run(topology())


def test_runs_of_several_threads_start_at_the_same_time() -> None:
    main, environment = sys.modules["__main__"], dict(os.environ)
    with ThreadPoolExecutor(4) as pool:
        runs = [pool.submit(PROCESSES.run, topology()) for _ in range(4)]
        assert [len(done.result().result("sink")) for done in runs] == [10] * 4
    assert sys.modules["__main__"] is main
    assert dict(os.environ) == environment


SERVER = """
    import logging, multiprocessing
    from tests.framework.runtime.workers.running import PROCESSES
    from tests.framework.runtime.workers.test_shipping import topology

    logging.basicConfig(format="%(name)s %(message)s")
    if {first}:
        process = multiprocessing.get_context("forkserver").Process()
        process.start()
        process.join()
    print(len(PROCESSES.run(topology()).result("sink")))
"""


@pytest.mark.slow
def test_hashes_that_are_not_fixed_are_told_of() -> None:
    ran = run_python("-c", textwrap.dedent(SERVER).format(first=True))
    assert ran.stdout == "10\n"
    (line,) = ran.stderr.splitlines()
    assert line.startswith("viperstorm.worker the processes of this run have been started by a server that")
    ran = run_python("-c", textwrap.dedent(SERVER).format(first=False))
    assert (ran.stdout, ran.stderr) == ("10\n", "")


# -- main modules

RUN = """
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[10])
    builder.set_bolt("middle", {middle}).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    {guard}
        print(len(PROCESSES.run(builder).result("sink")))
"""
IMPORTS = """
    from framework import TopologyBuilder
    from framework.operators.sinks import CollectingSink
    from tests.framework.runtime.workers.components import Forward, Numbers
    from tests.framework.runtime.workers.running import PROCESSES

    class Mine(Forward):
        pass

"""
GUARD = 'if __name__ == "__main__":'
NO_GUARD = "if True:"


def run_python(*arguments: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        input=text,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=60,
    )


def code(middle: str, guard: str = GUARD) -> str:
    return textwrap.dedent(IMPORTS) + textwrap.dedent(RUN).format(middle=middle, guard=guard)


@pytest.mark.few(1)
@pytest.mark.parametrize("option", ["-c", "-"])
def test_what_is_typed_in_cannot_be_imported(option: str) -> None:
    typed = "import sys; sys.modules['cloudpickle'] = None\n" + code("Mine", NO_GUARD)
    ran = run_python("-c", typed) if option == "-c" else run_python("-", text=typed)
    assert ran.returncode == 1
    assert ran.stderr.splitlines()[-1].endswith(
        "bolt 'middle' is the class __main__.Mine, which another process cannot import: install cloudpickle "
        "(pip install 'cloudpickle>=3.1'), which sends it as it is; or define it at the top level of a "
        "module, or run it with --worker inline (viper.worker)"
    )


def test_what_is_typed_in_may_use_what_is_imported() -> None:
    ran = run_python("-c", code("Forward", NO_GUARD))
    assert (ran.stdout, ran.stderr) == ("10\n", "")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("middle", "guard"), [("Mine", GUARD), ("Forward", NO_GUARD)], ids=["its own classes", "no guard"]
)
def test_a_script(middle: str, guard: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(code(middle, guard))
    ran = run_python(str(script))
    assert (ran.stdout, ran.stderr) == ("10\n", "")

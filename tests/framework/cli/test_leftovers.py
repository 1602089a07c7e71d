"""Threads and processes of components that are left at the end of a command, which ends without them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from framework.cli.exit_codes import ExitCode
from tests.framework.cli.test_program import ran

TOPOLOGY = """
import atexit
import concurrent.futures
import multiprocessing
import threading

from viperstorm import Bolt, Grouping, Spout, Topology

NEVER = threading.Event()


def for_ever():
    NEVER.wait()


def starts():
    threading.Thread(target=for_ever, name="inner").start()
    NEVER.wait()


class Numbers(Spout):
    outputs = ["n"]

    def tuples(self):
        yield [1]
        {spout}


class Leaves(Bolt):
    outputs = []

    def initialize(self, conf, context):
        {initialize}

    def process(self, tup):
        {process}

    def close(self):
        {close}


class T(Topology):
    numbers = Numbers.spec()
    leaves = Leaves.spec(inputs={{numbers: Grouping.GLOBAL}})
"""
RUN = "from framework.cli import main, program; program.LAST_THREADS_S = {seconds}; main()"
THREAD = "threading.Thread(target=for_ever, name='mine').start()"


def run(folder: Path, *options: str, seconds: float = 0.05, **parts: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a run; nothing but what is looked for holds it for an hour."""
    text = TOPOLOGY.format(**{"spout": "", "initialize": "pass", "process": "pass", "close": "pass", **parts})
    (folder / "t.py").write_text(text)
    done = ran("-c", RUN.format(seconds=seconds), "run", "t.py", "--worker", "inline", *options, cwd=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("part", "component", "task"),
    [("initialize", "leaves", 1), ("process", "leaves", 1), ("close", "leaves", 1), ("spout", "numbers", 2)],
)
@pytest.mark.parametrize("worker", ["inline", "thread"])
def test_a_thread_that_never_ends(part: str, component: str, task: int, worker: str, tmp_path: Path) -> None:
    code, _, told = run(tmp_path, "-o", f"viper.worker={worker}", **{part: THREAD})
    assert code == ExitCode.OK
    assert f"the thread 'mine' of component '{component}', task {task}, goes on in for_ever, " in told
    assert re.search(
        r"t\.py:\d+; the command ends without it: end it in close\(\), or make it a daemon", told
    )
    assert told.count("the command ends without it") == 1
    assert "Traceback" not in told


def test_threads_of_threads_and_of_pools_that_are_busy(tmp_path: Path) -> None:
    pool = "self.pool = concurrent.futures.ThreadPoolExecutor(2, 'pool'); self.pool.submit(for_ever)"
    code, _, told = run(tmp_path, initialize=f"{pool}; threading.Thread(target=starts, name='outer').start()")
    assert code == ExitCode.OK
    for name in ("pool_0", "outer", "inner"):
        assert f"the thread '{name}' of component 'leaves', task 1, goes on in " in told


def test_the_exit_code_is_that_of_the_run(tmp_path: Path) -> None:
    code, _, told = run(tmp_path, initialize=THREAD, process="raise ValueError('as told')")
    assert code == ExitCode.FAILED
    assert told.index("as told") < told.index("the thread 'mine' of component 'leaves'")


def test_all_is_written_and_closed_before(tmp_path: Path) -> None:
    """Output of sinks and functions that are registered for the end of Python come, too."""
    close = "open('closed', 'w').write('yes'); atexit.register(print, 'at exit')"
    code, printed, told = run(
        tmp_path, "--print", "numbers", "--report", "report.json", initialize=THREAD, close=close
    )
    assert (code, printed) == (ExitCode.OK, "1\nat exit\n")
    assert (tmp_path / "closed").read_text() == "yes"
    assert json.loads((tmp_path / "report.json").read_text())["drained"]
    assert "goes on in for_ever" in told


def test_it_is_said_as_json_where_all_is(tmp_path: Path) -> None:
    code, _, told = run(tmp_path, "--log-format", "json", "-q", initialize=THREAD)
    said = [json.loads(line) for line in told.splitlines()]
    assert code == ExitCode.OK
    assert ["the thread 'mine' of" in line["message"] for line in said] == [True]


def test_a_process_that_never_ends(tmp_path: Path) -> None:
    begins = "multiprocessing.get_context('fork').Process(target=for_ever, name='child').start()"
    code, _, told = run(tmp_path, initialize=begins)
    assert code == ExitCode.OK
    (pid,) = re.findall(r"the process 'child' \(pid (\d+)\) that a component has started goes on; ", told)
    assert not Path("/proc", pid, "exe").exists()


def test_what_ends_by_itself_is_waited_for_and_not_told_of(tmp_path: Path) -> None:
    """Python ends the threads of a pool that has nothing to do; others are waited for."""
    pool = "self.pool = concurrent.futures.ThreadPoolExecutor(2); self.pool.submit(print).result()"
    ends = "threading.Thread(target=lambda: (NEVER.wait(0.2), open('done', 'w').write('yes'))).start()"
    code, _, told = run(tmp_path, "-q", seconds=3600, initialize=pool, close=ends)
    assert (code, "the thread" in told) == (ExitCode.OK, False)
    assert (tmp_path / "done").read_text() == "yes"


def test_run_of_python_leaves_its_caller_alone(tmp_path: Path) -> None:
    text = TOPOLOGY.format(spout="", initialize=THREAD, process="pass", close="pass")
    (tmp_path / "t.py").write_text(text)
    after = "import t, viperstorm; viperstorm.run(t.T, worker='inline'); print('after'); t.NEVER.set()"
    done = ran("-c", after, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "after\n")
    assert "the thread" not in done.stderr

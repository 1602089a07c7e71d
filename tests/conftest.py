"""The rules that hold for every test, in whichever of several test processes it runs."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections import defaultdict
from collections.abc import Generator, Iterator
from multiprocessing.util import Finalize
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import settings

from tests.portions import few_of
from tests.rotation import is_due, seeds_of_this_run

# Examples are drawn the same way each time; a failure prints how to draw its example again. There is no
# deadline, since the machine may be busy with something else.
settings.register_profile("viper", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("viper")

# A shell that starts the tests in the background makes them, and all that they start, ignore these signals.
for _number, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


REPOSITORY = Path(__file__).parents[1]


def pytest_configure(config: pytest.Config) -> None:
    """Refuse a C layer that was compiled before its sources changed: tests fail then where nobody looks."""
    compiled = sorted((REPOSITORY / "viper").glob("*.so"))
    sources = [path for name in ("cbackend", "viper") for path in (REPOSITORY / name).rglob("*.[ch]")]
    sources = [path for path in sources if not {"build", "tests"} & set(path.relative_to(REPOSITORY).parts)]
    oldest_s = min((path.stat().st_mtime for path in compiled), default=0.0)
    if compiled and (newer := [path for path in sources if path.stat().st_mtime > oldest_s]):
        raise pytest.UsageError(
            f"what is compiled of C is older than {newer[0].relative_to(REPOSITORY)}: run make .venv/.test"
        )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the thousands of items from Python's collector of cycles, which would go through all of them.

    Tests that collect by themselves took 0.3 s for that, twice each.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _rotates(item: pytest.Item) -> bool:
    mark = item.get_closest_marker("slow")
    return mark is not None and not mark.kwargs.get("daily")


def _leave_few(items: list[pytest.Item]) -> None:
    """Mark as slow all but the few cases that a test has at every change, or in CI each day."""
    tests: dict[tuple[str, int, bool], list[pytest.Function]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("few")
        if mark and isinstance(item, pytest.Function) and not item.get_closest_marker("slow"):
            tests[item.nodeid.partition("[")[0], mark.args[0], mark.kwargs.get("daily", False)].append(item)
    for (_, count, daily), cases in tests.items():
        taken = few_of([case.callspec.indices for case in cases], count)
        for index, case in enumerate(cases):
            if index not in taken:
                case.add_marker(pytest.mark.slow)
            elif daily:
                case.add_marker(pytest.mark.slow(daily=True))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item], config: pytest.Config) -> None:
    """Mark what needs a Spark, before marks are looked at, and leave out the slow tests of other days."""
    for item in items:
        if {"spark", "java"} & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.spark)
        if "broker" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.kafka)
    _leave_few(items)
    others = [item for item in items if _rotates(item) and not is_due(item.nodeid)]
    if others:
        left_out = set(others)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=others)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how to draw the same samples again."""
    terminalreporter.write_line(f"samples: {seeds_of_this_run()}")


@pytest.fixture(scope="session", autouse=True)
def _workers_that_know_pytest() -> Iterator[None]:
    """Have worker processes forked from one that has imported pytest, as the modules of their components do.

    A run on three of them takes 0.09 instead of 0.49 s of processor time.
    """
    from framework.runtime.workers import starting

    preloaded = starting.preloaded
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(starting, "preloaded", lambda: [*preloaded(), "pytest"])
        yield


@pytest.fixture(scope="session", autouse=True)
def _tests_that_stay_frozen() -> Iterator[None]:
    """Keep runs in this process from thawing the collected tests at their end.

    A full collection, of which tests of memory make two each, takes half a second with these.
    """
    from framework.runtime.workers import worker

    calm = SimpleNamespace(
        get_threshold=gc.get_threshold,
        set_threshold=gc.set_threshold,
        freeze=lambda: None,
        unfreeze=lambda: None,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "gc", calm)
        yield


@pytest.fixture(scope="session", autouse=True)
def _own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Give each test process its own folder for temporary files, so that what is left there is its own.

    Its path is short: sockets lie in it, and the paths of those are limited to about a hundred characters.
    """
    tmp_path_factory.getbasetemp()  # stays where it is kept after the tests
    before, folder = os.environ.get("TMPDIR"), tempfile.mkdtemp(prefix="vt-")
    os.environ["TMPDIR"], tempfile.tempdir = folder, None
    # At the very end: behind what multiprocessing itself removes there, at -100.
    Finalize(None, shutil.rmtree, args=(folder, True), exitpriority=-200)
    yield
    tempfile.tempdir = None
    if before is None:
        del os.environ["TMPDIR"]
    else:
        os.environ["TMPDIR"] = before


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the caller's own configuration out of the tests."""
    for variable in list(os.environ):
        if variable.startswith("VIPER_") or variable in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(variable)

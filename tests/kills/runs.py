"""Runs of one topology: undisturbed, with workers that are killed, and killed as a whole again and again."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from framework.model.errors import ViperError
from framework.runtime import Run, RunOptions, RunReport
from framework.runtime.coordination import cut_leader, reconfiguring
from framework.runtime.coordination.stop import StopReason
from tests import shared_memory
from tests.framework.runtime.pieces import plan_of
from tests.kills.deaths import PLAN, Plan, counting, planned
from tests.kills.scaling import scaled
from tests.kills.settings import drawn_settings
from tests.kills.shapes import built

REPOSITORY = Path(__file__).parents[2]
CHECKPOINTS = {"viper__checkpoint__secs": 0.01, "viper__checkpoint__keep": 1000}
LONGEST_S = 240.0
"""Seconds after which a run that is killed as a whole counts as one that hangs."""
ROOMY = {"viper__channel__jumbos": 64, "viper__channel__tuples": 65536, "viper__channel__bytes": 4194304}
"""The room of channels if positions are saturated: a merge takes all rows of one position from one source
before those of the next; these must find room meanwhile."""
MARGIN_S = 0.001
"""The margin by which checkpoints are cut ahead of the sources, as runs here are short."""
POINTS_OF_A_START = 40
"""The number of points that a process passes before its tasks run, or so."""
Outputs = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One topology with one configuration, and what is killed of it."""

    name: str
    seed: int
    count: int
    kills: int
    """The most deaths or suspensions; they are spread over the whole run."""
    checkpoints: bool = False
    """True if checkpoints are made meanwhile, for which all sources are partitioned."""
    workers: int = 3
    scaled: bool = False
    """True if bolts get other numbers of tasks all the time."""
    options: tuple[tuple[str, Any], ...] = ()
    """Settings in the place of drawn ones."""
    plant: str = ""
    is_swift: bool = False
    """True if workers are killed faster than they recover."""

    def __str__(self) -> str:
        made = ", with checkpoints" if self.checkpoints else ""
        made += "".join(f", {key.replace('__', '.')}: {value}" for key, value in self.options)
        scaled = ", scaled" if self.scaled else ""
        return f"{self.name!r}, seed {self.seed}, {self.count} rows, {self.workers} workers{made}{scaled}"

    def settings(self, folder: Path) -> dict[str, Any]:
        """Make the settings of the run."""
        builder = built(
            self.name, folder, self.seed, self.count, partitioned=self.checkpoints, scaled=self.scaled
        )
        return {
            **drawn_settings(random.Random(self.seed), builder, self.workers),
            **(CHECKPOINTS if self.checkpoints else {}),
            "viper__worker": "process",
            "topology__workers": self.workers,
            "viper__recovery": "exact",
            "viper__worker__restart__tries": 1000,
            "viper__worker__restart__window__secs": 0.2,  # so that pauses stay short
            **(ROOMY if self.name == "saturated" else {}),
            **{key: value for key, value in self.options},
        }


class WrongError(AssertionError):
    """A run that was killed has done something else than an undisturbed one."""


def run_of(
    case: Case, folder: Path, par: int | None = None, *, is_whole: bool = False, **options: Any
) -> Run:
    """A run in a folder; unless it is to be whole, with its checkpoints, and from the last one of them."""
    builder = built(
        case.name, folder, case.seed, case.count, par, partitioned=case.checkpoints, scaled=case.scaled
    )
    plan, settings = plan_of(builder, **options)
    if is_whole or not case.checkpoints:
        return Run(plan, settings)
    kept = folder / "checkpoints"
    start = kept if any(kept.glob("checkpoint-*")) else None
    return Run(plan, settings, RunOptions(checkpoints=kept, start=start))


def outputs(folder: Path) -> Outputs:
    """Read the output of all sinks, by file."""
    return {path.name: _content(path) for path in sorted((folder / "out").iterdir()) if _is_seen(path)}


def _is_seen(path: Path) -> bool:
    return not path.name.startswith(".") and not path.name.endswith(("-wal", "-shm", "staging"))


def _content(path: Path) -> Any:
    if path.suffix != ".db":
        return path.read_bytes()
    database = sqlite3.connect(path)
    try:
        return database.execute("select * from rows order by rowid").fetchall()
    finally:
        database.close()


def undisturbed(case: Case, folder: Path) -> tuple[Outputs, float]:
    """Run undisturbed in this process; return the output, and how many points it passes for each death."""
    calm = {"viper__worker": "inline", "topology__workers": 1, "viper__placement": "round-robin"}
    with counting() as points:
        run_of(case, folder, is_whole=True, **{**case.settings(folder), **calm}).execute()
    return outputs(folder), points[0] / max(case.kills, 1) + POINTS_OF_A_START


def killed(case: Case, folder: Path, gap: float) -> RunReport:
    """Run it in worker processes that are killed."""
    plan = Plan(str(folder / "deaths"), case.seed, case.kills, gap, plant=case.plant, is_swift=case.is_swift)
    near = patch.object(reconfiguring, "MARGIN", cut_leader.Margin(MARGIN_S, MARGIN_S))
    with planned(plan), patch.object(cut_leader, "MARGIN_S", MARGIN_S), near:
        run = run_of(case, folder, **case.settings(folder))
        with scaled(run, case.seed) if case.scaled else contextlib.nullcontext():
            return run.execute()


class Disturbances(NamedTuple):
    """The disturbances of a run."""

    deaths: int
    """Of worker processes."""
    changes: int
    """Of numbers of tasks, by component."""


def check_killed(case: Case, folder: Path) -> Disturbances:
    """Compare a run whose workers are killed with an undisturbed one.

    Raises:
        WrongError: it differs, has failed, or has left something behind.
    """
    expected, gap = undisturbed(case, folder / "calm")
    before = shared_memory.names()
    try:
        report = killed(case, folder / "killed", gap)
    except ViperError as error:
        raise WrongError(f"{case}: {type(error).__name__}: {error}") from error
    if report.reason is not StopReason.EXHAUSTED:
        raise WrongError(f"{case}: ended as {report.reason}")
    for incident in report.incidents:
        if incident.lost or incident.state_lost:
            raise WrongError(f"{case}: {incident}")
    compare(case, expected, folder / "killed")
    left = shared_memory.left_since(before)
    if left or multiprocessing.active_children():
        raise WrongError(f"{case}: left behind {left}, {multiprocessing.active_children()}")
    return Disturbances(len(report.incidents), len(report.statistics.scaled))


def compare(case: Case, expected: Outputs, folder: Path) -> None:
    """Compare what a run has written.

    Raises:
        WrongError: it is something else.
    """
    found = outputs(folder)
    if found.keys() != expected.keys():
        raise WrongError(f"{case}: wrote {sorted(found)}, expected {sorted(expected)}")
    for name, content in expected.items():
        if found[name] != content:
            raise WrongError(f"{case}: {name}: {_difference(found[name], content)}")


def _difference(found: Any, expected: Any) -> str:
    if isinstance(found, bytes):
        found, expected = found.splitlines(), expected.splitlines()
    pairs = enumerate(zip(found, expected, strict=False))
    nth = next((nth for nth, (one, other) in pairs if one != other), min(len(found), len(expected)))
    return (
        f"{len(found)} rows, expected {len(expected)}; from row {nth}: {found[nth : nth + 3]}, "
        f"expected {expected[nth : nth + 3]}"
    )


# -- runs that are process groups of their own

SUSPENDED = 3
"""The exit code of a run that was suspended."""


def check_killed_as_a_whole(
    case: Case, folder: Path, workers: str = "process", *, alone: bool = False
) -> int:
    """Kill all processes of a run at once, resume from the last checkpoint, and so on; as `check_killed`.

    Args:
        case: with checkpoints.
        folder: where it writes.
        workers: their kind.
        alone: whether the leader alone is killed, and what it leaves has to end, with nothing left behind.
    """
    target = folder / "killed"
    whole = ("leader", "worker") if workers == "process" and not alone else ("leader",)
    with _alone(case, folder) as (environ, gap):
        kills = 0
        plan = Plan(
            str(target / "deaths"),
            case.seed,
            case.kills,
            # As points count behind the first checkpoint, and much is done once more; a leader passes few.
            POINTS_OF_A_START if alone else gap / 4,
            whole=whole,
            alone=alone,
            after=str(target / "checkpoints"),
            plant=case.plant,
        )
        while (code := _code(case, target, plan, environ, workers)) != 0:
            _expect(code == -signal.SIGKILL, case, f"behind {kills} kills of the group: exit code {code}")
            kills += 1
            if alone:
                _expect_nothing_left(case, Path(environ["TMPDIR"]), target)
    return kills


def check_leader_killed(case: Case, folder: Path) -> int:
    """As `check_killed_as_a_whole`, where the process that leads the run is killed alone."""
    return check_killed_as_a_whole(case, folder, alone=True)


def _expect_nothing_left(case: Case, *folders: Path) -> None:
    """Of a run whose leader was killed no process has stayed, and no socket in these folders."""
    sockets = [path for folder in folders for path in folder.rglob("*") if path.is_socket()]
    _expect(not sockets, case, f"left behind {sockets}")


def check_suspended(case: Case, folder: Path) -> int:
    """Suspend a run again and again, and continue with another parallelism and kind of workers each time.

    Returns:
        How often it was suspended.
    """
    target, chance = folder / "killed", random.Random(case.seed)
    suspended = 0
    with _alone(case, folder) as (environ, gap):
        code = SUSPENDED
        while code != 0:
            workers, par = chance.choice(("inline", "process")), chance.choice((1, 2, 5))
            who = ("worker",) if workers == "process" else ("leader",)
            deaths, sooner = str(target / "deaths"), gap / 3  # as one that comes too late is none
            plan = Plan(deaths, case.seed, case.kills, sooner, whole=who, suspends=True, plant=case.plant)
            code = _code(case, target, plan, environ, workers, par)
            _expect(code in (0, SUSPENDED), case, f"behind {suspended} suspensions: exit code {code}")
            suspended += code == SUSPENDED
    return suspended


@contextlib.contextmanager
def _alone(case: Case, folder: Path) -> Iterator[tuple[dict[str, str], float]]:
    """An environment for runs as programs, and the points for each death; after the block, what they have
    written and left is looked at."""
    assert case.checkpoints
    (expected, gap), target = undisturbed(case, folder / "calm"), folder / "killed"
    (target / "deaths").mkdir(parents=True)
    temporary, before = Path(tempfile.mkdtemp(prefix="vk-")), shared_memory.names()
    try:
        yield {**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(temporary)}, gap
        compare(case, expected, target)
        recorded = {path.name for path in temporary.rglob("vp-*")}
        left = {name for name in shared_memory.names() - before if name in recorded}
        _expect(not left, case, f"left behind {left}")
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _expect(holds: bool, case: Case, told: str) -> None:
    if not holds:
        raise WrongError(f"{case}: {told}")


def _code(
    case: Case, folder: Path, plan: Plan, environ: dict[str, str], workers: str, par: int | None = None
) -> int:
    """The exit code of a run as a program of its own; what it tells goes to a file."""
    settings = case.settings(folder) | {"viper__worker": workers}
    if plan.suspends:  # which waits for nothing else then
        settings["viper__checkpoint__secs"] = None
    if workers != "process":
        settings |= {"topology__workers": 1, "viper__placement": "round-robin"}
    arguments = [str(folder), json.dumps(asdict(case)), json.dumps(par), json.dumps(settings)]
    command = [sys.executable, "-W", "error", "-m", "tests.kills.program", *arguments]
    environ = {**environ, PLAN: json.dumps(asdict(plan))}
    with open(folder / "told", "a", encoding="utf-8") as told:
        running = subprocess.Popen(
            command, env=environ, cwd=REPOSITORY, start_new_session=True, stdout=told, stderr=told
        )
        try:
            code = running.wait(LONGEST_S)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.wait()
            raise WrongError(f"{case}: a run hangs") from None
    until_s = time.monotonic() + LONGEST_S
    while left := _processes_of(running.pid):
        if time.monotonic() > until_s:
            os.killpg(running.pid, signal.SIGKILL)
            raise WrongError(f"{case}: processes {left} have stayed")
        time.sleep(0.01)
    return code


def _processes_of(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, of = stat.read_text(errors="replace").rpartition(")")[2].split()[:3]
            if int(of) == group and state not in "ZX":
                found.append(int(stat.parent.name))
    return found

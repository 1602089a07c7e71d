"""``python -m tests.kills.evaluating FOLDER SEED KILLS [SIGNAL]``: the ledger, killed inside evaluations.

Each worker process draws a named point of the evaluator, and how often it passes that before it dies, from
the seed and from how many have died. With a SIGNAL, CONT or KILL, the first ones stop instead, until all
others wait, and get that. It runs with the backend of `tests.kills.pointed`.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from framework import run
from framework.runtime import RunReport
from framework.runtime.workers.worker import Worker
from tests.kills.components import Written
from tests.kills.pointed import REPOSITORY, arm
from viper.transactions.group import Group

sys.path.insert(0, str(REPOSITORY / "topologies"))

from tests.topologies.transactions import cases, variants

PLAN = "EVALUATION_KILL_PLAN"
"""The environment variable with the folder of marks, the seed and the most deaths."""
POINTS = (
    *("evaluate: frontier", "evaluate: begun", "evaluate: between", "evaluate: alone"),
    *("undo: noted", "undo: counted", "undo: written"),
    *("evaluated: not yet", "evaluated: done", "evaluated: log told", "evaluated: all told"),
    *("lease: looked for", "lease: held still", "lease: given"),
)
"""The points that the evaluator passes here; after the last one the lease is given back already. The ledger
takes nothing back, as it checks before it writes."""


class Transfer(variants.PoorTransfer):
    """Of the ledger; its process is armed, as it imports this."""


class Audit(variants.PoorTransfer):
    """Sums up all accounts, alone, at some transfers."""

    outputs = ["event", "total"]

    def process(self, tup: Any) -> None:
        if tup.values[0] % 40 == 0:
            accounts, _ = self.tables
            self.alone(tup, lambda view: sum(row[1] for row in view.rows(accounts)))

    def process_result(self, tup: Any, result: Any) -> None:
        self.emit([tup.values[0], result.values[0]])


def ledger(folder: Path, events: int, **options: Any) -> RunReport:
    """A run; options with dots written as ``__``."""
    spout = cases.part("transactions.spouts").StreamingLedger(
        events, cases.SEED, 2, dict(cases.PARAMETERS["streaming_ledger"])
    )
    bolts = {"deposit": variants.PoorDeposit, "transfer": Transfer}
    builder = cases.part("transactions_builder").streaming_ledger(
        spout, Written(str(folder / "answers")), 2, False, bolts
    )
    builder.set_bolt("audit", Audit, 2).shuffle_grouping("parser", "transfers")
    builder.set_bolt("totals", Written(str(folder / "totals"))).global_grouping("audit")
    saved = {name: {"save": str(folder / f"{name}.csv")} for name in ("accounts", "assets")}
    conf = {key.replace("__", "."): value for key, value in options.items()}
    return run(builder.build("streaming-ledger"), conf={"viper.tables": saved, **conf})


def seen(report: RunReport, folder: Path) -> list[Any]:
    """All that a run puts out."""
    tables = [report.table(name) for name in ("accounts", "assets")]
    files = ("answers", "totals", "accounts.csv", "assets.csv")
    return [*tables, *((folder / name).read_bytes() for name in files)]


@contextmanager
def burials() -> Iterator[list[bool]]:
    """Gives, while the block runs, for each burial whether the dead one was inside an evaluation."""
    found: list[bool] = []
    bury = Group.bury

    def watched(self: Group, holder: int) -> bool:
        found.append(bury(self, holder))
        return found[-1]

    Group.bury = watched  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Group.bury = bury  # type: ignore[method-assign]


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


def _times(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]


def wake(marks: Path, number: int, woken: list[str]) -> None:
    """Send a signal to the first process that stops, once no other worker does anything; note its state."""
    while not (told := "".join(path.read_text() for path in marks.iterdir())).endswith("\n"):
        time.sleep(0.01)
    stopped = int(told)
    while _state(stopped) != "T":
        time.sleep(0.01)
    others = [pid for child in multiprocessing.active_children() if (pid := child.pid) not in (None, stopped)]
    before, quiet = None, 0
    while quiet < 20:  # looks at which nobody has come further
        now = [_times(pid) for pid in others if pid is not None]
        quiet = quiet + 1 if now == before else 0
        before = now
        time.sleep(0.02)
    woken.append(_state(stopped))
    os.kill(stopped, number)


def main(folder: str, seed: str, kills: str, then: str = "") -> int:
    """Print where processes have died, and which of them inside evaluations; 1 if that shows."""
    calm, disturbed, marks = (Path(folder, name) for name in ("calm", "disturbed", "marks"))
    for path in (calm, disturbed, marks):
        path.mkdir(parents=True)
    events = 40 * int(kills)
    expected = seen(ledger(calm, events, viper__worker="inline"), calm)
    rows, tables = cases.expected("streaming_ledger", events=events)
    assert expected[2].decode().splitlines() == [repr(row) for row in rows]
    assert [[row[:2] for row in found] for found in expected[:2]] == list(tables.values())
    number = signal.SIGSTOP if then else signal.SIGKILL
    os.environ[PLAN] = json.dumps([str(marks), int(seed), 1 if then else int(kills), number])
    woken: list[str] = []
    if then:
        ends = getattr(signal, f"SIG{then}")
        threading.Thread(target=wake, args=(marks, ends, woken), daemon=True).start()
    with burials() as buried:
        report = ledger(
            disturbed,
            events,
            viper__worker="process",
            topology__workers=3,
            viper__recovery="exact",
            viper__transactions__gather=random.Random(seed).choice((1, 3, 8)),
            viper__slice__tuples=8,
            viper__worker__restart__tries=1000,
            viper__worker__restart__window__secs=0.2,
        )
    points = [path.name.split(" ", 2)[2] for path in sorted(marks.iterdir())]
    is_same = seen(report, disturbed) == expected
    told = {"points": points, "inside": sum(buried), "deaths": len(buried), "woken": woken, "same": is_same}
    print(json.dumps(told))
    return 0 if is_same else 1


def _arm_worker() -> None:
    run_tasks = Worker.run

    def running(self: Worker) -> None:
        folder, seed, kills, number = json.loads(os.environ[PLAN])
        so_far = len(os.listdir(folder))
        # Of those who would stop, only one does.
        name = "one" if number == signal.SIGSTOP else os.getpid()
        chance = random.Random(f"{seed} {so_far} {multiprocessing.current_process().name}")
        point, passes = POINTS[(seed + so_far) % len(POINTS)], 1 + int(chance.expovariate(0.2))
        if point == "evaluate: alone":  # which is passed seldom
            passes = 1
        mark = Path(folder, f"{so_far:04} {name} {point}")
        if so_far < kills:
            arm(point, passes, number, mark)
        try:
            run_tasks(self)
        finally:
            arm(point, 0, 0, mark)

    Worker.run = running  # type: ignore[method-assign]


if multiprocessing.parent_process() is not None and PLAN in os.environ:
    _arm_worker()

if __name__ == "__main__":
    # Worker processes must know the classes by a name of their own, not as of the main module.
    from tests.kills import evaluating

    sys.exit(evaluating.main(*sys.argv[1:]))

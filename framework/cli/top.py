"""``viper top``: observe a run from outside."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from framework.cli.live_table import PERIOD_S, live_lines
from framework.cli.messages import note
from framework.cli.parameters import run_argument
from framework.cli.progress import StatusLine, can_animate

if TYPE_CHECKING:
    from framework.runtime.observation import ComponentRates, RunSnapshot


@click.command()
@run_argument
@click.option("--json", "as_json", is_flag=True, help="Print an object per look, a line each.")
@click.option(
    "--interval",
    "interval_s",
    type=click.FloatRange(min=0.1),
    default=PERIOD_S,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait between two looks.",
)
@click.option("--looks", type=click.IntRange(min=1), help="End after so many.")
def top(run: str, as_json: bool, interval_s: float, looks: int | None) -> None:
    """Show what each component of RUN does, until the run ends or Ctrl-C.

    RUN is an id or the name of a topology, as viper ps shows them; or a folder by which the run is found
    (viper run --control, --checkpoints). The run continues as it would: no task is asked. On a terminal the
    table refreshes, and the last one stays; elsewhere one is printed after the second look, and that is all.
    With --looks 1 it has averages since the beginning. Exit code 1 if there is no such run.
    """
    from framework.runtime.coordination.registry import control_of

    control = control_of(run)
    once = _Once()
    if as_json:
        show, last = _as_json, None
    elif looks != 1 and can_animate(sys.stdout):
        line = StatusLine(sys.stdout, animated=True)
        screen = _Screen(line)

        def show(snapshot: RunSnapshot) -> None:
            once.take(snapshot)
            screen.show(snapshot)

        def last() -> None:
            line.clear()
            once.print()
    else:
        show, last, looks = once.take, once.print, looks or 2
    try:
        ended = watch(lambda: looked_at(control), show, lambda: time.sleep(interval_s), looks)
    except KeyboardInterrupt:
        ended = False
    finally:
        if last is not None:
            last()
    if ended:
        note("the run has ended")


def looked_at(control: Path) -> RunSnapshot:
    """A snapshot of the run that is commanded by a folder.

    Raises:
        SuspendError: none is, or it ends just now.
        ViperError: it is of another version.
    """
    from framework.runtime.coordination.commands import SOCKET, ask, nobody_at
    from framework.runtime.observation import RunSnapshot

    if not (control / SOCKET).exists():  # who asks holds the folder's lock for a moment, which a run wants
        raise nobody_at(control)
    return RunSnapshot.from_object(ask(control, "look"))


def watch(
    look: Callable[[], RunSnapshot],
    show: Callable[[RunSnapshot], None],
    wait: Callable[[], None],
    looks: int | None,
) -> bool:
    """Show snapshots of a run, one after the other.

    Args:
        look: makes a snapshot.
        show: shows it.
        wait: waits until the next snapshot is due.
        looks: how many there are; None for no limit.

    Returns:
        True if the run has ended meanwhile, for whatever reason.

    Raises:
        SuspendError: there was no run at the first snapshot.
    """
    from framework.model.errors import SuspendError

    show(look())
    done = 1
    while looks is None or done < looks:
        wait()
        try:
            snapshot = look()
        except SuspendError:
            return True
        show(snapshot)
        done += 1
    return False


def _as_json(snapshot: RunSnapshot) -> None:
    click.echo(json.dumps(snapshot.as_object()))


class _Screen:
    """A table that refreshes."""

    def __init__(self, line: StatusLine) -> None:
        from framework.runtime.observation import Recent

        self._line = line
        self._recent = Recent()

    def show(self, snapshot: RunSnapshot) -> None:
        size = shutil.get_terminal_size()
        below = live_lines(snapshot, self._recent.add(snapshot), size.columns - 1, size.lines - 2)
        self._line.tell(headline(snapshot), snapshot.elapsed_s, below)


class _Once:
    """A table of the last look, which is printed once."""

    def __init__(self) -> None:
        from framework.runtime.observation import Recent

        self._recent = Recent()
        self._snapshots: list[RunSnapshot] = []
        self._rates: Mapping[str, ComponentRates] = {}

    def take(self, snapshot: RunSnapshot) -> None:
        """Take a look in."""
        self._rates = self._recent.add(snapshot)
        self._snapshots = [snapshot]

    def print(self) -> None:
        """Print the table; from a single look it has averages since the beginning, and says so."""
        from framework.runtime.observation import rates_since_beginning

        for snapshot in self._snapshots:
            rates, told = self._rates, ""
            if not rates:
                rates = rates_since_beginning(snapshot)
                told = "  averages since the beginning" if rates else "  nothing to show yet"
            height = len(snapshot.components) + 2
            click.echo("\n".join([headline(snapshot) + told, *live_lines(snapshot, rates, 200, height)]))


def headline(snapshot: RunSnapshot) -> str:
    """The run in a line."""
    parts = [snapshot.topology, f"{snapshot.elapsed_s:.1f} s"]
    parts += ["draining"] if snapshot.draining else ["starting"] if not snapshot.elapsed_s else []
    parts += [f"{snapshot.deaths:,} workers died"] if snapshot.deaths else []
    parts += [f"{snapshot.lost:,} tuples are lost"] if snapshot.lost else []
    return "  ".join(parts)

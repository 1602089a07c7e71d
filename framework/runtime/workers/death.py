"""Describes the death of a worker process in words that help to find its cause."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from framework.runtime.workers.status import Status

VMSTAT = Path("/proc/vmstat")
"""The file in which Linux counts the processes that it has killed for lack of memory."""


@dataclass(frozen=True, slots=True)
class Death:
    """The end of a worker process before its time."""

    how: str
    """The way in which it ended, such as ``was killed by SIGKILL``."""
    doing: str = ""
    """The callbacks of its tasks when it last reported; empty if it never did."""
    hint: str = ""
    """A possible cause; empty if nothing points to one."""
    peak_bytes: int | None = None
    """The most memory that it had in use; None if that is not known."""


def death_of(exit_code: int, status: Status | None, *, given_up: bool, now_s: float, oom_kills: int) -> Death:
    """The death of a process.

    Args:
        exit_code: its exit status, or minus the number of the signal that killed it.
        status: what it reported last, if it did.
        given_up: whether the parent has killed it, as it did not end.
        now_s: monotonic time in seconds.
        oom_kills: how many processes the system has killed for want of memory since this one was started.
    """
    return Death(
        how=_how(exit_code, given_up),
        doing="" if status is None else _doing(status, now_s),
        hint=_hint(status, oom_kills) if exit_code == -signal.SIGKILL and not given_up else "",
        peak_bytes=None if status is None else status.peak_bytes,
    )


def count_oom_kills() -> int:
    """The number of processes that the system has killed for lack of memory since boot; 0 if not known."""
    try:
        lines = VMSTAT.read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))


def _how(exit_code: int, given_up: bool) -> str:
    if given_up:
        return "did not end in time, and was killed"
    if exit_code == -signal.SIGBUS:  # it touched a page of the channels that the system cannot provide
        return "was killed by SIGBUS: there is no memory left for the channels"
    if exit_code < 0:
        return f"was killed by {signal.Signals(-exit_code).name}"
    return f"ended with status {exit_code}"


def _doing(status: Status, now_s: float) -> str:
    found = [f"{a.task} in {a.callback} for {status.at_s - a.since_s:.1f} s" for a in status.activities]
    what = ", ".join(found) or "no task in a callback"
    return f"its last report, {max(now_s - status.at_s, 0.0):.1f} s before: {what}"


def _hint(status: Status | None, oom_kills: int) -> str:
    return "".join(_hints(status, oom_kills))


def _hints(status: Status | None, oom_kills: int) -> Iterator[str]:
    if oom_kills:
        yield "the system was out of memory and has killed processes meanwhile"
    else:
        yield "this run did not send that signal; the system does so when it is out of memory"
    if status is not None:
        yield f", and this process had used up to {status.peak_bytes / 2**20:,.0f} MiB"

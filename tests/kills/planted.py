"""Bugs for the processes of a run to have, which kills must show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from framework.operators.sinks import TransactionalSink
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.durability.recovery import Commits
from framework.runtime.tasks.task import Task
from viper.reader import Reader
from viper.source import Source


def forget_turns() -> None:
    """Successors do not know whose turn it is on their edges."""
    _forget("routing")


def forget_offsets() -> None:
    """Successors of spouts begin from the start."""
    _forget("offset")


def forget_ticks() -> None:
    """Successors count their ticks from the start."""
    _forget("ticks")


def release_at_take() -> None:
    """Input is let go when it is taken, and not when it is committed."""
    _patch(Reader, "hold", lambda self, **_: None)


def commit_before_the_flush() -> None:
    """Tasks commit although some of what they have emitted waits for room."""
    _patch(Task, "commit", lambda self, **_: self.commits and (self.slot.flush(), self.commits.commit()))


def skip_nothing() -> None:
    """Successors emit all again."""
    _patch(Source, "repeat", lambda self, repeat: None)


def keep_staged_rows() -> None:
    """Plant a bug: rows that a sink has staged do not go back with its task."""
    _patch(TransactionalSink, "unstage", lambda self, *noted: None)


def pass_where_it_stands() -> None:
    """Successors of sources set a cut where they are, although consumers have rows from behind it."""
    _patch(SourceCut, "_may_pass_early", lambda self, last, behind: last < behind and self.is_alone)


PLANTS: dict[str, Callable[[], None]] = {
    plant.__name__: plant
    for plant in (
        forget_turns,
        forget_offsets,
        forget_ticks,
        release_at_take,
        commit_before_the_flush,
        skip_nothing,
        keep_staged_rows,
        pass_where_it_stands,
    )
}


def plant(name: str) -> None:
    """Give this process a bug."""
    PLANTS[name]()


def _forget(kind: str) -> None:
    keep = Commits.keep
    _patch(Commits, "keep", lambda self, name, part: name.startswith(kind) or keep(self, name, part))


def _patch(owner: type, name: str, method: Callable[..., Any]) -> None:
    setattr(owner, name, method)

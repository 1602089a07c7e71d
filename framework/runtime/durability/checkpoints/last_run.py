"""The last run in a folder of checkpoints: the checkpoint it began from, and its end if it has reached it.

A run that is resumed continues from the last checkpoint of this run. If that has written none, it begins from
the same checkpoint as this run. If this run has reached its end, there is nothing left to do. Checkpoints
alone do not tell these apart: the folder may have those of an earlier run, and the last one of a run that has
ended is not its end.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from framework.model.errors import CheckpointError
from framework.runtime.durability.checkpoints.folder import (
    MANIFEST,
    CheckpointFolder,
    checkpoint_path,
    folder_of,
)

FILE = "run.json"
_EXHAUSTED = "exhausted"
"""The reason for its end of a run whose spouts have ended by themselves."""
_INCOMPLETE = "incomplete"
"""Likewise, of a run that has lost tuples with worker processes, and has ended without them."""


@dataclass(frozen=True, slots=True)
class LastRun:
    """The run that was begun last in a folder."""

    topology: str
    above: int
    """The last checkpoint that the folder had when it began; its own have larger ids. 0 for none."""
    start: str | None
    """The place where it began: a checkpoint, by its name if it lies in the same folder, or a report; None
    for the beginning of its input."""
    ended: str | None = None
    """The reason for which it came to its end, after which no run resumes; None if it did not."""
    ended_at: str = ""
    """By the clock of that machine, as ISO 8601 with the offset from UTC."""


@dataclass(frozen=True, slots=True)
class Resumption:
    """The place where a run begins that is resumed in a folder."""

    start: Path | None
    """A checkpoint, or the report of a run; None for the beginning of the input."""
    has_begun: bool = False
    """True if a run had begun there before, so that rows which its sinks have applied are of this run."""
    ended: LastRun | None = None
    """The run that has come to its end, so that nothing is left to do."""


def reason_against_resuming(
    checkpoints: Path | None, start: Path | None, rename: Mapping[str, str], max_tuples: int | None
) -> str | None:
    """The reason why a run cannot be resumed that is started in this way, with what to do; None if it can.

    Args:
        checkpoints: the folder of its checkpoints.
        start: another checkpoint to resume from.
        rename: new names by old ones.
        max_tuples: tuples after which it would end.
    """
    if start is not None:
        return (
            "--resume (resume=True) finds the last checkpoint of the folder itself, and --from (start=) "
            f"names another place, {start}: leave out one of the two"
        )
    if checkpoints is None:
        return (
            "--resume (resume=True) has no folder to go on from: say which one has the checkpoints of the "
            "run, or will have them (--checkpoints FOLDER, checkpoints=FOLDER)"
        )
    if rename:
        return (
            f"{', '.join(rename)} cannot be renamed at every start: go on once with --from {checkpoints} "
            "--rename OLD=NEW (start=, rename=), and with --resume from the first checkpoint of that run on"
        )
    if max_tuples is not None:
        return (
            "--max-tuples (max_tuples=) ends the input, so nothing could go on from there: leave it out, or "
            "use --duration (duration_s=), after which a run with --resume is suspended"
        )
    return None


def resumption(folder: Path, topology: str) -> Resumption:
    """Find where a run is resumed; the caller holds the lock of the folder.

    Args:
        folder: of its checkpoints; there need not be any.
        topology: its name.

    Raises:
        CheckpointError: the last run there has ended although its input was not over. Or it was of another
            topology, and has left no checkpoint by which to compare them.
    """
    ids, last = CheckpointFolder(folder).ids, _read(folder)
    if ids and (last is None or ids[-1] > last.above) and (last is None or last.ended is None):
        return Resumption(checkpoint_path(folder, ids[-1]))
    if last is None:
        return Resumption(None)
    if last.topology != topology and last.ended is not None:
        raise CheckpointError(
            f"{folder} has the checkpoints of topology {last.topology!r}, which has come to its end: found "
            f"{topology!r}; give it a folder of its own (--checkpoints)"
        )
    if last.ended not in (None, _EXHAUSTED):
        raise CheckpointError(_against_going_on(folder, last))
    if last.ended is not None:
        return Resumption(None, ended=last)
    start = None if last.start is None else folder / last.start  # an absolute path stays what it is
    return Resumption(start, has_begun=last.topology == topology)


def check_goes_on(start: Path) -> None:
    """Refuse to resume from the checkpoints of a run whose sinks know that the input is over.

    Args:
        start: a folder of checkpoints, or one of them.

    Raises:
        CheckpointError: the last run in the folder was drained, or has ended without tuples that it had lost.
    """
    folder = folder_of(start)
    last = _read(folder)
    if last is None or last.ended in (None, _EXHAUSTED):
        return
    earlier = [checkpoint_path(folder, id) for id in CheckpointFolder(folder).ids if id <= last.above]
    is_of_earlier = last.start is None and start.resolve() in [path.resolve() for path in earlier]
    if not is_of_earlier:
        raise CheckpointError(_against_going_on(folder, last))


def _against_going_on(folder: Path, last: LastRun) -> str:
    """The reason why no run resumes from the checkpoints of a run, and what to do."""
    anew = "begin again in another folder (--checkpoints), or in this one without --resume and --from"
    if last.ended == _INCOMPLETE:
        return (
            f"the last run in {folder} came to its end at {last.ended_at} without tuples that it had lost "
            f"with worker processes, so nothing goes on from its checkpoints: {anew}. A run with --resume "
            "goes back to its last checkpoint instead, and viper.recovery: exact loses nothing"
        )
    return (
        f"the last run in {folder} was told at {last.ended_at} that its input is over ({last.ended}), so "
        f"nothing goes on from its checkpoints: {anew}. A run with --resume is suspended by SIGTERM and "
        "viper stop"
    )


def left_there(folder: Path) -> str:
    """The remains of runs in a folder which are not resumed, in words, and the command that resumes them."""
    ids = CheckpointFolder(folder).ids
    try:
        last = _read(folder)
    except CheckpointError as error:
        return str(error)
    if last is not None and last.ended is not None:
        return f"the last one there, of {last.topology}, came to its end at {last.ended_at} ({last.ended})"
    again = f"viper run TARGET --checkpoints {folder} --resume"
    if ids:
        how = "was suspended, failed or was killed"
        return f"the last one there {how}: {again} goes on from checkpoint {ids[-1]}"
    if last is not None:
        how = "failed or was killed before its first checkpoint"
        return f"the last one there, of {last.topology}, {how}: {again} begins it again"
    return "no run has left anything there"


def note_begun(folder: Path, topology: str, start: Path | None) -> None:
    """Note that a run begins in a folder.

    Args:
        folder: whose lock it holds.
        topology: its name.
        start: where it begins; None for the beginning of its input.
    """
    found = None if start is None else start.resolve()
    inside = found is not None and found.parent == folder.resolve() and (found / MANIFEST).exists()
    named = None if found is None else found.name if inside else str(found)
    above = max((0, *CheckpointFolder(folder).ids))
    _write(folder, LastRun(topology, above, named))


def note_ended(folder: Path, reason: str, *, lost: int = 0) -> None:
    """Note that the run which was noted last has come to its end, and why; sinks have all that it had.

    Args:
        folder: whose lock it holds.
        reason: for which it ended.
        lost: the tuples that it has lost with worker processes.
    """
    now = datetime.datetime.now().astimezone().isoformat(timespec="seconds")
    last = _read(folder)
    if last is not None:
        _write(folder, replace(last, ended=_INCOMPLETE if lost else reason, ended_at=now))


def _read(folder: Path) -> LastRun | None:
    """The run that is noted; None for nothing, as by versions that noted nothing.

    Raises:
        CheckpointError: it cannot be read.
    """
    path = folder / FILE
    try:
        return LastRun(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise CheckpointError(
            f"{path} does not say how the last run went: {error}; say yourself where to go on (--from), or "
            "begin again without --resume"
        ) from error


def _write(folder: Path, last: LastRun) -> None:
    """Write the file as a whole or not at all; it is on the disk when this returns."""
    hidden = folder / f".{FILE}"
    with open(hidden, "w", encoding="utf-8") as file:
        json.dump(asdict(last), file)
        file.flush()
        os.fsync(file.fileno())
    hidden.replace(folder / FILE)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

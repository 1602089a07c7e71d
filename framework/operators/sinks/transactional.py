"""Sinks that apply rows in transactions, each under a number by which it is known again."""

from __future__ import annotations

import contextlib
import itertools
import json
import pickle
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from framework.model.errors import InternalError, RefusedRowError, SinkError, TransientError
from framework.operators.components.component import tasks_of
from framework.operators.sinks.arrival import shown
from framework.operators.sinks.sink import Row, Sink
from framework.operators.sinks.staging import (
    InUseError,
    Label,
    Stage,
    entries_in,
    files_in,
    has_rows,
    is_in_use_here,
    label_of,
    way_out,
)

FORMER: Final = "viperstorm.sink.former"
"""The configuration key with a sink's `Former` in the run that this one resumes, as a list."""
RUN: Final = "viperstorm.sink.run"
"""The configuration key with the name of the chain of runs that this one belongs to."""
_WITHOUT_CHECKPOINTS: Final = "a run without checkpoints"
_BESIDE: Final = ".staged"
"""The ending of the names of folders that lie beside the file for which rows are staged in them."""
RETRY_SECS: Final = "viper.sink.retry.secs"
_LONGEST_PAUSE_S: Final = 5.0

T = TypeVar("T")


class Former(NamedTuple):
    """The name of a sink, and the number of its tasks, in the run that this one resumes.

    A sink that was added since had no tasks there.
    """

    topology: str
    component: str
    tasks: int


class TransactionalSink(Sink):
    """Stages rows in a file, and applies all that belong to a checkpoint in one transaction.

    A sink of your own defines three methods: `applied`, `apply` and `forget`. It connects in `initialize` and
    disconnects in `close`; both have to call those of this class first.

    Rows are numbered by checkpoints. `apply` writes the rows of a checkpoint together with its number, both
    or neither. So after a crash `applied` returns the number that was written, and a row is never applied
    twice. In a run without checkpoints the numbers count the transactions, one every
    ``viper.sink.apply.rows`` rows or ``viper.sink.apply.secs`` seconds, and one at the end. Then rows are
    applied at least once: whoever starts such a run again brings its rows again.

    Each task has numbers of its own, by the name of its part, so several tasks can write into one table.

    Args:
        staging: a folder for staged rows, on a disk that stays; ``viperstorm-staging`` by default.
    """

    goes_back_with_task = True
    eager = True
    """True if rows are applied at any time, as no checkpoints are made; it is set before `initialize`."""
    keeps_leftovers = True
    """True if rows that a killed run without checkpoints had staged are applied when the next one starts."""
    form = "pickle"
    """The encoding of entries, for readers without the sink."""

    def __init__(self, staging: str | None = None) -> None:
        super().__init__()
        self._staging = Path(staging or "viperstorm-staging")
        self._open_stage: Stage | None = None
        self._applied_number: int | None = None
        self._task_index = 0
        self._former: Former | None = None
        """The sink in the run that this one resumes, as far as that is known."""
        self._run = ""
        """The chain of runs that this one belongs to; empty where that is not known."""
        self._retry_secs = 0.0
        """The time for which the target may be away."""
        self._apply_failed = False
        self._has_set_out = False
        self._has_all = False
        """True if everything was applied, to the end of all input, before the task took this place."""
        self._left_out = 0
        """Rows that came all the same."""

    # -- what a sink of your own defines

    def applied(self, part: str) -> int | None:
        """The number under which rows of a part were applied last; None if none were since `forget`."""
        raise NotImplementedError(f"{type(self).__name__} must define applied(self, part)")

    def apply(self, part: str, number: int, rows: Iterator[Row]) -> None:
        """Write rows and the number, in one transaction; there may be no rows at all.

        Args:
            part: the name of the task's part of the sink.
            number: is greater than all before, since `forget`.
            rows: in the order in which they were taken; there may be more than memory holds.

        Raises:
            TransientError: the target is away for a moment. Then `applied` returns whether rows and number
                were written all the same; if not, it is called again.
        """
        raise NotImplementedError(f"{type(self).__name__} must define apply(self, part, number, rows)")

    def forget(self, part: str) -> None:
        """Forget the number of a part, as a run starts from the beginning.

        The rows stay.
        """
        raise NotImplementedError(f"{type(self).__name__} must define forget(self, part)")

    # -- what it may define

    @property
    def target(self) -> str:
        """The target of rows, in words that are the same in every run that writes there.

        Staged rows and checkpoints keep it, and are not taken by a sink with another one. By default it is
        the name of the class, and a checksum of the arguments that the sink was made with.
        """
        told = json.dumps(self._arguments, default=lambda value: type(value).__name__, sort_keys=True)
        return f"{type(self).__name__} with arguments {zlib.crc32(told.encode(errors='replace')):08x}"

    @property
    def layout(self) -> Mapping[str, Any]:
        """The layout of rows, such as the names of columns, as JSON can hold it; see `choose`."""
        return {}

    def takes_up(self, layout: Mapping[str, Any]) -> bool:
        """True if this sink can continue rows that were written by another layout."""
        return layout == self.layout

    def apply_as(self, layout: Mapping[str, Any]) -> None:
        """Prepare for rows that `apply` gets next, and that a sink of another layout has taken.

        Raises:
            SinkError: they cannot be written by this one.
        """
        if layout != self.layout:
            before, now = json.dumps(layout), json.dumps(self.layout)
            raise SinkError(f"rows were taken for {before}, and this sink writes {now}: run it as it was")

    def encode(self, rows: Sequence[Row]) -> bytes:
        """Rows as an entry of the staged file; refuses those that cannot be applied.

        Raises:
            SinkError: such a row.
        """
        try:
            return pickle.dumps(list(rows), protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:  # whatever a class raises whose values are pickled
            raise SinkError(
                f"a row cannot be staged: {type(error).__name__}: {error}; make it plain values first"
            ) from error

    def decode(self, entry: bytes) -> Iterable[Row]:
        """Return the rows of an entry, as `apply` gets them."""
        rows: list[Row] = pickle.loads(entry)
        return rows

    def rewind(self, part: str, number: int) -> bool:
        """Go back to what was applied up to a number, or forward again as long as nothing was applied since;
        whether that was possible. Most targets cannot."""
        return False

    def finish(self) -> None:
        """Finish the target: all input has come and has been applied."""

    # -- as a component

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Open the folder for staged rows.

        Raises:
            SinkError: it cannot be written to, or another run uses it.
        """
        self.choose(context)
        tasks = tasks_of(self.component_name, context)
        self._task_index = tasks.index(self.task_id) if self.task_id in tasks else 0
        self._task_count = max(len(tasks), 1)
        self._components = frozenset(context.get("task->component", {}).values())
        self.become_task(self._task_index, self._task_count)
        self._run = storm_conf.get(RUN) or ""
        self._former = Former(*storm_conf[FORMER]) if storm_conf.get(FORMER) else None
        self._retry_secs = float(storm_conf.get(RETRY_SECS) or 0.0)
        self._open_stage = Stage(self._staging_folder(self._task_index), eager=self.eager)
        self._check_label(self._open_stage)
        if self._open_stage.label is None:
            self._open_stage.mark(replace(self._label(), run=""))

    def choose(self, context: Mapping[str, Any]) -> None:
        """Find the columns that are written, by the fields of what comes; `layout` is known from here on.

        Raises:
            SinkError: there are no such fields.
        """

    def become_task(self, index: int, count: int) -> None:
        """Become one of so many tasks: if each has a target of its own, it is known then."""

    def consume(self, rows: Sequence[Row]) -> None:
        """Stage some rows."""
        if self._has_all:
            self._left_out += len(rows)
            refuse_more(self.part, self._applied_number, self._left_out)
            return
        self._opened.append(self.encode(rows), len(rows))

    def close(self) -> None:
        """Let others write; what a failing run without checkpoints has staged is applied before."""
        stage, self._open_stage = self._open_stage, None
        if stage is None:
            return
        if not (self.eager and self._has_set_out):  # what is there belongs to another run
            stage.close()
            return
        if self.keeps_leftovers and not self._apply_failed and stage.rows:
            self._open_stage, self._retry_secs = stage, 0.0
            try:
                self.apply_staged()
            except SinkError as error:
                self.logger.error("%s", error)
            self._open_stage = None
        if not self.keeps_leftovers or not (stage.rows or stage.cuts):
            stage.delete()
        else:
            stage.close()

    # -- what the runtime calls, in the task's thread

    def wait_for_checkpoints(self, waits: bool) -> None:
        """Set whether rows are applied with checkpoints, and at the end, only; called before `initialize`."""
        self.eager = not waits

    @property
    def part(self) -> str:
        """The name of the task's part: topology, component and the task's index."""
        return self._part(self._task_index)

    @property
    def staged_rows(self) -> int:
        """Rows behind the last cut."""
        return self._opened.rows

    @property
    def last_number(self) -> int:
        """The greatest number that was given so far; 0 for none."""
        return max([self._applied_number or 0, *self._opened.cuts])

    def resume(self, last_id: int | None) -> None:
        """Bring the target to the state that it had at a checkpoint, as a run starts.

        Args:
            last_id: the checkpoint that the run resumes from. None: it starts from the beginning. 0: it has
                gone back there, so rows that were applied are its own.

        Raises:
            SinkError: the target has another state, and cannot be brought to this one.
        """
        if last_id and self._was_added_at(last_id):
            last_id = None
        if last_id is None:
            self._adopt()
        elif self._former_name is not None:
            for index in self._indexes_before(self._former_name):
                self._take_over(self._former_name, index, last_id)
        if last_id and self.scales:
            self._refuse_other_tasks()
        self._applied_number = self._set_out(self.part, self._opened, last_id)
        for part, stage in self._of_former_tasks() if self.scales else ():
            self._set_out(part, stage, last_id)
            self._forgotten(part)
            stage.delete()
        self._opened.mark(self._label())
        self._has_set_out = True

    @property
    def staged(self) -> tuple[int, int, int]:
        """The last number, and how many bytes and rows are staged behind it."""
        return self.last_number, self._opened.length, self._opened.rows

    def unstage(self, number: int, length: int, rows: int) -> None:
        """Forget the rows that were staged after so many bytes and rows, as they come again.

        Args:
            number: the last one at that time. If there is a later one, all those rows are under it, and
                others may be.
            length: in bytes.
            rows: how many those are.

        Raises:
            SinkError: the staged file is shorter.
        """
        later = [cut for cut in self._opened.cuts if cut > number]
        if later:
            self._opened.keep_of_cut(later[0], length)
        self._opened.keep(*((length, rows) if self.last_number <= number else (0, 0)))

    def recover(self) -> None:
        """Resume the task in the same run, after its component or its process was made again."""
        self._applied_number = self._noted(self.part)
        self._has_all = is_end(self._applied_number or 0)
        self._has_set_out = True

    def cut(self, id: int) -> None:
        """Assign all rows taken so far to checkpoints up to this one; they are on disk when it returns.

        Raises:
            SinkError: there is no room for them.
        """
        self._opened.cut(id)
        if self._has_all:
            self._opened.note(id, self._left_out)

    def complete(self, id: int) -> None:
        """Apply all rows that were cut up to a checkpoint, which exists now.

        A second time changes nothing.

        Raises:
            SinkError: it cannot be applied; it stays staged.
        """
        stage = self._opened
        for number in stage.cuts:
            if number <= id:
                self._apply_cut(self.part, stage, number, self._applied_number)
                self._applied_number = max(number, self._applied_number or 0)
        if self._applied_number is None or self._applied_number < id:
            raise InternalError(f"{self.part}: checkpoint {id} is complete, and was never cut")

    def apply_staged(self) -> None:
        """Apply what has been taken so far, under the next number, as no checkpoints are made.

        Raises:
            SinkError: it cannot be applied; it stays staged.
        """
        number = max(self.last_number, EAGER) + 1
        self.cut(number)
        self.complete(number)

    def apply_and_finish(self) -> None:
        """Apply all rows that are left, as all input has come.

        Raises:
            SinkError: it cannot be applied.
        """
        if self.eager:
            self.apply_staged()
        elif self._has_all:
            refuse_more(self.part, self._applied_number, self._left_out)
            self.logger.info("%s: %s rows were there from the run before", self.part, self._left_out)
        else:
            # A checkpoint may be there of which the task has not heard yet. A run that goes on from it brings
            # the rows behind it only, and all that were applied here are counted.
            for id, rows in self._opened.rows_up_to.items():
                self._opened.note(id, rows)
            number = end_number(self._applied_number or 0, self._opened.all_rows)
            self.cut(number)
            self.complete(number)
        self.finish()

    # -- within

    @property
    def _opened(self) -> Stage:
        if self._open_stage is None:
            raise SinkError(f"{type(self).__name__} is not initialized: call super().initialize(...)")
        return self._open_stage

    @property
    def _name(self) -> tuple[str, str]:
        return self.topology_name, self.component_name

    @property
    def _former_name(self) -> tuple[str, str] | None:
        """The name in the run that this one resumes, if it was another."""
        name = None if self._former is None else (self._former.topology, self._former.component)
        return None if name == self._name else name

    def _part(self, index: int, name: tuple[str, str] | None = None) -> str:
        topology, component = name or self._name
        return f"{topology}/{component}/{index}"

    def _staging_folder(self, index: int, name: tuple[str, str] | None = None) -> Path:
        """A folder for the rows of one task for one target, whatever the names have in them."""
        joined = "-".join(filter(None, name or self._name)) or type(self).__name__
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in joined)
        mark = zlib.crc32("\0".join((*(name or self._name), self.target)).encode(errors="replace"))
        return self._staging / f"{safe}.{mark:08x}.{index}"

    def _label(self) -> Label:
        topology, component = self._name
        index, form = self._task_index, self.form
        run = self._run or (_WITHOUT_CHECKPOINTS if self.eager else "")
        return Label(topology, component, index, self.part, self.target, dict(self.layout), form, run)

    def _check_label(self, stage: Stage) -> None:
        """Refuse rows of which nobody knows where they belong, or that belong elsewhere.

        Raises:
            SinkError: there are such rows.
        """
        found = stage.label
        before = self._staging / stage.folder.name.replace(stage.folder.name.split(".")[-2] + ".", "", 1)
        for folder, is_known in ((stage.folder, found is not None), (before, False)):
            if not is_known and has_rows(folder):
                stage.close()
                raise SinkError(
                    f"{folder} has rows that another version of ViperStorm has staged: let that version run "
                    "once more with the same target, or move the folder elsewhere"
                )
        if found is not None and found.target != self.target and has_rows(stage.folder):
            stage.close()
            raise SinkError(
                f"{stage.folder} has rows that were staged for {found.target}, and this sink writes to "
                f"{self.target}: {way_out(stage.folder)}"
            )

    def _adopt(self) -> None:
        """Apply what killed runs of other names have left for this target, and say what waits for others."""
        if self.scales and self._task_index:
            return
        for folder in sorted(self._staging.iterdir()):
            try:
                label = label_of(folder)
            except SinkError as error:
                self.logger.warning("%s", error)
                continue
            if label is None or is_in_use_here(folder) or not has_rows(folder):
                continue
            if label.target == self.target:
                if label.topology != self.topology_name or label.component not in self._components:
                    self._adopt_from(folder, label)
            elif (label.topology, label.component) == self._name:
                self._tell_of(folder, label)
        for folder in self._folders_beside():
            with contextlib.suppress(SinkError):  # a label that nobody can read names no sink
                label = label_of(folder)
                if label is None or (label.topology, label.component) != self._name:
                    continue
                if label.target != self.target and not is_in_use_here(folder) and has_rows(folder):
                    self._tell_of(folder, label)

    def _folders_beside(self) -> list[Path]:
        """The folders of rows that are staged for other files beside the target, if they lie beside it."""
        if not (self._staging.name.startswith(".") and self._staging.name.endswith(_BESIDE)):
            return []
        stagings = sorted(self._staging.parent.glob(f".*{_BESIDE}"))
        return [folder for path in stagings if path != self._staging for folder in sorted(path.glob("*"))]

    def _tell_of(self, folder: Path, label: Label) -> None:
        """Warn of rows that wait for another target than this sink's."""
        if not any(path.name.endswith(".eager") for path in files_in(folder)):
            what = "a run that goes on there from their checkpoint applies them"
        elif label.layout.get("grow") is False:
            what = "a run of this name that writes there begins the file again, without them"
        else:
            what = "a run of this name that writes there applies them"
        self.logger.warning(
            "%s has rows that an earlier run has staged for %s, and this one writes to %s: %s; %s",
            *(folder, label.target, self.target, what, way_out(folder)),
        )

    def _adopt_from(self, folder: Path, label: Label) -> None:
        if not any(path.name.endswith(".eager") for path in files_in(folder)):
            return  # they wait for a run that goes on from a checkpoint
        try:
            stage = Stage(folder, eager=True)
        except InUseError:
            return  # its run applies them
        except SinkError as error:
            self.logger.warning("%s", error)
            return
        if self.keeps_leftovers:
            self._apply_leftovers(label.part, stage)
            self._forgotten(label.part)
        stage.delete()

    def _apply_leftovers(self, part: str, stage: Stage) -> None:
        """Apply what a killed run without checkpoints had taken."""
        applied = self._noted(part)
        if numbers := stage.leftovers(applied or 0):
            self.logger.warning("%s: applying rows that an earlier run had taken when it was killed", part)
            for number in numbers:
                self._apply_cut(part, stage, number, applied)

    def _apply_cut(self, part: str, stage: Stage, number: int, applied: int | None) -> None:
        if applied is None or applied < number:
            try:
                self.apply_as(self.layout if stage.label is None else stage.label.layout)
                self._apply_patiently(part, number, stage)
            except InternalError:
                raise
            except Exception as error:
                self._apply_failed = True
                raise self._explained_failure(error, stage) from error
            except BaseException:
                self._apply_failed = True
                raise
            finally:
                self.apply_as(self.layout)
        stage.remove(number)

    def _explained_failure(self, error: Exception, stage: Stage) -> SinkError:
        """An error of the target, with what waits for it, and what can be done about that."""
        told = str(error) if isinstance(error, SinkError) else f"{type(error).__name__}: {error}"
        waiting = f"{stage.all_rows:,} rows stay staged in {stage.folder}"
        if isinstance(error, TransientError):
            return SinkError(f"{told}; {waiting}")
        if isinstance(error, RefusedRowError):
            told = f"{told}; {_placed(error.row, self._staged_rows(stage))}"
        return SinkError(
            f"{told}; {waiting}, and the next run applies them once the target takes them; "
            f"{way_out(stage.folder)}"
        )

    def _staged_rows(self, stage: Stage) -> Iterator[Row]:
        for path in files_in(stage.folder):
            for entry, _ in entries_in(path):
                yield from self.decode(entry)

    # -- a target that is away for a moment

    def _apply_patiently(self, part: str, number: int, stage: Stage) -> None:
        def apply() -> None:
            rows = itertools.chain.from_iterable(map(self.decode, stage.entries(number)))
            self.apply(part, number, rows)

        def apply_again() -> None:
            # The answer to a commit may be what was lost.
            if (self.applied(part) or 0) < number:
                apply()

        self._patiently(apply, apply_again)

    def _noted(self, part: str) -> int | None:
        return self._patiently(lambda: self.applied(part))

    def _forgotten(self, part: str) -> None:
        self._patiently(lambda: self.forget(part))

    def _patiently(self, call: Callable[[], T], again: Callable[[], T] | None = None) -> T:
        """Call an operation of the target, and repeat it while that is away, for as long as it may be.

        Args:
            call: is called first.
            again: is called afterwards; the same by default.

        Raises:
            TransientError: it was away for too long.
        """
        since_s, pause_s = time.monotonic(), 0.1
        while True:
            try:
                return call()
            except TransientError as error:
                left_s = since_s + self._retry_secs - time.monotonic()
                if left_s <= 0:
                    waited = f"; it was tried again for {self._retry_secs:g} s ({RETRY_SECS})"
                    raise TransientError(
                        f"{error}{waited if self._retry_secs else ''}: once it answers, run again, or go on "
                        "from the last checkpoint"
                    ) from error
                if call is not again:
                    self.logger.warning("%s; trying again for up to %g s", error, self._retry_secs)
                call = again = again or call
                time.sleep(min(pause_s, left_s))
                pause_s = min(2 * pause_s, _LONGEST_PAUSE_S)

    # -- where a run begins

    def _set_out(self, part: str, stage: Stage, last_id: int | None) -> int | None:
        """Bring a part to the state that a run begins with; returns the number that is applied then."""
        if last_id is not None:
            self._refuse_other_run(part, stage, last_id)
            stage.drop_open()
            return self._resumed(part, stage, last_id)
        if self.keeps_leftovers:
            self._apply_leftovers(part, stage)
        stage.discard()
        self._forgotten(part)
        return None

    def _was_added_at(self, last_id: int) -> bool:
        """True if the run that made a checkpoint had no such sink, which begins there as in a new run.

        One that these runs have already brought further, behind a later checkpoint, would write rows twice.
        """
        if self._former is None or self._former.tasks:
            return False
        label = self._opened.label
        is_ours = bool(self._run) and label is not None and label.run == self._run
        return not is_ours or (self._noted(self.part) or 0) <= last_id

    def _refuse_other_run(self, part: str, stage: Stage, last_id: int) -> None:
        """Refuse a target that another run has begun to write since, which knows nothing of the checkpoint.

        Raises:
            SinkError: one has.
        """
        run = "" if stage.label is None else stage.label.run
        others = run and self._run and run != self._run
        if last_id and (others or is_eager(self._noted(part) or 0)):
            which = _WITHOUT_CHECKPOINTS if run in ("", self._run, _WITHOUT_CHECKPOINTS) else "another run"
            raise SinkError(
                f"{part}: {which} has written to {self.target} since checkpoint {last_id}, where this one "
                "goes on: let the sink write elsewhere and begin again, or restore a copy of the target as "
                f"it was then, and remove {stage.folder}"
            )

    def _resumed(self, part: str, stage: Stage, last_id: int) -> int:
        """Bring a part to the state that it had at a checkpoint; returns its number."""
        applied = self._noted(part)
        if applied is not None and is_end(applied) and checkpoint_of(applied) <= last_id:
            self._has_all, self._left_out = True, stage.noted(last_id)
            return applied
        if applied is not None and applied != last_id and self.rewind(part, last_id):
            applied = last_id
        if applied is not None and applied > last_id:
            last = checkpoint_of(applied)
            which = "up to" if applied == last else "behind"
            raise SinkError(
                f"{part}: rows {which} checkpoint {last} have been applied, and the run goes on from "
                f"checkpoint {last_id}, so they would be applied twice: go on from checkpoint {last}, or "
                "restore a copy of the target as it was"
            )
        for number in stage.cuts:
            if number > last_id:
                stage.remove(number)
            else:
                self._apply_cut(part, stage, number, applied)
                applied = max(number, applied or 0)
        if applied == last_id:
            return last_id
        if applied is None and (last_id == 0 or self._is_new_task()):
            return last_id
        found = "nothing" if applied is None else f"only rows up to checkpoint {applied}"
        raise SinkError(
            f"{part}: the run goes on from checkpoint {last_id}, but {found} is applied there, and the rows "
            f"in between are not staged in {stage.folder}: is this the same target and folder as before, and "
            "has no other run gone on from there, or begun again, since?"
        )

    def _take_over(self, name: tuple[str, str], index: int, last_id: int) -> None:
        """Bring a part to its state at a checkpoint that it has written under the sink's former name.

        The number is noted under the new name before it is forgotten under the old one. So a run that is
        killed in between finds one of them, and ends what this one has begun.
        """
        before, part = self._part(index, name), self._part(index)
        stage = Stage(self._staging_folder(index, name), eager=self.eager)
        if stage.cuts or self._noted(before) is not None:
            number = self._set_out(before, stage, last_id)
            if number is not None and self._noted(part) != number:
                self._patiently(lambda: self.apply(part, number, iter(())))
            if self.scales:  # otherwise a target has one number, whatever the sink is called
                self._forgotten(before)
        stage.delete()

    def _indexes_before(self, name: tuple[str, str]) -> list[int]:
        """The parts under a former name that are this task's to take over: its own, and those of tasks that
        this run no longer has."""
        ours, count = self._task_index, self._task_count
        return [ours, *(index for index in self._former_indexes(name) if index % count == ours)]

    scales = True
    """True if several tasks may become more or fewer between two runs, as all write into one target."""

    def _refuse_other_tasks(self) -> None:
        """Refuse another number of tasks where one has applied everything: others would get its rows."""
        count = self._task_count if self._former is None else self._former.tasks
        if not count:  # the sink was added, and has as many tasks as in this run from the beginning
            return
        indexes = range(max(count, self._task_count))
        applied = [self._noted(self._part(index)) for index in indexes]
        if self._former_name is not None:
            applied += [self._noted(self._part(index, self._former_name)) for index in indexes]
        changed = count != self._task_count
        if self._former is None:
            changed = None in applied or bool(self._former_indexes())
        if changed and any(number is not None and is_end(number) for number in applied):
            expected = "as many tasks as before" if self._former is None else f"{count} tasks, as before"
            raise SinkError(
                f"{self.part}: some tasks have applied all rows up to the end of the input, and others have "
                f"not: go on with {expected}, and not with {self._task_count}"
            )

    def _is_new_task(self) -> bool:
        """True if this run has more tasks than the one before: others have applied rows."""
        if not self.scales or self._task_index == 0:
            return False
        if self._former is not None:
            return self._task_index >= self._former.tasks
        return self._noted(self._part(0)) is not None

    def _of_former_tasks(self) -> Iterator[tuple[str, Stage]]:
        """The parts of tasks that this run no longer has, as far as they are this task's to take over."""
        for index in self._former_indexes():
            if index % self._task_count == self._task_index:
                yield self._part(index), Stage(self._staging_folder(index), eager=self.eager)

    def _former_indexes(self, name: tuple[str, str] | None = None) -> list[int]:
        """The indexes of tasks that this run no longer has, and that have staged rows once."""
        base = self._staging_folder(0, name)
        stem = base.name.removesuffix("0")
        found = [folder.name.removeprefix(stem) for folder in base.parent.glob(f"{stem}*")]
        return sorted(int(name) for name in found if name.isdecimal() and int(name) >= self._task_count)


def _placed(row: Row, rows: Iterable[Row]) -> str:
    """The number of a row among those that are staged, and the row."""
    found = next((number for number, other in enumerate(rows, 1) if tuple(other) == row), None)
    number = "" if found is None else f", number {found:,} of those that are staged"
    return f"the row is {shown(row)}{number}"


# A run without checkpoints has numbers of its own, so that they are not taken for those of checkpoints. The
# rows behind the last checkpoint have one too, when all input has come. They are in no checkpoint: a run
# that is killed when one sink has applied them, and another has not, resumes from the last one; then they
# come again, and the sink that has them leaves them out. So the number tells the checkpoint, and how many
# rows those are: if more come, they are others.
_END: Final = 1 << 62
EAGER: Final = 1 << 61
"""Numbers of runs without checkpoints are above this one, and below those of ends."""
_BITS: Final = 31
_MOST: Final = (1 << _BITS) - 1


def end_number(checkpoint: int, rows: int) -> int:
    """The number of so many rows behind a checkpoint, up to the end; larger than that of any checkpoint."""
    return _END | (rows + 1 if rows < _MOST else 0) << _BITS | checkpoint


def is_end(number: int) -> bool:
    """True if a number is that of rows after the last checkpoint."""
    return number >= _END


def is_eager(number: int) -> bool:
    """True if a run without checkpoints has applied rows under a number."""
    return EAGER < number < _END


def checkpoint_of(number: int) -> int:
    """The checkpoint that a number is of, or that its rows come after."""
    return number & _MOST if is_end(number) else number


def rows_of(number: int) -> int | None:
    """Return the number of rows that were applied under the number of an end; None if it does not fit
    there."""
    counted = number >> _BITS & _MOST
    return counted - 1 if counted else None


def refuse_more(part: str, number: int | None, come: int) -> None:
    """Refuse rows that a run has not applied at its end: to leave them out would be to lose them.

    Args:
        part: the sink's task, for the message.
        number: under which the rows at the end were applied.
        come: how many have come behind that checkpoint.

    Raises:
        SinkError: these are more.
    """
    expected = rows_of(number or 0)
    if expected is not None and come > expected:
        raise SinkError(
            f"{part}: an earlier run came to its end here, with {expected:,} rows behind checkpoint "
            f"{checkpoint_of(number or 0)}, and more have come: begin again with another target. A run that "
            "is to be gone on with is suspended (viper stop --checkpoint), and not ended"
        )

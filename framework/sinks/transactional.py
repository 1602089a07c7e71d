"""Sinks that apply rows in transactions, each under a number by which it is known again."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from framework.components.component import tasks_of
from framework.errors import InternalError, SinkError
from framework.sinks.ends import checkpoint_of, end_number, is_end, refuse_more
from framework.sinks.sink import Row, Sink
from framework.sinks.staging import Stage

FORMER_ID: Final = "viperstorm.sink.former.id"
"""The configuration key that tells a sink its id in the run that this one goes on from, if it was another."""


class TransactionalSink(Sink):
    """Stages rows in a file, and applies all that belong to a checkpoint in one transaction.

    A sink of your own defines three methods: `applied`, `apply` and `forget`. It connects in `initialize` and
    disconnects in `close`; both have to call those of this class first.

    Rows are numbered by checkpoints. `apply` writes the rows of a checkpoint together with its number, both
    or neither, so after a crash it can be told by `applied` what is there, and a row is never applied twice.
    In a run without checkpoints the numbers count what was applied every ``viper.sink.apply.rows`` rows or
    ``viper.sink.apply.secs`` seconds, and at the end. Then rows are applied at least once: whoever starts
    such a run anew brings its rows anew.

    Each task has numbers of its own, by the name of its part, so several tasks can write into one table.

    Args:
        staging: a folder for staged rows, on a disk that stays; ``viperstorm-staging`` by default.
    """

    goes_back_with_task = True
    eager = True
    """Whether rows are applied at any time, as no checkpoints are made; it is set before `initialize`."""
    keeps_leftovers = True
    """Whether what a killed run without checkpoints had taken is applied when the next one starts."""

    def __init__(self, staging: str | None = None) -> None:
        super().__init__()
        self._staging = Path(staging or "viperstorm-staging")
        self._open_stage: Stage | None = None
        self._applied_number: int | None = None
        self._task_index = 0
        self._former_id: str | None = None
        """Of the sink in the run that this one goes on from, where it was another one."""
        self._apply_failed = False
        self._has_set_out = False
        self._has_all = False
        """Whether everything was applied, to the end of all input, before the task took this place."""
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
        """
        raise NotImplementedError(f"{type(self).__name__} must define apply(self, part, number, rows)")

    def forget(self, part: str) -> None:
        """A run starts from the beginning: the number of a part no longer counts. The rows stay."""
        raise NotImplementedError(f"{type(self).__name__} must define forget(self, part)")

    # -- what it may define

    def encode(self, rows: Sequence[Row]) -> bytes:
        """Rows as an entry of the staged file; refuses those that cannot be applied.

        Raises:
            SinkError: such a row.
        """
        return pickle.dumps(list(rows), protocol=pickle.HIGHEST_PROTOCOL)

    def decode(self, entry: bytes) -> Iterable[Row]:
        """What `apply` gets of an entry."""
        rows: list[Row] = pickle.loads(entry)
        return rows

    def rewind(self, part: str, number: int) -> bool:
        """Go back to what was applied up to a number, or forward again as long as nothing was applied since;
        whether that was possible. Most targets cannot."""
        return False

    def finish(self) -> None:
        """All input has come and has been applied."""

    # -- as a component

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Open the folder for staged rows.

        Raises:
            SinkError: it cannot be written to, or another run uses it.
        """
        tasks = tasks_of(self.component_name, context)
        self._task_index = tasks.index(self.task_id) if self.task_id in tasks else 0
        self._task_count = max(len(tasks), 1)
        self._former_id = storm_conf.get(FORMER_ID)
        self._open_stage = Stage(self._staging_folder(self._task_index), eager=self.eager)

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
            self._open_stage = stage
            try:
                self.apply_staged()
            except SinkError as error:
                self.logger.error("%s rows stay staged in %s: %s", stage.rows, stage.folder, error)
            self._open_stage = None
        if not self.keeps_leftovers or not (stage.rows or stage.cuts):
            stage.delete()
        else:
            stage.close()

    # -- what the runtime calls, in the task's thread

    def wait_for_checkpoints(self, waits: bool) -> None:
        """Before `initialize`: whether rows are applied with checkpoints, and at the end, only."""
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
        """A run starts: bring the target to the state that it had at a checkpoint.

        Args:
            last_id: the checkpoint that the run goes on from; None: it starts from the beginning; 0: it has
                gone back there, so what has been applied is its own.

        Raises:
            SinkError: the target has another state, and cannot be brought to this one.
        """
        if last_id is not None and self._former_id is not None:
            for index in self._indexes_before(self._former_id):
                self._take_over(self._former_id, index, last_id)
        if last_id and self.scales:
            self._refuse_other_tasks()
        self._applied_number = self._set_out(self.part, self._opened, last_id)
        for part, stage in self._of_former_tasks() if self.scales else ():
            self._set_out(part, stage, last_id)
            self.forget(part)
            stage.delete()
        self._has_set_out = True

    @property
    def staged(self) -> tuple[int, int, int]:
        """The last number, and how many bytes and rows are staged behind it."""
        return self.last_number, self._opened.length, self._opened.rows

    def unstage(self, number: int, length: int, rows: int) -> None:
        """Forget what was staged behind so many bytes and rows, which is taken once more.

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
        """The task goes on in the same run, after its component or its process was made anew."""
        self._applied_number = self.applied(self.part)
        self._has_all = is_end(self._applied_number or 0)
        self._has_set_out = True

    def cut(self, id: int) -> None:
        """All rows taken so far belong to checkpoints up to this one; they are on disk when it returns.

        Raises:
            SinkError: there is no room for them.
        """
        self._opened.cut(id)
        if self._has_all:
            self._opened.note(id, self._left_out)

    def complete(self, id: int) -> None:
        """The checkpoint exists: apply what was cut up to it. A second time changes nothing.

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
        number = self.last_number + 1
        self.cut(number)
        self.complete(number)

    def apply_and_finish(self) -> None:
        """All input has come: apply what is left.

        Raises:
            SinkError: it cannot be applied.
        """
        if self.eager:
            self.apply_staged()
        elif self._has_all:
            refuse_more(self.part, self._applied_number, self._left_out)
            self.logger.info("%s: %s rows were there from the run before", self.part, self._left_out)
        else:
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

    def _part(self, index: int, id: str | None = None) -> str:
        return f"{self.topology_name}/{id or self.component_name}/{index}"

    def _staging_folder(self, index: int, id: str | None = None) -> Path:
        name = "-".join(filter(None, (self.topology_name, id or self.component_name))) or type(self).__name__
        safe = "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)
        return self._staging / f"{safe}.{index}"

    def _apply_cut(self, part: str, stage: Stage, number: int, applied: int | None) -> None:
        if applied is None or applied < number:
            rows = itertools.chain.from_iterable(map(self.decode, stage.entries(number)))
            try:
                self.apply(part, number, rows)
            except BaseException:
                self._apply_failed = True
                raise
        stage.remove(number)

    def _set_out(self, part: str, stage: Stage, last_id: int | None) -> int | None:
        """Bring a part to the state that a run begins with; returns the number that is applied then."""
        if last_id is not None:
            stage.drop_open()
            return self._resumed(part, stage, last_id)
        stage.discard_others()
        if self.keeps_leftovers and self.eager and (stage.rows or stage.cuts):
            self.logger.warning("%s: applying rows that an earlier run had taken when it was killed", part)
            applied = self.applied(part)
            stage.cut(max([applied or 0, *stage.cuts]) + 1)
            for number in stage.cuts:
                self._apply_cut(part, stage, number, applied)
        stage.discard()
        self.forget(part)
        return None

    def _resumed(self, part: str, stage: Stage, last_id: int) -> int:
        """Bring a part to the state that it had at a checkpoint; returns its number."""
        applied = self.applied(part)
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
            f"in between are not staged in {stage.folder}: is this the same target and folder as before?"
        )

    def _take_over(self, id: str, index: int, last_id: int) -> None:
        """Bring a part to its state at a checkpoint that it has written under the sink's former id.

        The number is noted under the new name before it is forgotten under the old one, so a run that is
        killed in between finds one of them, and ends what this one has begun.
        """
        before, part = self._part(index, id), self._part(index)
        stage = Stage(self._staging_folder(index, id), eager=self.eager)
        if stage.cuts or self.applied(before) is not None:
            number = self._set_out(before, stage, last_id)
            if number is not None and self.applied(part) != number:
                self.apply(part, number, iter(()))
            if self.scales:  # otherwise a target has one number, whatever the sink is called
                self.forget(before)
        stage.delete()

    def _indexes_before(self, id: str) -> list[int]:
        """The parts under a former id that are this task's to take over: its own, and those of tasks that
        this run no longer has."""
        others = [index for index in self._former_indexes(id) if index % self._task_count == self._task_index]
        return [self._task_index, *others]

    scales = True
    """Whether several tasks may become more or fewer between two runs, as all write into one target."""

    def _refuse_other_tasks(self) -> None:
        """Refuse another number of tasks where one has applied everything: others would get its rows."""
        applied = [self.applied(self._part(index)) for index in range(self._task_count)]
        changed = None in applied or self._former_indexes()
        if changed and any(number is not None and is_end(number) for number in applied):
            raise SinkError(
                f"{self.part}: the run before was killed at its end, when some tasks had applied everything: "
                f"go on with as many tasks as before, and not with {self._task_count}"
            )

    def _is_new_task(self) -> bool:
        """Whether this run has more tasks than the one before: others have applied rows."""
        if not self.scales or self._task_index == 0:
            return False
        ids = [self._former_id] if self._former_id is not None else []  # first, as it is forgotten last
        return any(self.applied(self._part(0, id)) is not None for id in [*ids, self.component_name])

    def _of_former_tasks(self) -> Iterator[tuple[str, Stage]]:
        """The parts of tasks that this run no longer has, as far as they are this task's to take over."""
        for index in self._former_indexes():
            if index % self._task_count == self._task_index:
                yield self._part(index), Stage(self._staging_folder(index), eager=self.eager)

    def _former_indexes(self, id: str | None = None) -> list[int]:
        """The indexes of tasks that this run no longer has, and that have staged rows once."""
        base = self._staging_folder(0, id)
        stem = base.name.removesuffix("0")
        found = [folder.name.removeprefix(stem) for folder in base.parent.glob(f"{stem}*")]
        return sorted(int(name) for name in found if name.isdecimal() and int(name) >= self._task_count)

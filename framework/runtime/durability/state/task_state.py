"""The declared state of one task: its tables, the key that they are of now, and what is not committed yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from framework.model.errors import StateError
from framework.operators.components import BatchBolt, Bolt, StatefulBolt
from framework.operators.state import (
    DirtyHandle,
    LivingHandle,
    NotingHandle,
    OwningHandle,
    StateAccess,
    StateSpec,
    declared_states,
)
from framework.operators.state.access import no_time
from framework.planning import TaskSpec
from framework.runtime.durability.state.snapshot import OwnState, Snapshot, Snapshots
from viper.errors import StateFullError
from viper.hashing import group_of_hash, stable_hash
from viper.state import KeyedState, KeyedTable, Scope, Writer

MICROS: Final = 1_000_000
_OF_THE_TASK: Final = ((None,), (0,))
"""The row, and the index in it, of the only key that state of a task has."""


class NoStateRoomError(StateFullError):
    """A state that there is no room for; the message says what to configure."""

    def __init__(self, message: str) -> None:
        super().__init__(f"{message}: raise viper.state.bytes, or let keys be forgotten by clear()")


@dataclass(frozen=True, slots=True)
class TaskParts:
    """A task's part of the memory of state."""

    task: TaskSpec
    by_key: KeyedState | None
    """The state by key of its component; None where that declares none."""
    groups: range
    """The key groups whose keys it may have: those that it owns, or all where it claims some of them."""
    by_task: KeyedState | None
    """The state of the task; None where its component declares no state of tasks."""
    key_fields: int = 1
    """The number of fields in a key of its component; 0 where that makes its keys itself."""
    saves: range | None = None
    """The key groups that it saves for checkpoints; None for `groups`."""
    outlives: bool = True
    """True if the memory outlives the task's process."""


class TaskState:
    """The declared state of one task, for its thread alone.

    Changes are durable once they are committed. Until then, the changes of the tuple in process, or of any
    other callback, can be taken back.
    """

    def __init__(self, writer: Writer, parts: TaskParts, specs: Sequence[StateSpec]) -> None:
        """
        Args:
            writer: what it changes everything by.
            parts: the task's.
            specs: the states that its component declares.
        """
        self.groups = parts.groups
        """The key groups whose keys it may have."""
        self._saves = parts.groups if parts.saves is None else parts.saves
        self._claims = self._saves != parts.groups
        """True if it has some of them at a time only."""
        self._is_read_anytime = parts.outlives or self._claims
        self._task = parts.task
        self._snapshots = Snapshots()
        by_key, by_task = parts.by_key, parts.by_task
        self.writer = writer
        some = by_key or by_task
        assert some is not None
        self.scope: Scope = some.scope(self.writer)
        """The scope of the tuple in process, with its key."""
        self._call: Scope = some.scope(self.writer)
        """The scope of a callback for many tuples, whose changes are taken back together."""
        self._clock = self.scope
        """The scope whose changes are taken back together: that of a tuple, or of a call."""
        self._own_scope: Scope = some.scope(self.writer)
        """The scope of the task's own state, which has one key."""
        self._own_scope.enter(*_OF_THE_TASK)
        self._count = 0 if by_key is None else by_key.groups
        self._key_fields = parts.key_fields
        self.tables: dict[str, tuple[KeyedTable, ...]] = {}
        """The tables of each state, by its name."""
        self._specs = tuple(specs)
        self._by_key = by_key
        self._open(self.tables, by_key, "key", parts.groups)
        self._open(self.tables, by_task, "task", range(1))
        self._saved = self.tables
        """The tables with the keys that it saves."""
        if self._claims:
            self._saved = dict(self.tables)
            self._open(self._saved, by_key, "key", self._saves)
        self._bound: dict[str, Any] = {}
        """The handles that the component has, by name."""
        self._holder: object = None
        """The component, whose attributes hold the handles."""
        self._dirty: list[DirtyHandle] = []
        self._keepers: list[OwningHandle] = []
        """The handles that know more of keys than the tables do."""
        self._component = ""
        self._now: Callable[[], int] = no_time
        """Returns the time of the tuple in process."""

    def _open(
        self, tables: dict[str, tuple[KeyedTable, ...]], state: KeyedState | None, per: str, groups: range
    ) -> None:
        number = 0
        for spec in self._specs:
            if spec.per == per and state is not None:
                tables[spec.name] = tuple(
                    state.table(self.writer, n, spec.name, groups=groups, full=NoStateRoomError)
                    for n in range(number, number + len(spec.codes))
                )
                number += len(spec.codes)

    def tell_time_by(self, now: Callable[[], int]) -> None:
        """Have handles that `bind` makes ask for the time of the tuple in process, in microseconds."""
        self._now = now

    @contextmanager
    def at_time(self, now: Callable[[], int], ttls: Mapping[str, float]) -> Iterator[None]:
        """For as long as the block runs, ask for another time, as no tuple is in process; for tests.

        Args:
            now: returns it, in microseconds; a time before the latest counts as that.
            ttls: by the names of states the seconds for which their keys are remembered.
        """
        of_time = [(table, round(ttl * MICROS)) for name, ttl in ttls.items() for table in self.tables[name]]
        try:
            for table, ttl_us in of_time:
                table.expire(ttl_us, now)
            yield
        finally:
            for table, ttl_us in of_time:
                table.expire(ttl_us, self._now)

    def bind(self, component: Any, *, goes_on: bool) -> None:
        """Give a component its handles; what the one before it has not written yet is written.

        Args:
            component: it has been constructed, and not initialized.
            goes_on: whether it may continue after an exception.

        Raises:
            StateError: it has an attribute of a state's name.
        """
        self.save()
        self._clock = self._call if isinstance(component, BatchBolt) else self.scope
        self.begin_call()
        self._component = type(component).__name__
        self._holder = component
        declared = declared_states(type(component))
        bound: dict[str, Any] = {}
        for spec in self._specs:
            if _own(component, spec.name) is not _NONE:
                raise self._overwritten(spec.name)
            scope = self.scope if spec.per == "key" else self._own_scope
            of_now = scope, self._clock, goes_on, self._now
            of_keys = self.groups, self._count, self._key_fields
            tables = self.tables[spec.name]
            access = StateAccess(spec.name, tables, *of_now, *of_keys, self._is_read_anytime)
            bound[spec.name] = declared[spec.name].attach(access)
        for name, handle in bound.items():
            object.__setattr__(component, name, handle)
        if self._count and isinstance(component, Bolt):
            component._judge_keys_by(self.owns_key)
        self._bound = bound
        self._dirty = [handle for handle in bound.values() if isinstance(handle, DirtyHandle)]
        self._keepers = [handle for handle in bound.values() if isinstance(handle, OwningHandle)]

    def let_go(self) -> None:
        """Take the handles away from the component, as the run has ended: no state is there any more."""
        for name, handle in self._bound.items():
            if _own(self._holder, name) is handle:
                object.__delattr__(self._holder, name)
        vars(self).clear()

    def owns_key(self) -> bool:
        """True if the task owns the key of the tuple in process.

        Raises:
            LookupError: none is in process, or it has no key.
        """
        return group_of_hash(stable_hash(self.scope.key), self._count) in self.groups

    def hand_over(self) -> None:
        """Write all that other tasks have to find that may own key groups of this one next; as `save`."""
        self.save()
        for handle in self._bound.values():
            if isinstance(handle, NotingHandle):
                handle.note()

    def own(self, groups: range) -> None:
        """Have other key groups from now on, as they were when the tasks that owned them committed last.

        The component continues with the handles that it has. The task has committed behind `hand_over`, and
        has not changed anything since. No snapshot is being written; the next one has all keys.

        Args:
            groups: those that the task owns.

        Raises:
            RuntimeError: something is not committed, or a snapshot is not all written.
        """
        if self._by_key is None:
            return
        self.scope.leave()
        self.groups = self._saves = groups
        names = [spec.name for spec in self._specs if spec.per == "key"]
        for number, table in enumerate(table for name in names for table in self.tables[name]):
            self._by_key.own(table, number, groups)
        for name in names:
            handle = self._bound.get(name)
            if isinstance(handle, OwningHandle):
                handle.own(groups)
        self._snapshots.begin_anew()

    def begin_call(self) -> None:
        """Prepare for a callback that is for no tuple with a key, or for several.

        Raises:
            StateError: a value of an earlier call cannot be kept.
            StateFullError: there is no room for one.
        """
        self.scope.leave()
        if self._clock is not self.scope:  # then what earlier calls have changed stays, if this one goes back
            for handle in self._dirty:
                handle.flush()
            self._clock.leave()

    def back(self) -> None:
        """Take back what the tuple in process, or the callback, has changed."""
        for handle in self._dirty:
            handle.forget()
        self._clock.back()
        self.scope.renew()
        self._own_scope.renew()

    def commit(self) -> None:
        """Make all changes last: those of a slice have been processed, and what it emitted is placed.

        Raises:
            StateError: a value cannot be kept, or the component has overwritten a handle.
            StateFullError: there is no room for a value.
        """
        self.flush()
        self.writer.commit()

    def let_kept_go(self) -> None:
        """Keep no values, as other tasks may change them; all changes are committed."""
        for handle in self._keepers:
            handle.own(self.groups)

    def flush(self) -> None:
        """Write what the handles have gathered, as for `commit`."""
        for handle in self._dirty:
            handle.flush()
        for name, handle in self._bound.items():
            if _own(self._holder, name) is not handle:
                raise self._overwritten(name)

    def save(self) -> None:
        """Write what handles hold back until a checkpoint, as well; as `flush`."""
        for handle in self._dirty:
            if isinstance(handle, LivingHandle):
                handle.save()
        self.flush()

    def snapshot(self, number: int, folder: Path, *, full: bool) -> Snapshot:
        """All states as they are now, for a checkpoint; `save` has been called.

        Args:
            number: the id of the checkpoint.
            folder: where its parts are written.
            full: whether no snapshot of this process is in the checkpoint before it.

        Returns:
            The snapshot: of what has changed since the last one that was neither given up nor left unwritten,
            if there is one and its checkpoint is still there.
        """
        return self._snapshots.begin(number, folder, [self._own(spec) for spec in self._specs], full=full)

    def _own(self, spec: StateSpec) -> OwnState:
        by_key, task = spec.per == "key", self._task
        index, groups = (None, self._saves) if by_key else (task.index, range(1))
        return OwnState(spec, self._saved[spec.name], task.component, task.id, index, groups)

    def _overwritten(self, name: str) -> StateError:
        return StateError(
            f"{self._component} declares {name} as state and has given the attribute another value: what is "
            f"to be remembered is set by its handle, as in self.{name}.value = ..., the handle itself never"
        )


_NONE: Final = object()
"""Stands for an attribute that a component does not have."""


def _own(component: object, name: str) -> Any:
    """The attribute of a component in the place of a declared state; `_NONE` if only its class has one.

    `vars` would make each access to any attribute slower from then on (`framework.runtime.tasks.hosts.host`).
    """
    try:
        return object.__getattribute__(component, name)
    except (AttributeError, StateError):  # the latter is what a declaration raises
        return _NONE


class Transactions:
    """Informs a stateful bolt of some of the commits of its state, as Storm does of its checkpoints.

    Args:
        bolt: it has been initialized.
        interval_s: seconds between two transactions.
    """

    def __init__(self, bolt: StatefulBolt, interval_s: float) -> None:
        self._bolt = bolt
        self._interval_s = interval_s
        self._due_s = time.monotonic() + interval_s

    def before_commit(self, *, is_last: bool) -> None:
        """Inform the bolt that its state is about to be committed, if that is due.

        Args:
            is_last: whether nothing comes behind the commit.
        """
        now_s = time.monotonic()
        if now_s < self._due_s and not is_last:
            return
        self._due_s = now_s + self._interval_s
        bolt = self._bolt
        txid = (bolt.transactions.value or 0) + 1
        bolt.pre_prepare(txid)
        bolt.pre_commit(txid)
        bolt.transactions.add(txid)

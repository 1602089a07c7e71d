"""Reads what a bolt remembers in declared state, between two steps of a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from framework.model.topology import unknown
from framework.operators.state import State, declared_states
from framework.operators.state.kinds import TableState
from framework.runtime.durability.state import TaskState
from framework.runtime.tasks.slot import ComponentSlot


def read_state(
    slots: Sequence[ComponentSlot], name: str, key: tuple[Any, ...], now: Callable[[], int]
) -> Any:
    """What the tasks of a bolt remember of a key.

    Args:
        slots: those of its tasks.
        name: the attribute of the state.
        key: the values that name the key; none for state of a task, which is then that of the first task.
        now: tells the time in microseconds, by which keys are forgotten that have a time to live.

    Returns:
        The value; a list or a dictionary of a state that holds several.

    Raises:
        KeyError: no state of that name is declared.
        TypeError: a key is missing, or there is one and the state has none.
    """
    component: Any = slots[0].host.component if slots else None
    declared = declared_states(type(component))
    if name not in declared:
        raise KeyError(unknown("state", name, declared))
    state = declared[name]
    if state.per == "key" and not key:
        raise TypeError(f"state {name!r} is of a key: give the values of the key's fields")
    if state.per == "task" and key:
        raise TypeError(f"state {name!r} is of a task, and has no key: found {key!r}")
    for slot in slots:
        assert slot.state is not None
        with slot.state.at_time(now, {} if state.ttl is None else {name: state.ttl}):
            found = _read(slot.state, slot.host.component, state, name, key)
        if found is not None:
            return found[0]
    raise LookupError(f"no task owns the key {key!r}")


def _read(
    of_task: TaskState, component: Any, state: State, name: str, key: tuple[Any, ...]
) -> tuple[Any] | None:
    """What one task remembers; None if another one owns the key."""
    if state.per == "task":
        return (_plain(state, getattr(component, name)),)
    of_task.scope.enter(key, tuple(range(len(key))))
    try:
        return (_plain(state, getattr(component, name)),) if of_task.owns_key() else None
    finally:
        of_task.scope.leave()


def _plain(state: State, handle: Any) -> Any:
    if isinstance(state, TableState):
        return {column: getattr(handle, column) for column in state.columns}
    if state.kind == "map":
        return dict(handle.items())
    return handle.get() if state.kind == "list" else handle.value

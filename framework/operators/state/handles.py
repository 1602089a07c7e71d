"""Handles: the attributes of declared states while a task runs.

A typed value is a `viper.state.StateCell`, and a table a `viper.state.TableCell`, which C reads and writes.
The others are made of values here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from framework.operators.state.access import DirtyHandle, LivingHandle, StateAccess
from framework.operators.state.declaration import Durable
from framework.operators.state.pickled import LivingValue, PickledValue
from viper.scalars import python_of
from viper.state import StateCell, TableCell


def value_handle(
    access: StateAccess, *, typed: bool, default: Any, durable: Durable = "slice"
) -> StateCell | PickledValue:
    """The handle of one value."""
    if typed:
        return StateCell(access.scope, access.tables[0], default)
    return (LivingValue if durable == "checkpoint" else PickledValue)(access, default)


def reducing_handle(cell: StateCell | PickledValue, function: Callable[[Any, Any], Any]) -> Folded:
    """The handle of a value that others are folded into by a function."""
    return _chosen(Reduced, DirtyReduced, LivingReduced, cell)(cell, function)


def aggregating_handle(
    cell: StateCell | PickledValue,
    create: Callable[[], Any],
    add: Callable[[Any, Any], Any],
    result: Callable[[Any], Any] | None,
) -> Folded:
    """The handle of an accumulator."""
    return _chosen(Aggregated, DirtyAggregated, LivingAggregated, cell)(cell, create, add, result)


def _chosen(
    plain: Callable[..., Folded],
    dirty: Callable[..., Folded],
    living: Callable[..., Folded],
    cell: object,
) -> Callable[..., Folded]:
    if isinstance(cell, LivingHandle):
        return living
    return dirty if isinstance(cell, DirtyHandle) else plain


class Folded:
    """A value that others are added to."""

    def __init__(self, cell: StateCell | PickledValue) -> None:
        self._cell = cell

    @property
    def is_set(self) -> bool:
        """True if anything was added for the key of the tuple in process."""
        return self._cell.is_set

    def clear(self) -> None:
        """Forget what was added for the key."""
        self._cell.clear()


class Reduced(Folded):
    """The result of a function for the values that were added."""

    def __init__(self, cell: StateCell | PickledValue, function: Callable[[Any, Any], Any]) -> None:
        super().__init__(cell)
        self._function = function

    def add(self, value: Any) -> None:
        """Add a value for the key of the tuple in process."""
        cell = self._cell
        value = python_of(value)
        cell.value = self._function(cell.value, value) if cell.is_set else value

    @property
    def value(self) -> Any:
        """The result for the values of the key; None before the first."""
        return self._cell.value


class Aggregated(Folded):
    """An accumulator of the values that were added."""

    def __init__(
        self,
        cell: StateCell | PickledValue,
        create: Callable[[], Any],
        add: Callable[[Any, Any], Any],
        result: Callable[[Any], Any] | None,
    ) -> None:
        super().__init__(cell)
        self._create = create
        self._add = add
        self._result = result

    def add(self, value: Any) -> None:
        """Add a value for the key of the tuple in process."""
        cell = self._cell
        cell.value = self._add(cell.value if cell.is_set else self._create(), python_of(value))

    @property
    def value(self) -> Any:
        """The result for the key; None before the first value."""
        cell = self._cell
        if not cell.is_set:
            return None
        return cell.value if self._result is None else self._result(cell.value)


class _Dirty(Folded):
    """Holds changes back, as the value itself does."""

    _cell: PickledValue

    def flush(self) -> None:
        """As `DirtyHandle.flush`."""
        self._cell.flush()

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        self._cell.forget()

    def own(self, groups: range) -> None:
        """As `OwningHandle.own`."""
        self._cell.own(groups)


class _Living(_Dirty):
    """Holds changes back until a checkpoint, as the value itself does."""

    _cell: LivingValue

    def save(self) -> None:
        """As `LivingHandle.save`."""
        self._cell.save()


class DirtyReduced(_Dirty, Reduced):
    """`Reduced` of values that are pickled."""


class DirtyAggregated(_Dirty, Aggregated):
    """`Aggregated` of values that are pickled."""


class LivingReduced(_Living, Reduced):
    """`Reduced` of values that live in their process."""


class LivingAggregated(_Living, Aggregated):
    """`Aggregated` of values that live in their process."""


def table_handle(access: StateAccess, defaults: Mapping[str, Any]) -> TableCell:
    """The handle of a table, with an attribute for each column."""
    return TableCell(access.scope, access.tables[0], dict(defaults))

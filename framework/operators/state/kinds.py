"""The kinds of declared state: values, tables of typed columns, and values that others are folded into."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from framework.common.coroutines import check_awaits_nothing
from framework.operators.state.access import StateAccess
from framework.operators.state.declaration import Durable, Per, State
from framework.operators.state.types import PICKLED, ZEROS, checked_default, code_of

_ANY = "any values"


class ValueState(State):
    """One value per key.

    The handle's ``value`` is that of the key of the tuple in process; it can be set, and deleted. ``is_set``
    says whether the key was given one, and ``clear()`` lets the key be forgotten.
    """

    kind = "value"

    def __init__(
        self,
        type: str | None = None,
        default: Any = None,
        *,
        per: Per = "key",
        ttl: float | None = None,
        durable: Durable = "slice",
    ) -> None:
        """
        Args:
            type: ``int64``, ``float64``, ``bool``, ``string`` or ``binary``; None for any values of Python's
                that can be pickled.
            default: the value of a key that was given none. Of any values, each key gets a copy of it.
            per: whether each key has a value of its own, or each task one.
            ttl: seconds for which a key is remembered behind its last change; see `State`. It needs a type.
            durable: ``slice``: changes outlive their process when their slice ends. ``checkpoint``: values
                live in their process and are pickled for checkpoints only; if the process dies, the run goes
                back to its last checkpoint. Of any values only.

        Raises:
            ValueError: there is no such type, the default is not of it, or a `durable` that is none, or that
                a type cannot have.
        """
        super().__init__(per=per, ttl=ttl)
        self.durable = self._lasting(durable, type)
        self._code = self._timed(PICKLED if type is None else code_of(type), type)
        self._type = type
        self._default = default if type is None or default is None else checked_default(type, default)

    @property
    def codes(self) -> tuple[str, ...]:
        """As in the base class."""
        return (self._code,)

    @property
    def types(self) -> str:
        """As in the base class."""
        return self._type or _ANY

    def handle(self, access: StateAccess) -> Any:
        """As in the base class."""
        from framework.operators.state.handles import value_handle

        return value_handle(
            access, typed=self._type is not None, default=self._default, durable=self.durable
        )


class TableState(State):
    """Several typed columns per key.

    The handle has an attribute for each column, which is that of the key of the tuple in process. ``is_set``
    says whether the key was given anything, and ``clear()`` lets it be forgotten.
    """

    kind = "table"

    def __init__(
        self,
        columns: Mapping[str, str],
        defaults: Mapping[str, Any] | None = None,
        *,
        per: Per = "key",
        ttl: float | None = None,
    ) -> None:
        """
        Args:
            columns: the type of each column, by its name.
            defaults: what columns hold of a key that was given nothing; 0, 0.0, False or nothing at all where
                a column is left out.
            per: whether each key has columns of its own, or each task.
            ttl: seconds for which a key is remembered behind its last change; see `State`.

        Raises:
            TypeError: the columns are no mapping.
            ValueError: no columns, no such type, a default that is not of it, or a name that cannot be one.
        """
        super().__init__(per=per, ttl=ttl)
        if not isinstance(columns, Mapping):
            raise TypeError(f"columns {columns!r}: expected the type of each column by its name, in a dict")
        if not columns:
            raise ValueError("a table without columns: expected at least one")
        for name in columns:
            if not name.isidentifier() or name.startswith("_") or name in ("clear", "is_set"):
                raise ValueError(f"column {name!r}: expected a name that an attribute may have")
        for name in defaults or {}:
            if name not in columns:
                raise ValueError(f"a default for {name!r}, which is no column: expected {list(columns)}")
        self._code = self._timed("".join(map(code_of, columns.values())), columns)
        self._types = dict(columns)
        given = dict(defaults or {})
        self._defaults = {
            name: checked_default(type, given.get(name, ZEROS[type])) for name, type in columns.items()
        }

    @property
    def codes(self) -> tuple[str, ...]:
        """As in the base class."""
        return (self._code,)

    @property
    def types(self) -> str:
        """As in the base class."""
        return ", ".join(f"{name}: {type}" for name, type in self._types.items())

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._types)

    def handle(self, access: StateAccess) -> Any:
        """As in the base class."""
        from framework.operators.state.handles import table_handle

        return table_handle(access, self._defaults)


class _Folding(State):
    """A state of one value per key, which others are folded into."""

    def __init__(self, type: str | None, per: Per, ttl: float | None, durable: Durable) -> None:
        super().__init__(per=per, ttl=ttl)
        self._value = ValueState(type, ttl=ttl, durable=durable)
        self.durable = durable

    @property
    def codes(self) -> tuple[str, ...]:
        """As in the base class."""
        return self._value.codes

    @property
    def types(self) -> str:
        """As in the base class."""
        return self._value.types


class ReducingState(_Folding):
    """One value per key, which is what a function makes of all values that were added.

    The handle has ``add(value)``, ``value`` (None before the first), ``is_set`` and ``clear()``.
    """

    kind = "reducing"

    def __init__(
        self,
        type: str | None,
        function: Callable[[Any, Any], Any],
        *,
        per: Per = "key",
        ttl: float | None = None,
        durable: Durable = "slice",
    ) -> None:
        """
        Args:
            type: as for `ValueState`.
            function: makes one value of what was added so far and of the value that is added.
            per: whether each key has a value of its own, or each task one.
            ttl: seconds for which a key is remembered behind its last change; see `State`. It needs a type.
            durable: as for `ValueState`.

        Raises:
            TypeError: a function is none.
            ValueError: there is no such type, or a `durable` that is none, or that a type cannot have.
        """
        super().__init__(type, per, ttl, durable)
        self._function = _checked("function", function)

    def handle(self, access: StateAccess) -> Any:
        """As in the base class."""
        from framework.operators.state.handles import reducing_handle

        return reducing_handle(self._value.handle(access), self._function)


class AggregatingState(_Folding):
    """One accumulator per key, that values of another kind are added to.

    The handle has ``add(value)``, ``value`` (what `result` makes of the accumulator, None before the first
    value), ``is_set`` and ``clear()``.
    """

    kind = "aggregating"

    def __init__(
        self,
        type: str | None = None,
        *,
        create: Callable[[], Any],
        add: Callable[[Any, Any], Any],
        result: Callable[[Any], Any] | None = None,
        per: Per = "key",
        ttl: float | None = None,
        durable: Durable = "slice",
    ) -> None:
        """
        Args:
            type: of the accumulator; as for `ValueState`.
            create: makes an accumulator without values.
            add: takes an accumulator and a value, and returns the accumulator with it, a new one or the same.
            result: what a reader gets for an accumulator; the accumulator itself if it is left out.
            per: whether each key has an accumulator of its own, or each task one.
            ttl: seconds for which a key is remembered behind its last change; see `State`. It needs a type.
            durable: as for `ValueState`.

        Raises:
            TypeError: a function is none.
            ValueError: there is no such type, or a `durable` that is none, or that a type cannot have.
        """
        super().__init__(type, per, ttl, durable)
        self._functions = (
            _checked("create", create),
            _checked("add", add),
            None if result is None else _checked("result", result),
        )

    def handle(self, access: StateAccess) -> Any:
        """As in the base class."""
        from framework.operators.state.handles import aggregating_handle

        return aggregating_handle(self._value.handle(access), *self._functions)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def _checked(name: str, function: _Function) -> _Function:
    """An argument that is to be called."""
    if not callable(function):
        raise TypeError(f"{name}={function!r}: expected a function")
    check_awaits_nothing(f"{name}=", function)
    return function

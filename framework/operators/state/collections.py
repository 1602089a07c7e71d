"""Declared states that hold several values per key: lists and maps."""

from __future__ import annotations

from typing import Any

from framework.operators.state.access import StateAccess
from framework.operators.state.declaration import Durable, Per, State
from framework.operators.state.types import PICKLED, code_of


class ListState(State):
    """A list per key. Appending costs the same however long the list is.

    The handle's ``add(value)`` and ``add_all(values)`` append, ``get()`` returns the elements as a list in
    their order, ``update(values)`` puts others in their place, and ``clear()`` takes them out. ``len`` and
    iteration are those of the list.
    """

    kind = "list"

    def __init__(
        self,
        type: str | None = None,
        *,
        per: Per = "key",
        ttl: float | None = None,
        durable: Durable = "slice",
    ) -> None:
        """
        Args:
            type: of the elements: ``int64``, ``float64``, ``bool``, ``string`` or ``binary``; None for any
                values of Python's that can be pickled.
            per: whether each key has a list of its own, or each task one.
            ttl: seconds for which a key's list is remembered behind its last change; see `State`. It needs a
                type.
            durable: as for `ValueState`.

        Raises:
            ValueError: there is no such type, or a `durable` that is none, or that a type cannot have.
        """
        super().__init__(per=per, ttl=ttl)
        self.durable = self._lasting(durable, type)
        self._type = type
        self._code = self._timed("[" + (PICKLED if type is None else code_of(type)), type)

    @property
    def codes(self) -> tuple[str, ...]:
        """As in the base class."""
        return (self._code,)

    @property
    def types(self) -> str:
        """As in the base class."""
        return f"elements: {self._type or 'any values'}"

    def handle(self, access: StateAccess) -> Any:
        """As in the base class."""
        from framework.operators.state.lists import list_handle

        return list_handle(access, typed=self._type is not None, durable=self.durable)


class MapState(State):
    """A map per key, each entry of which is read and written alone.

    The handle has ``get(key, default=None)``, ``put(key, value)``, ``remove(key)`` (whether there was one),
    ``contains(key)``, ``keys()``, ``values()`` and ``items()`` as lists in the order in which the keys came,
    ``is_empty()`` and ``clear()``. ``len``, ``in`` and iteration are those of the keys.

    Keys of a map are what keys of a grouping are: equal ones are one key, whatever their types.
    """

    kind = "map"

    def __init__(
        self,
        key_type: str | None = None,
        value_type: str | None = None,
        *,
        per: Per = "key",
        ttl: float | None = None,
        durable: Durable = "slice",
    ) -> None:
        """
        Args:
            key_type: of the keys: ``int64``, ``float64``, ``bool``, ``string`` or ``binary``; None for any
                that can be a grouping's.
            value_type: of the values, likewise; None for any that can be pickled.
            per: whether each key has a map of its own, or each task one.
            ttl: seconds for which a key's map is remembered behind its last change; see `State`. It needs a
                type of values.
            durable: as for `ValueState`; `checkpoint` is for any values only, under keys of any type.

        Raises:
            ValueError: there is no such type, or a `durable` that is none, or that a type cannot have.
        """
        super().__init__(per=per, ttl=ttl)
        self.durable = self._lasting(durable, value_type)
        self._types = key_type, value_type
        self._key_code = "" if key_type is None else code_of(key_type)
        self._code = self._timed("{" + (PICKLED if value_type is None else code_of(value_type)), value_type)

    @property
    def codes(self) -> tuple[str, ...]:
        """As in the base class."""
        return (self._code,)

    @property
    def types(self) -> str:
        """As in the base class."""
        key_type, value_type = self._types
        return f"{key_type or 'any keys'} to {value_type or 'any values'}"

    def handle(self, access: StateAccess) -> Any:
        """As in the base class."""
        from framework.operators.state.maps import map_handle

        return map_handle(
            access, self._key_code, typed=self._types[1] is not None, durable=self.durable
        )

"""The base class of declared states, and which states a class declares."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Literal

from framework.model.errors import StateError
from framework.operators.state.access import StateAccess
from framework.operators.state.types import PICKLED

Per = Literal["key", "task"]
_PER: Final = ("key", "task")
Durable = Literal["slice", "checkpoint"]
_DURABLE: Final = ("slice", "checkpoint")
TO_LIVE: Final = ", with a time to live"
"""The end of the types of a state that expires; its time to live may change between runs."""
_SHORTEST_S: Final = 1e-6
_LONGEST_S: Final = 10**11


@dataclass(frozen=True, slots=True)
class StateSpec:
    """The description of a declared state in a plan."""

    name: str
    """Of the attribute."""
    kind: str
    """``value``, ``table`` and so on."""
    types: str
    """The types of its values, in words."""
    per: Per
    """``key`` if each key has a value of its own, ``task`` if each task has one."""
    codes: tuple[str, ...]
    """The letters of the columns of each of its tables; see `viper.state.KeyedState`."""
    durable: Durable = "slice"
    """Behind what its changes outlive their process: behind each slice, or behind a checkpoint of the run."""


class State(ABC):
    """A state that a bolt's class declares as an attribute.

    When a task begins, the attribute of its component becomes a handle, by which the component reads and
    changes the state. The handle lies in the component's ``__dict__``: an access costs as much as any other.
    """

    kind: ClassVar[str]
    """Flink's word for it."""
    durable: Durable = "slice"
    """Behind what its changes outlive their process; see `StateSpec`."""

    def __init__(self, *, per: Per = "key", ttl: float | None = None) -> None:
        """
        Args:
            per: whether each key has a value of its own, or each task one.
            ttl: seconds for which a key is remembered behind its last change, by the time of the tuples; None
                for ever.

        Raises:
            ValueError: a `per` that is none, no time to live, or one of state of a task.
        """
        if per not in _PER:
            raise ValueError(f"per={per!r}: expected 'key' or 'task'")
        if ttl is not None and not (isinstance(ttl, int | float) and _SHORTEST_S <= ttl <= _LONGEST_S):
            raise ValueError(f"ttl={ttl!r}: expected seconds, from 0.000001 to {_LONGEST_S}")
        if ttl is not None and per == "task":
            raise ValueError(f"ttl={ttl!r} and per='task': only state by key can be forgotten by time")
        self.per: Per = per
        self.ttl = ttl
        """Seconds for which a key is remembered; None: for ever."""
        self.name = ""
        """Of the attribute; empty until a class has it."""

    def is_kept(self, conf: Mapping[str, Any]) -> bool:
        """True if a component with that resolved configuration has the state; by default each has."""
        return True

    @property
    @abstractmethod
    def codes(self) -> tuple[str, ...]:
        """The letters of the columns of each table that the state is kept in."""

    @property
    @abstractmethod
    def types(self) -> str:
        """The types of its values, in words."""

    @abstractmethod
    def handle(self, access: StateAccess) -> Any:
        """Make the object by which a component reads and changes the state.

        One that holds changes back is a `DirtyHandle`.
        """

    def attach(self, access: StateAccess) -> Any:
        """Make the handle for a task, whose keys go by time if they shall."""
        if self.ttl is not None:
            for table in access.tables:
                table.expire(round(self.ttl * 1_000_000), access.now)
        return self.handle(access)

    @property
    def spec(self) -> StateSpec:
        """Its description in a plan."""
        types = self.types if self.ttl is None else f"{self.types}{TO_LIVE}"
        return StateSpec(self.name, self.kind, types, self.per, self.codes, self.durable)

    def _timed(self, code: str, type: object) -> str:
        """The letters of a table's columns, behind the one for keys that go by time."""
        if self.ttl is None:
            return code
        if type is None:
            raise ValueError(f"ttl={self.ttl!r} of any values: expected a type, such as 'int64'")
        return f"@{code}"

    def _lasting(self, durable: Durable, type: object) -> Durable:
        """Behind what changes last, where only any values can live in their process."""
        if durable not in _DURABLE:
            raise ValueError(f"durable={durable!r}: expected 'slice' or 'checkpoint'")
        if durable == "checkpoint" and type is not None:
            raise ValueError(
                f"durable='checkpoint' of type {type!r}: a typed value lies in shared memory in any case; "
                "only any values can live in their process: leave the type out, or durable"
            )
        return durable

    def __set_name__(self, owner: type, name: str) -> None:
        if self.name and self.name != name:
            raise TypeError(f"{owner.__name__} declares one state as {self.name} and as {name}: make two")
        self.name = name

    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:
            return self
        raise StateError(
            f"{owner.__name__}.{self.name} is declared state, and is there from initialize until close of a "
            "task that runs: not in __init__, nor without a run (viperstorm.testing.run_bolt makes one)"
        )


class PickledState(State):
    """A state of Python values that have a form of their own, and are pickled in it."""

    holds: ClassVar[str]
    """The kind of its values, in words."""

    @property
    def codes(self) -> tuple[str, ...]:
        """As in the base class."""
        return (PICKLED,)

    @property
    def types(self) -> str:
        """As in the base class."""
        return self.holds


def declared_states(cls: type) -> dict[str, State]:
    """The states that a class and its bases declare, by name: those of bases first, as they were defined."""
    found: dict[str, State] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if isinstance(value, State):
                found[name] = value
            else:
                found.pop(name, None)  # a subclass has something else under that name
    return found

"""Declared states in plain Python: a dictionary by key for each, for the oracle."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from framework import AggregatingState, Bolt, ListState, MapState, ReducingState, TableState, ValueState
from framework.operators.state import State, declared_states


class PlainStates:
    """The states of one bolt that is the only task of its component."""

    def __init__(self, bolt: Bolt) -> None:
        self._key: Any = None
        self._held: dict[Any, dict[str, Any]] = {}
        """By key, then by the name of the state."""
        self._before: dict[str, Any] = {}
        self.is_empty = not declared_states(type(bolt))
        for name, state in declared_states(type(bolt)).items():
            vars(bolt)[name] = _handle(state, self)
        bolt._judge_keys_by(lambda: True)

    def enter(self, key: Any) -> None:
        """Go on to a tuple with this key."""
        self._key = key
        self._before = copy.deepcopy(self.held)

    def back(self) -> None:
        """Take back what the tuple has changed."""
        self._held[self._key] = self._before

    @property
    def held(self) -> dict[str, Any]:
        """The values of the key, by the name of the state."""
        return self._held.setdefault(self._key, {})


def _handle(state: State, states: PlainStates) -> Any:
    if isinstance(state, ValueState):
        return _Value(states, state.name, state._default)
    if isinstance(state, TableState):
        return _Table(states, state.name, state._defaults)
    if isinstance(state, ReducingState):
        return _Reduced(states, state.name, state._function)
    if isinstance(state, AggregatingState):
        return _Aggregated(states, state.name, *state._functions)
    return _List(states, state.name) if isinstance(state, ListState) else _map(state, states)


class _Plain:
    def __init__(self, states: PlainStates, name: str) -> None:
        vars(self).update(_states=states, _name=name)

    @property
    def is_set(self) -> bool:
        return self._name in self._states.held

    def clear(self) -> None:
        self._states.held.pop(self._name, None)

    def _get(self, default: Any = None) -> Any:
        return self._states.held.get(self._name, default)

    def _set(self, value: Any) -> None:
        self._states.held[self._name] = value

    _states: PlainStates
    _name: str


class _Value(_Plain):
    def __init__(self, states: PlainStates, name: str, default: Any) -> None:
        super().__init__(states, name)
        self._default = default

    @property
    def value(self) -> Any:
        if isinstance(self._default, list):
            return self._states.held.setdefault(self._name, copy.deepcopy(self._default))
        return self._get(self._default)

    @value.setter
    def value(self, value: Any) -> None:
        self._set(value)

    @value.deleter
    def value(self) -> None:
        self.clear()

    def add(self, amount: int) -> int:
        self.value += amount
        return int(self.value)


class _Table(_Plain):
    def __init__(self, states: PlainStates, name: str, defaults: dict[str, Any]) -> None:
        super().__init__(states, name)
        vars(self)["_defaults"] = defaults

    def __getattr__(self, column: str) -> Any:
        return self._get(vars(self)["_defaults"])[column]

    def __setattr__(self, column: str, value: Any) -> None:
        self._set({**self._get(vars(self)["_defaults"]), column: value})


class _Reduced(_Plain):
    def __init__(self, states: PlainStates, name: str, function: Callable[[Any, Any], Any]) -> None:
        super().__init__(states, name)
        self._function = function

    def add(self, value: Any) -> None:
        self._set(self._function(self._get(), value) if self.is_set else value)

    @property
    def value(self) -> Any:
        return self._get()


class _Aggregated(_Plain):
    def __init__(
        self,
        states: PlainStates,
        name: str,
        create: Callable[[], Any],
        add: Callable[[Any, Any], Any],
        result: Callable[[Any], Any] | None,
    ) -> None:
        super().__init__(states, name)
        self._functions = create, add, result

    def add(self, value: Any) -> None:
        create, add, _ = self._functions
        self._set(add(self._get() if self.is_set else create(), value))

    @property
    def value(self) -> Any:
        result = self._functions[2]
        return result(self._get()) if self.is_set and result is not None else self._get()


class _List(_Plain):
    def add(self, value: Any) -> None:
        self._states.held.setdefault(self._name, []).append(value)

    def update(self, values: list[Any]) -> None:
        self._set(list(values))

    def get(self) -> list[Any]:
        return list(self._get([]))

    def __len__(self) -> int:
        return len(self._get([]))


def _map(state: State, states: PlainStates) -> _Map:
    assert isinstance(state, MapState)
    return _Map(states, state.name)


class _Map(_Plain):
    def put(self, key: Any, value: Any) -> None:
        self._states.held.setdefault(self._name, {})[key] = value

    def get(self, key: Any, default: Any = None) -> Any:
        return self._get({}).get(key, default)

    def remove(self, key: Any) -> None:
        self._get({}).pop(key, None)

    def items(self) -> list[tuple[Any, Any]]:
        return list(self._get({}).items())

    def __contains__(self, key: Any) -> bool:
        return key in self._get({})

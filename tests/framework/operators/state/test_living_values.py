"""Values that live in their process until a checkpoint, against plain ones."""

from __future__ import annotations

import operator
import pickle
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from framework.model.errors import StateError
from framework.operators.state import (
    AggregatingState,
    ListState,
    MapState,
    ReducingState,
    State,
    ValueState,
    kept,
)
from tests.framework.operators.state.handing import Held

KEYS = [0, 1, 2, "x", (1, "y")]


class Living:
    """A state whose values live, and what they have to be."""

    def __init__(self) -> None:
        self.held = Held(ValueState(default=["default"], durable="checkpoint"))
        self.now: dict[Any, Any] = {}
        self.before: dict[Any, Any] = {}
        self.key: Any = None

    def enter(self, key: Any) -> None:
        self.held.enter(key)
        self.key, self.before = key, deepcopy(self.now)

    def change(self) -> None:
        found, expected = self.held.handle.value, self.now.setdefault(self.key, ["default"])
        assert found == expected
        found.append("changed")
        expected.append("changed")

    def set(self, value: list[Any]) -> None:
        self.held.handle.value, self.now[self.key] = value, deepcopy(value)

    def count_up(self) -> None:
        self.set([len(self.now.get(self.key, []))])

    def clear(self) -> None:
        self.held.handle.clear()
        self.now.pop(self.key, None)

    def back(self) -> None:
        self.held.back()
        self.now = deepcopy(self.before)

    def save(self) -> None:
        self.held.store.scope.leave()
        self.held.handle.save()
        self.held.store.writer.commit()
        assert self.told() == self.now

    def told(self) -> dict[Any, Any]:
        """Read the values of the table."""
        return {key: pickle.loads(value) for key, value in self.held.found().items()}


@pytest.mark.parametrize("most_kept", [0, 2, 1 << 16])
@pytest.mark.parametrize("seed", range(5))
def test_whatever_a_tuple_does_the_table_has_it_at_the_next_checkpoint(
    monkeypatch: pytest.MonkeyPatch, seed: int, most_kept: int
) -> None:
    monkeypatch.setattr(kept, "MOST_KEPT", most_kept)
    chance, living = random.Random(seed), Living()
    for _ in range(400):
        living.enter(chance.choice(KEYS))
        for _ in range(chance.randrange(1, 4)):
            chance.choice([living.change, living.change, living.count_up, living.clear])()
        if chance.random() < 0.3:
            living.back()
        if chance.random() < 0.2:
            living.held.commit()
        if chance.random() < 0.05:
            living.save()
    living.save()


def test_nothing_is_pickled_when_a_slice_ends() -> None:
    living = Living()
    living.enter("x")
    living.set([1])
    living.held.commit()
    assert living.told() == {"x": [1]}  # as it was new
    living.enter("x")
    living.change()
    living.held.commit()
    assert living.told() == {"x": [1]}
    living.save()
    assert living.told() == {"x": [1, "changed"]}


def test_a_value_that_cannot_be_pickled_is_told_at_the_checkpoint() -> None:
    living = Living()
    living.enter("x")
    living.set([1])
    living.held.handle.value.append(lambda: None)
    living.held.commit()
    with pytest.raises(StateError, match=r"state seen holds .* cannot be pickled"):
        living.held.handle.save()


def test_what_is_added_lives_as_well() -> None:
    """Accumulators, sums, lists and maps: the table has what the first of a key has left, and then all."""
    kinds: list[tuple[State, Callable[[Any], object]]] = [
        (AggregatingState(create=list, add=_added, durable="checkpoint"), lambda handle: handle.add(1)),
        (ReducingState(None, operator.add, durable="checkpoint"), lambda handle: handle.add([1])),
        (ListState(durable="checkpoint"), lambda handle: handle.add(1)),
        (MapState(durable="checkpoint"), lambda handle: handle.put(1, [*handle.get(1, []), 1])),
    ]
    for state, add in kinds:
        held = Held(state)
        for _ in range(2):
            held.enter("x")
            add(held.handle)
            add(held.handle)
            held.commit()
            before = held.found()
        assert _unpickled(before["x"]) in ([1], [1, 1]), state.kind
        held.handle.save()
        assert _unpickled(held.found()["x"]) == [1] * 4, state.kind
        assert state.spec.durable == "checkpoint"


def _added(numbers: list[int], number: int) -> list[int]:
    return [*numbers, number]


def _unpickled(found: Any) -> Any:
    """Unpickle one value of a table, the elements of a list, or a map's only entry."""
    if isinstance(found, bytes):
        return pickle.loads(found)
    if isinstance(found[0], tuple):
        return pickle.loads(found[0][1])
    return [pickle.loads(element) for element in found]


def test_a_typed_value_and_a_word_that_is_none_are_refused() -> None:
    typed: list[Callable[[], State]] = [
        lambda: ValueState("int64", durable="checkpoint"),
        lambda: ListState("int64", durable="checkpoint"),
        lambda: MapState("string", "int64", durable="checkpoint"),
        lambda: ReducingState("int64", max, durable="checkpoint"),
        lambda: AggregatingState("int64", create=int, add=operator.add, durable="checkpoint"),
    ]
    for state in typed:
        with pytest.raises(ValueError, match="durable='checkpoint' of type 'int64': a typed value"):
            state()
    with pytest.raises(ValueError, match="durable='never': expected 'slice' or 'checkpoint'"):
        ValueState(durable="never")  # type: ignore[arg-type]

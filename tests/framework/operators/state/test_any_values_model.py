"""Values, lists and maps of any type against plain ones: in-place changes, tuples that raise, deaths."""

from __future__ import annotations

import itertools
import pickle
from copy import deepcopy
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from framework.operators.state import ListState, MapState, ValueState
from framework.operators.state.declaration import Durable
from tests.framework.operators.state.handing import GROUPS, Held
from tests.portions import at_every_change
from viper.hashing import stable_hash

keys = st.sampled_from([0, 1, (1, "x")])
map_keys = st.integers(0, 3) | st.sampled_from(["a", 1.0, (1,)])
values = st.lists(st.integers(), max_size=3) | st.integers() | st.text(max_size=20)


class ValuesMachine(RuleBasedStateMachine):
    """The handles of any values, against plain Python."""

    durable: ClassVar[Durable]

    def __init__(self) -> None:
        super().__init__()
        self.lists = Held(ListState(durable=self.durable))
        self.maps = Held(MapState(durable=self.durable))
        self.values = Held(ValueState(default=["default"], durable=self.durable))
        self.all = [self.lists, self.maps, self.values]
        self.committed: dict[str, dict[Any, Any]] = {"list": {}, "map": {}, "value": {}}
        self.current, self.before = deepcopy(self.committed), deepcopy(self.committed)
        self.key: Any = None

    @rule(key=keys)
    def enter(self, key: Any) -> None:
        self.key = key
        for held in self.all:
            held.enter(key)
        self.before = deepcopy(self.current)

    def of(self, state: str) -> Any:
        """Find the values of the tuple's key; a new tuple begins if none is in process."""
        if self.key is None:
            self.enter(0)
        if state == "value":
            return self.current[state]
        return self.current[state].setdefault(self.key, [] if state == "list" else {})

    @rule(given=st.lists(values, max_size=4))
    def add(self, given: list[Any]) -> None:
        self.of("list").extend(deepcopy(given))
        self.lists.handle.add_all(given)

    @rule(given=st.lists(values, max_size=4))
    def update(self, given: list[Any]) -> None:
        self.of("list")[:] = deepcopy(given)
        self.lists.handle.update(given)

    @rule(index=st.integers(0, 5))
    def change_an_element(self, index: int) -> None:
        expected, found = self.of("list"), self.lists.handle.get()
        assert found == expected
        if index < len(found) and isinstance(found[index], list):
            found[index].append("changed")
            expected[index].append("changed")

    @rule(key=map_keys, value=values, changes=st.booleans())
    def put(self, key: Any, value: Any, changes: bool) -> None:
        entries = self.of("map")
        self.maps.handle.put(key, value)
        if changes and isinstance(value, list):
            value.append("changed")  # before the slice ends
        entries[key] = (entries[key][0] if key in entries else key), deepcopy(value)

    @rule(key=map_keys)
    def change_a_value(self, key: Any) -> None:
        entries = self.of("map")
        found = self.maps.handle.get(key)
        assert found == entries.get(key, (None, None))[1]
        if isinstance(found, list):
            found.append("changed")
            entries[key][1].append("changed")

    @rule(value=values, changes=st.booleans())
    def set(self, value: Any, changes: bool) -> None:
        of = self.of("value")
        self.values.handle.value = value
        if changes and isinstance(value, list):
            value.append("changed")
        of[self.key] = deepcopy(value)

    @rule()
    def change_the_value(self) -> None:
        expected = self.of("value")
        assert self.values.handle.is_set == (self.key in expected)
        found = self.values.handle.value
        assert found == expected.setdefault(self.key, ["default"])
        if isinstance(found, list):
            found.append("changed")
            expected[self.key].append("changed")

    @rule(key=keys, raises=st.booleans())
    def change_all(self, key: Any, raises: bool) -> None:
        self.enter(key)
        found = [*self.lists.handle.get(), *self.maps.handle.values()]
        expected = [*self.of("list"), *(value for _, value in self.of("map").values())]
        assert found == expected
        for value in [*found, *expected]:
            if isinstance(value, list):
                value.append("all")
        self.add([["new"]])
        self.change_the_value()
        if raises:
            self.raises()

    @rule(key=map_keys)
    def remove(self, key: Any) -> None:
        entries = self.of("map")
        assert self.maps.handle.contains(key) == (key in entries)
        assert self.maps.handle.remove(key) == (entries.pop(key, None) is not None)

    @rule()
    def clear(self) -> None:
        self.of("list").clear()
        self.of("map").clear()
        self.of("value").pop(self.key, None)
        self.values.handle.clear()
        self.lists.handle.clear()
        self.maps.handle.clear()

    @rule()
    def raises(self) -> None:
        if self.key is not None:
            for held in self.all:
                held.back()
            self.current = deepcopy(self.before)

    @rule()
    def commit(self) -> None:
        for held in self.all:
            held.commit()
        self.key = None
        for state in ("list", "map"):
            self.current[state] = {key: value for key, value in self.current[state].items() if value}
        self.committed = deepcopy(self.current)

    def check_tables(self) -> None:
        lists = {key: [pickle.loads(data) for data in found] for key, found in self.lists.found().items()}
        assert lists == self.current["list"]
        assert {key: pickle.loads(data) for key, data in self.values.found().items()} == self.current["value"]
        maps = {
            key: [(entry, pickle.loads(data)) for entry, data in found]
            for key, found in self.maps.found().items()
        }
        expected = {key: [*entries.values()] for key, entries in self.current["map"].items()}
        assert repr(sorted(maps.items(), key=repr)) == repr(sorted(expected.items(), key=repr))

    @invariant()
    def same_when_read(self) -> None:
        if self.key is not None:
            assert len(self.lists.handle) == len(self.of("list"))
            assert self.maps.handle.keys() == [key for key, _ in self.of("map").values()]


class AnyValuesMachine(ValuesMachine):
    """Values that are written when a slice ends, and outlive their process."""

    durable = "slice"

    @rule()
    def commit(self) -> None:
        super().commit()
        self.check_tables()

    @rule()
    def die(self) -> None:
        for held in self.all:
            held.die()
        self.key = None
        self.current = deepcopy(self.committed)
        self.check_tables()


class LivingMachine(ValuesMachine):
    """Values that live in their process, and are written for checkpoints."""

    durable = "checkpoint"

    @rule()
    def save(self) -> None:
        self.commit()
        for held in self.all:
            held.handle.save()
            held.store.writer.commit()
        self.check_tables()


MACHINES: list[type[ValuesMachine]] = [AnyValuesMachine, LivingMachine]


@pytest.mark.few(1)
@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("examples", at_every_change([20, 100]))
def test_any_values_are_those_of_plain_python(examples: int, machine: type[ValuesMachine]) -> None:
    with_settings = settings(max_examples=examples, stateful_step_count=40, deadline=None)
    run_state_machine_as_test(machine, settings=with_settings)  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("durable", ["slice", "checkpoint"])
def test_what_a_tuple_has_added_and_read_goes_back_with_it(durable: Durable) -> None:
    lists = Held(ListState(durable=durable))
    for given in ([1], [2, [3]]):
        lists.enter("x")
        lists.handle.add_all(given)
        assert lists.handle.get() == given
        lists.back()
        lists.enter("x")
        assert lists.handle.get() == [] and len(lists.handle) == 0


def test_the_order_of_keys_does_not_depend_on_slices() -> None:
    keys = [key for key in range(100) if stable_hash(key) % GROUPS == 0]
    found = []
    durables: tuple[Durable, ...] = ("slice", "checkpoint")
    for slices, durable in itertools.product((1, 2, 100), durables):
        lists, maps = Held(ListState(durable=durable)), Held(MapState(durable=durable))
        values, defaults = Held(ValueState(durable=durable)), Held(ValueState(default=[], durable=durable))
        for number, index in enumerate([3, 1, 2, 3, 1, 0, 3, 2, 1, 4, 3]):
            for held in (lists, maps, values, defaults):
                held.enter(keys[index])
            if number in (4, 6):
                for held in (lists, maps, values, defaults):
                    held.handle.clear()
            else:
                lists.handle.add([number])
                maps.handle.put(-number % 4, [number])
                maps.handle.put(0, [number])
                values.handle.value = [number]
                defaults.handle.value.append(number)
            for held in (lists, maps, values, defaults):
                if number % slices == 0 or number == 10:
                    held.commit()
                if number == 10 and durable == "checkpoint":
                    held.handle.save()
        found.append([repr(held.found()) for held in (lists, maps, values, defaults)])
        assert [*lists.found()] == [keys[index] for index in (2, 0, 1, 4, 3)]
    assert all(one == found[0] for one in found)

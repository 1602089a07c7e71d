"""Lists and maps as components use them: values that are changed in place, tuples that raise, deaths."""

from __future__ import annotations

from typing import Any

import pytest

from framework.model.errors import StateError
from framework.operators.state import ListState, MapState
from tests.framework.operators.state.handing import Held
from viper.state import ListCell, MapCell


class TestDeclarations:
    def test_types(self) -> None:
        assert ListState("int64").codes == ("[q",) and ListState().codes == ("[y",)
        assert ListState("int64").types == "elements: int64"
        assert MapState("string", "float64").codes == ("{d",) and MapState().codes == ("{y",)
        assert MapState("string").types == "string to any values"

    def test_a_type_that_is_none_is_refused(self) -> None:
        for make in (lambda: ListState("int"), lambda: MapState("int"), lambda: MapState(None, "int")):
            with pytest.raises(ValueError, match="type of state 'int'"):
                make()
        with pytest.raises(ValueError, match="per='row'"):
            ListState(per="row")  # type: ignore[arg-type]

    def test_typed_ones_are_cells_of_the_table_itself(self) -> None:
        assert isinstance(Held(ListState("bool")).handle, ListCell)
        assert isinstance(Held(MapState(None, "bool")).handle, MapCell)

    def test_typed_keys(self) -> None:
        for state in (MapState("string", "int64"), MapState("string")):
            held = Held(state)
            held.enter("a")
            held.handle.put("word", 1)
            with pytest.raises(TypeError, match="a key of a map of state seen is a str, and 5 is none"):
                held.handle.put(5, 1)
            with pytest.raises(TypeError, match="a key of a map of state seen is a str"):
                held.handle.get(b"word")
            assert held.handle.items() == [("word", 1)]


@pytest.mark.parametrize("type", [None, "int64"])
class TestLists:
    def test_flinks_words(self, type: str | None) -> None:
        held = Held(ListState(type))
        held.enter("a")
        held.handle.add(1)
        held.handle.add_all(iter([2, 3]))
        assert held.handle.get() == [1, 2, 3] == [*held.handle] and len(held.handle) == 3
        held.handle.update([4])
        held.enter("b")
        assert held.handle.get() == []
        held.handle.add(5)
        held.commit()
        held.die()
        held.enter("a")
        assert held.handle.get() == [4]
        held.handle.clear()
        assert len(held.handle) == 0
        held.back()
        assert held.handle.get() == [4]

    def test_what_get_returned_is_the_callers(self, type: str | None) -> None:
        held = Held(ListState(type))
        held.enter("a")
        held.handle.add(1)
        held.handle.get().append(2)
        assert held.handle.get() == [1]


class TestListsOfAnyValues:
    def test_an_element_is_taken_as_it_is(self) -> None:
        held = Held(ListState())
        held.enter("a")
        assert held.handle.get() == []
        element = [1]
        held.handle.add(element)
        element.append(2)
        assert held.handle.get() == [[1]]

    def test_elements_that_were_changed_in_place_are_written(self) -> None:
        held = Held(ListState())
        held.enter("a")
        held.handle.add_all([{"n": 1}, {"n": 2}])
        held.enter("a")
        held.handle.get()[1]["n"] = 3
        held.commit()
        held.die()
        held.enter("a")
        assert held.handle.get() == [{"n": 1}, {"n": 3}]

    def test_a_slice_writes_only_what_was_appended(self) -> None:
        held = Held(ListState())
        held.enter("a")
        held.handle.add_all(["x" * 50] * 1000)
        held.commit()
        held.enter("a")
        assert len(held.handle.get()) == 1000
        held.handle.add("y")
        held.handle.flush()
        assert held.store.writer.written <= 4

    def test_a_tuple_takes_back_what_it_changed_in_place(self) -> None:
        held = Held(ListState())
        held.enter("a")
        held.handle.add([1])
        held.enter("a")
        held.handle.get()[0].append(2)
        held.enter("a")
        held.handle.get()[0].append("lost")
        held.handle.add("lost")
        held.back()
        assert held.handle.get() == [[1, 2]]
        held.commit()
        held.die()
        held.enter("a")
        assert held.handle.get() == [[1, 2]]

    def test_what_cannot_be_pickled_is_refused_at_once(self) -> None:
        held = Held(ListState())
        held.enter("a")
        with pytest.raises(StateError, match=r"state seen holds <function .* which cannot be pickled"):
            held.handle.add(lambda: None)
        assert len(held.handle) == 0


@pytest.mark.parametrize("types", [(None, None), ("string", "int64")])
class TestMaps:
    def test_flinks_words(self, types: tuple[str | None, str | None]) -> None:
        held = Held(MapState(*types))
        held.enter("k")
        assert held.handle.is_empty()
        for number, key in enumerate("cab"):
            held.handle.put(key, number)
        held.handle.put("a", 7)
        assert held.handle.items() == [("c", 0), ("a", 7), ("b", 2)]
        assert held.handle.keys() == ["c", "a", "b"] == [*held.handle]
        assert held.handle.values() == [0, 7, 2] and len(held.handle) == 3
        assert held.handle.get("a") == 7 and held.handle.get("z") is None and held.handle.get("z", 5) == 5
        assert held.handle.contains("b") and "b" in held.handle and "z" not in held.handle
        assert held.handle.remove("c") and not held.handle.remove("c")
        held.commit()
        held.die()
        held.enter("k")
        assert held.handle.items() == [("a", 7), ("b", 2)] and not held.handle.is_empty()
        held.handle.clear()
        assert held.handle.is_empty() and held.handle.items() == []
        held.back()
        assert held.handle.items() == [("a", 7), ("b", 2)]


class TestMapsOfAnyValues:
    def test_values_that_were_changed_in_place_are_written(self) -> None:
        held = Held(MapState())
        held.enter("k")
        for key in "abc":
            held.handle.put(key, [key])
        held.handle.get("a").append(1)
        held.commit()
        held.enter("k")
        held.handle.get("b").append(2)
        held.handle.values()[2].append(3)
        held.commit()
        held.die()
        held.enter("k")
        assert held.handle.items() == [("a", ["a", 1]), ("b", ["b", 2]), ("c", ["c", 3])]

    def test_a_tuple_takes_back_what_it_changed_in_place(self) -> None:
        held = Held(MapState())
        held.enter("k")
        held.handle.put("a", [1])
        held.handle.put("b", [1])
        held.commit()
        held.enter("k")
        held.handle.get("a").append(2)
        held.enter("k")
        held.handle.get("a").append("lost")
        held.handle.get("b").append("lost")
        held.handle.put("c", "lost")
        held.back()
        assert held.handle.items() == [("a", [1, 2]), ("b", [1])]
        held.enter("k")
        assert held.handle.remove("a")
        held.handle.clear()
        held.back()
        assert held.handle.items() == [("a", [1, 2]), ("b", [1])]
        held.commit()
        held.die()
        held.enter("k")
        assert held.handle.items() == [("a", [1, 2]), ("b", [1])]

    def test_a_slice_writes_only_touched_entries(self) -> None:
        held = Held(MapState())
        held.enter("k")
        for number in range(1000):
            held.handle.put(number, number)
        held.commit()
        held.enter("k")
        held.handle.put(500, "x" * 50)
        held.handle.put(500, "y" * 50)
        assert held.store.writer.written == 0
        held.handle.flush()
        assert 0 < held.store.writer.written <= 6

    def test_keys_of_other_types_that_are_equal_are_one_key(self) -> None:
        held = Held(MapState())
        held.enter("k")
        held.handle.put(1, "int")
        held.handle.put(1.0, "float")
        held.handle.put((1, "a"), "tuple")
        held.handle.put([True, "a"], "list")
        assert held.handle.items() == [(1, "float"), ((1, "a"), "list")]
        assert held.handle.get(True) == "float"

    def test_what_cannot_be_pickled_is_refused(self) -> None:
        held = Held(MapState())
        held.enter("k")
        with pytest.raises(StateError, match="which cannot be pickled"):
            held.handle.put("a", lambda: None)
        assert held.handle.is_empty()
        held.handle.put("a", 1)
        held.handle.put("a", lambda: None)
        with pytest.raises(StateError, match=r"state seen holds <function .* which cannot be pickled"):
            held.commit()


def test_state_of_a_task_is_not_changed_when_others_are_written() -> None:
    """The scope of a state by task stays at its one key, whatever a flush writes."""
    held = Held(ListState())
    held.enter("the task")
    held.handle.add([1])
    for expected in ([1, 2], [1, 2, 2]):
        (value,) = held.handle.get()
        value.append(2)
        held.handle.flush()
        held.store.writer.commit()
        assert held.handle.get() == [expected]


def test_images_are_made_only_where_a_component_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    for goes_on in (True, False):
        held = Held(MapState(), goes_on=goes_on)
        held.enter("k")
        held.handle.put("a", [1])
        held.commit()
        pickled: list[Any] = []
        monkeypatch.setattr(held.handle._values, "pickled", lambda value, to=pickled: to.append(value) or b"")
        for _ in range(3):
            held.enter("k")
            held.handle.get("a")
        assert len(pickled) == (2 if goes_on else 0)

"""Declarations of state: what they refuse, what a class has of its bases, handles where there are none."""

from __future__ import annotations

import gc
import pickle
import sys
from collections.abc import Callable
from typing import Any

import pytest

from framework import AggregatingState, Bolt, ReducingState, TableState, ValueState
from framework.model.errors import ComponentError, StateError
from framework.operators.state import State, declared_states
from framework.testing import run_bolt
from tests.framework.operators.state.remembering import Counts, Owns


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ValueState("int46"), r"unknown type of state 'int46': expected .* did you mean 'int64'\?"),
        (lambda: ValueState(int), "unknown type of state <class 'int'>"),  # type: ignore[arg-type]
        (lambda: ValueState("int64", default="0"), "default='0' is no int64"),
        (lambda: ValueState("int64", default=True), "default=True is no int64"),
        (lambda: ValueState("int64", default=2**63), "default=9223372036854775808 is no int64"),
        (lambda: ValueState("string", default=b""), "is no string"),
        (lambda: ValueState("bool", default=1), "is no bool"),
        (lambda: ValueState(per="job"), "per='job': expected 'key' or"),  # type: ignore[arg-type]
        (lambda: ReducingState("decimal", max), "unknown type of state 'decimal'"),
        (lambda: AggregatingState("list", create=list, add=max), "unknown type of state 'list'"),
        (lambda: TableState({}), "a table without columns"),
        (lambda: TableState({"two words": "int64"}), "column 'two words'"),
        (lambda: TableState({"clear": "int64"}), "column 'clear'"),
        (lambda: TableState({"_a": "int64"}), "column '_a'"),
        (lambda: TableState({"a": "int64"}, {"b": 0}), "a default for 'b', which is no column"),
        (lambda: TableState({"a": "int64"}, {"a": 0.5}), "default=0.5 is no int64"),
    ],
)
def test_what_cannot_be_declared(make: Callable[[], State], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_a_class_has_the_states_of_its_bases_but_for_those_that_it_replaces() -> None:
    class Base(Bolt):
        first = ValueState("int64")
        second = ValueState("string")
        third = TableState({"a": "int64"})

    class Derived(Base):
        second = None  # type: ignore[assignment]
        third = ValueState("bool")  # type: ignore[assignment]
        fourth = ReducingState("float64", max)

    specs = {name: (state.kind, state.types) for name, state in declared_states(Derived).items()}
    assert specs == {
        "first": ("value", "int64"),
        "third": ("value", "bool"),
        "fourth": ("reducing", "float64"),
    }
    assert list(declared_states(Base)) == ["first", "second", "third"]


def test_one_state_is_not_two() -> None:
    one = ValueState("int64")
    with pytest.raises((TypeError, RuntimeError)) as raised:
        type("Twice", (Bolt,), {"a": one, "b": one})
    assert "declares one state as a and as b" in str(raised.value.__cause__ or raised.value)


def test_a_handle_is_there_while_a_task_runs() -> None:
    assert isinstance(Counts.seen, ValueState)
    message = r"Counts\.seen is declared state, and is there from initialize until"
    with pytest.raises(StateError, match=message):
        Counts().seen  # noqa: B018
    with pytest.raises(StateError, match="owns_key is there while a bolt that declares state by key"):
        Counts().owns_key  # noqa: B018


class InInit(Counts):
    def __init__(self) -> None:
        super().__init__()
        self.seen.value = 5


class ReplacedInInit(Counts):
    def __init__(self) -> None:
        super().__init__()
        self.seen = 5  # type: ignore[assignment]


class ReadInInitialize(Counts):
    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.seen.value += 1


def test_a_handle_in_the_constructor() -> None:
    with pytest.raises(ComponentError, match=r"InInit\.seen is declared state"):
        run_bolt(InInit, [], fields=["word"], key=["word"])


def test_an_attribute_that_the_constructor_sets_is_no_state() -> None:
    message = "ReplacedInInit declares seen as state and has given the attribute another value"
    with pytest.raises(StateError, match=message):
        run_bolt(ReplacedInInit, [["a"]], fields=["word"], key=["word"])


def test_an_attribute_that_the_constructor_sets_to_none_is_no_state_either() -> None:
    class Emptied(Counts):
        def __init__(self) -> None:
            super().__init__()
            self.seen = None  # type: ignore[assignment]

    with pytest.raises(StateError, match="has given the attribute another value"):
        run_bolt(Emptied, [["a"]], fields=["word"], key=["word"])


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="a dictionary costs nothing there")
def test_the_attributes_of_a_bolt_with_state_are_in_no_dictionary() -> None:
    found = []

    class Looking(Counts):
        def process(self, tup: Any) -> None:
            super().process(tup)
            found.extend(one for one in gc.get_referents(self) if isinstance(one, dict) and "seen" in one)

    run_bolt(Looking, [["a"], ["b"]], fields=["word"], key=["word"])
    assert found == []


def test_there_is_no_key_in_initialize() -> None:
    with pytest.raises(LookupError, match="state by key is there while a tuple is processed"):
        run_bolt(ReadInInitialize, [], fields=["word"], key=["word"])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("seen", "1", "state seen holds an int of 64 bits, and '1' is none"),
        ("seen", 2**63, "state seen holds an int of 64 bits"),
        ("seen", True, "state seen holds an int of 64 bits"),
        ("share", 2**53 + 1, "state share holds a float"),
        ("text", b"", "state text holds a str"),
        ("data", "", "state data holds bytes"),
        ("odd", 1, "state odd holds a bool"),
    ],
)
def test_values_of_other_types_are_refused(name: str, value: Any, message: str) -> None:
    class Sets(Bolt):
        seen = ValueState("int64")
        share = ValueState("float64")
        text = ValueState("string")
        data = ValueState("binary")
        odd = ValueState("bool")

        def process(self, tup: Any) -> None:
            getattr(self, name).value = value

    with pytest.raises(TypeError, match=message):
        run_bolt(Sets, [["a"]], fields=["word"], key=["word"])


def test_a_table_has_its_columns_and_no_others() -> None:
    class Sets(Bolt):
        table = TableState({"count": "int64"})

        def process(self, tup: Any) -> None:
            self.table.cuont = tup.values[0]

    with pytest.raises(AttributeError, match="the table has no column 'cuont'"):
        run_bolt(Sets, [["a"]], fields=["word"], key=["word"])


def test_a_bolt_gets_its_state_in_a_test() -> None:
    ran = run_bolt(Counts, [["a"], ["b"], ["a"], [b"a"]], fields=["word"], key=["word"])
    assert ran.emitted() == [("a", 1), ("b", 1), ("a", 2), (b"a", 1)]
    ran = run_bolt(Owns, [["a"], ["a"]], fields=["word"])
    assert ran.emitted() == [("a", 1), ("a", 2)]


def test_a_bolt_in_a_test_is_taken_back_where_it_raises() -> None:
    class Raises(Counts):
        exit_on_exception = False

        def process(self, tup: Any) -> None:
            super().process(tup)
            if self.seen.value % 2:
                self.seen.value += 10
                raise ValueError(tup)
            self.emit(["never", 0])

    ran = run_bolt(Raises, [["a"], ["a"], ["a"]], fields=["word"], key=["word"])
    assert ran.emitted() == [("a", 1)] * 3  # emits stay, state goes back


def test_what_a_plan_knows_of_a_state_can_be_carried() -> None:
    spec = Counts.seen.spec  # type: ignore[attr-defined]
    assert pickle.loads(pickle.dumps(spec)) == spec
    assert (spec.name, spec.kind, spec.per, spec.codes) == ("seen", "value", "key", ("q",))

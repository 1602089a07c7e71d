"""A tuple is a named tuple of named values, as streamparse makes it, and goes wherever values go."""

from __future__ import annotations

import copy
import pickle
from types import ModuleType

import pytest

from framework import Bolt, Tuple
from framework.model.errors import ComponentError
from framework.model.tracebacks import of_user_code
from framework.runtime.exchange.inputs import values_class
from framework.testing import run_bolt
from tests.framework.hosting import ported
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.workers.running import Workers


@both
@everywhere
def test_it_is_a_tuple_with_fields(workers: Workers, base: ModuleType) -> None:
    class_name = "SourceDefaultTuple"
    ((fields, names, as_dict, joined, columns, tup),) = workers.run(
        chain(base.Words, base.SaysTuple), rows=[["dog", 3]]
    ).result("sink")
    assert fields == ("id", "component", "stream", "task", "values")
    assert names == ("word", "n")
    assert as_dict == {"word": "dog", "n": 3}
    assert joined == ("source", "default", "dog", 3, "dog", 3)
    assert [(row["component"], row["values"]) for row in columns] == [("source", ("dog", 3))] * 2
    assert type(tup).__module__.partition(".")[0] == ("pystorm" if base is ported else "framework")
    assert (type(tup.values).__name__, tup.values.word, tup.values[1]) == (class_name, "dog", 3)
    for again in (pickle.loads(pickle.dumps(tup)), copy.deepcopy(tup)):
        assert (again, type(again), again.values.n) == (tup, type(tup), 3)
        assert type(again.values) is type(tup.values)


UNKNOWN_FIELD = "no field 'wrod'; fields of 'source:default': word, n; did you mean 'word'?"


@both
@everywhere
def test_an_unknown_field_is_told_with_those_that_there_are(workers: Workers, base: ModuleType) -> None:
    with pytest.raises(ComponentError) as caught:
        workers.run(chain(base.Words, base.Misspells), rows=[["dog", 3]])
    assert f"AttributeError: {UNKNOWN_FIELD}" in str(caught.value)
    *_, last = "".join(of_user_code(caught.value.__cause__)).splitlines()
    assert last == f"AttributeError: {UNKNOWN_FIELD}"


@both
def test_an_unknown_field_is_told_in_a_test_of_a_bolt(base: ModuleType) -> None:
    with pytest.raises(AttributeError) as caught:
        run_bolt(base.Misspells, [["dog", 3]], fields=["word", "n"])
    assert str(caught.value) == UNKNOWN_FIELD


def test_other_attributes_are_told_as_python_does() -> None:
    class Misspells(Bolt):
        def process(self, tup: Tuple) -> None:
            tup.values.word.uper()

    with pytest.raises(AttributeError, match=r"^'str' object has no attribute 'uper'$"):
        run_bolt(Misspells, [["dog"]], fields=["word"])


def test_access_to_a_field_takes_no_detour() -> None:
    # A class with a __getattr__ of its own would pay for it at each access, also to what it has.
    assert "__getattr__" not in dir(values_class("words", "default", ("word",)))

"""Values that were remembered, and whose class is gone, as in another session with the same checkpoint."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import pytest

from framework import Spout, StatefulBolt, TopologyBuilder, run
from framework.model.errors import ComponentError, StateError
from framework.operators.sinks import CollectingSink
from framework.operators.state.loading import loaded


class Value:
    pass


class Raises:
    def __setstate__(self, state: Any) -> None:
        raise AttributeError("its own fault")

    def __getstate__(self) -> Any:
        return {"a": 1}


class Rows(Spout):
    outputs = ["k"]

    def tuples(self) -> Any:
        yield from (["a"], ["a"])


class Keeps(StatefulBolt):
    outputs = ["n"]

    def init_state(self, state: Any) -> None:
        self.state = state

    def process(self, tup: Any) -> None:
        assert self.state.get("k") is None
        self.state.put("k", Value())


def test_a_class_that_is_gone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pickle.dumps(Value())
    monkeypatch.delattr(sys.modules[__name__], "Value")
    with pytest.raises(StateError, match=r"class is not there: Can't get attribute 'Value' on .*define"):
        loaded(data)


def test_a_module_that_is_gone_is_named() -> None:
    with pytest.raises(StateError, match=r"its class is not there: No module named 'gone'; define or import"):
        loaded(b"cgone\nValue\n.")


def test_an_error_of_the_class_itself_stays_what_it_is() -> None:
    with pytest.raises(AttributeError, match="its own fault"):
        loaded(pickle.dumps(Raises()))


def test_a_component_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the class goes between two tuples, here and not in another session."""
    builder = TopologyBuilder()
    builder.set_spout("rows", Rows)
    builder.set_bolt("keeps", Keeps).fields_grouping("rows", "k")
    builder.set_bolt("sink", CollectingSink).global_grouping("keeps")
    put = pickle.dumps

    def dumps(*arguments: Any) -> bytes:
        found = put(*arguments)
        if isinstance(arguments[0], Value):
            monkeypatch.delattr(sys.modules[__name__], "Value")
        return found

    monkeypatch.setattr(pickle, "dumps", dumps)
    with pytest.raises(ComponentError, match=r"StateError: a value that was remembered cannot be read"):
        run(builder)

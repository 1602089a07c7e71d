"""Hooks, their order, and what happens when they raise."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from framework import Bolt, Spout, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import bolt, built, listed, polled, run_built, spout

called: list[str] = []


class Loud(Bolt):
    outputs = ["value"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        called.append("bolt initialize")
        self.emit(["first"])

    def process(self, tup: Any) -> None:
        called.append(f"bolt process {tup.values[0]}")
        self.emit([tup.values[0]])

    def cleanup(self) -> None:
        called.append("bolt cleanup")

    def close(self) -> None:
        called.append("bolt close")


class LoudSpout(Spout):
    outputs = ["value"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        called.append("spout initialize")
        self.emit([0])

    def activate(self) -> None:
        called.append("spout activate")

    def next_tuple(self) -> None:
        called.append("spout next_tuple")
        self.emit([1])
        raise StopIteration

    def deactivate(self) -> None:
        called.append("spout deactivate")
        self.emit([2])

    def close(self) -> None:
        called.append("spout close")


def test_hooks_are_called_in_order() -> None:
    called.clear()
    rows = run_built(built(LoudSpout, Loud)).result("sink")
    assert rows == [("first",), (0,), (1,), (2,)]
    assert [call for call in called if "process" not in call] == [
        "bolt initialize",
        "spout initialize",
        "spout activate",
        "spout next_tuple",
        "spout deactivate",
        "bolt cleanup",
        "bolt close",
        "spout close",
    ]
    assert [call for call in called if "process" in call] == [f"bolt process {n}" for n in range(3)]
    assert called.index("spout activate") < called.index("bolt process 0")


def fail(*_args: Any) -> None:
    raise OSError("disk on fire")


@pytest.mark.parametrize(
    "hook", ["__init__", "initialize", "activate", "next_tuple", "deactivate", "close", "cleanup"]
)
def test_a_spouts_hook_that_raises_is_named(hook: str) -> None:
    def next_tuple(self: Any) -> None:
        raise StopIteration

    with pytest.raises(ComponentError, match=r"'source', task \d, .*OSError: disk on fire") as caught:
        run_built(built(type("Failing", (polled(next_tuple),), {hook: fail}), Loud))
    assert caught.value.during == ("close" if hook == "cleanup" else hook)
    cause = caught.value.__cause__
    assert isinstance(cause if hook != "__init__" else cause and cause.__cause__, OSError)


@pytest.mark.parametrize("hook", ["__init__", "initialize", "process", "close", "cleanup", "process_tick"])
def test_a_bolts_hook_that_raises_is_named(hook: str) -> None:
    failing = bolt(lambda self, tup: None)
    setattr(failing, hook, fail)
    builder = built(listed([1], config={"viper.timestamp.field": "value"}), failing)
    with pytest.raises(ComponentError, match=r"'b1', task 1, .*OSError: disk on fire") as caught:
        run_built(builder, topology__tick__tuple__freq__secs=1)
    assert caught.value.during == ("close" if hook == "cleanup" else hook)
    assert ("tuple: Tuple(id=" in str(caught.value)) == (hook in ("process", "process_tick"))


def test_a_generator_that_raises_is_named() -> None:
    def tuples(self: Any) -> Any:
        yield [1]
        fail()

    with pytest.raises(ComponentError, match="'source', task 2, in tuples: OSError: disk on fire"):
        run_built(built(spout(tuples)))


def test_everything_is_closed_when_something_fails() -> None:
    called.clear()
    with pytest.raises(ComponentError, match="disk on fire"):
        run_built(built(LoudSpout, Loud, bolt(fail)))
    assert called[-3:] == ["bolt cleanup", "bolt close", "spout close"]


def test_everything_is_closed_when_a_close_fails() -> None:
    called.clear()
    with pytest.raises(ComponentError, match=r"'b1', task 1, in close: .*disk on fire"):
        run_built(built(LoudSpout, bolt(lambda self, tup: None, close=fail), Loud))
    assert called[-3:] == ["bolt cleanup", "bolt close", "spout close"]


def test_sys_exit_in_a_bolt_ends_the_run_as_an_error() -> None:
    exiting = bolt(lambda self, tup: sys.exit("enough"), exit_on_exception=False)
    with pytest.raises(ComponentError, match="'b1', task 1, in process: SystemExit: enough"):
        run_built(built(listed([1]), exiting))


def test_exit_on_exception_false_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    def process(self: Any, tup: Any) -> None:
        self.emit([tup.values[0]])
        if tup.values[0] % 2:
            raise ValueError("odd")
        self.emit([-tup.values[0]])

    surviving = bolt(process, exit_on_exception=False)
    report = run_built(built(listed(*([n] for n in range(5))), surviving), viper__slice__tuples=2)
    assert report.result("sink") == [(0,), (0,), (1,), (2,), (-2,), (3,), (4,), (-4,)]
    counters = report.components["b1"]
    assert (counters.errors, counters.failed, counters.processed) == (2, 2, 5)
    assert caplog.text.count("ValueError: odd") == 2
    assert "def process" not in caplog.text
    assert "values=SourceDefaultTuple(value=1)" in caplog.text


def test_a_spout_that_survives_its_errors() -> None:
    def next_tuple(self: Any) -> None:
        self.n = getattr(self, "n", 0) + 1
        if self.n == 4:
            raise StopIteration
        if self.n == 2:
            raise ValueError("two")
        self.emit([self.n])

    report = run_built(built(polled(next_tuple, exit_on_exception=False)))
    assert report.result("sink") == [(1,), (3,)]
    assert report.components["source"].errors == 1


def test_a_failure_is_not_swallowed_by_another_components_except() -> None:
    """The failing bolt runs on top of the callback of the one that emits more than there is room for."""

    def flood(self: Any, tup: Any) -> None:
        for number in range(50_000):
            try:
                self.emit([number])
            except Exception:
                swallowed.append(number)

    swallowed: list[int] = []
    failing = bolt(lambda self, tup: fail() if tup.values[0] == 5 else None)
    with pytest.raises(ComponentError, match="component 'b2', task 2, in process: OSError: disk on fire"):
        run_built(built(listed([1]), bolt(flood), failing), viper__channel__jumbos=1)
    assert swallowed == []


def test_more_emits_in_initialize_than_there_is_room_for() -> None:
    def initialize(self: Any, storm_conf: Any, context: Any) -> None:
        for number in range(30_000):
            self.emit([number])

    first = bolt(lambda self, tup: None, initialize=initialize)
    second = bolt(lambda self, tup: self.emit(list(tup.values)))
    rows = run_built(built(listed(["x"]), first, second), viper__channel__jumbos=1).result("sink")
    assert rows == [(n,) for n in range(30_000)]
    rows = run_built(built(polled(stop, initialize=initialize), second)).result("sink")
    assert rows == [(n,) for n in range(30_000)]


def stop(self: Any) -> None:
    raise StopIteration


def test_one_class_in_several_components_with_its_own_configuration() -> None:
    class Says(Bolt):
        outputs = ["value"]

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self._said = storm_conf["my.word"]
            storm_conf["my.word"] = "changed"

        def process(self, tup: Any) -> None:
            self.emit([self._said])

    builder = TopologyBuilder()
    builder.set_spout("source", listed([1]))
    builder.set_bolt("one", Says, config={"my.word": "one"}).shuffle_grouping("source")
    builder.set_bolt("two", Says, 2, config={"my.word": "two"}).all_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("one").global_grouping("two")
    assert sorted(run_built(builder).result("sink")) == [("one",), ("two",), ("two",)]

"""A harness of a bolt when things go wrong, through the module for users' own tests."""

from __future__ import annotations

from typing import Any

import pytest

import framework
from framework.model.errors import ComponentError, EmitError, TopologyError
from framework.testing import BoltHarness


@pytest.fixture(params=["framework", "streamparse"])
def base(request: pytest.FixtureRequest) -> Any:
    """The module of base classes: ours, and streamparse's."""
    return framework if request.param == "framework" else request.getfixturevalue("streamparse")


class Plain(framework.Bolt):
    def process(self, tup: Any) -> None: ...


class Raises(framework.Bolt):
    """Raises in the method whose name it is given."""

    outputs = ["n"]

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where = where
        self._raise("__init__")

    def initialize(self, storm_conf: Any, context: Any) -> None:
        CLOSED.clear()
        self._raise("initialize")

    def process(self, tup: Any) -> None:
        self._raise("process")

    def process_tick(self, tup: Any) -> None:
        self._raise("process_tick")

    def close(self) -> None:
        CLOSED.append(self)
        self._raise("close")

    def _raise(self, where: str) -> None:
        if where == self.where:
            raise ArithmeticError(where)


CLOSED: list[Raises] = []


@pytest.mark.parametrize("where", ["__init__", "initialize", "process", "process_tick", "close"])
def test_an_exception_reaches_the_test_as_it_is(where: str) -> None:
    harness = BoltHarness(Raises, args=[where])
    with pytest.raises(ArithmeticError, match=where) as found, harness as bolt:
        bolt.send([1])
        bolt.tick()
    assert any(entry.name == "_raise" for entry in found.traceback)
    if where not in ("__init__", "close"):
        assert len(CLOSED) == 1
        with pytest.raises(RuntimeError, match="the harness is closed"):
            harness.send([1])


def test_the_cause_of_an_exception_is_the_components_own() -> None:
    class Chained(framework.Bolt):
        def process(self, tup: Any) -> None:
            try:
                [][0]
            except IndexError as error:
                raise KeyError("lost") from error

    with pytest.raises(KeyError, match="lost") as found, BoltHarness(Chained) as bolt:
        bolt.send([1])
    assert isinstance(found.value.__cause__, IndexError)


def test_a_streamparse_bolt_that_raises_ends_the_test_too(streamparse: Any) -> None:
    class Divide(streamparse.Bolt):  # type: ignore[misc]
        def process(self, tup: Any) -> None:
            1 / tup.values[0]

    with pytest.raises(ZeroDivisionError), BoltHarness(Divide) as bolt:
        bolt.send([0])


def test_a_bolt_that_survives_exceptions_goes_on(base: Any) -> None:
    class Divide(base.Bolt):  # type: ignore[misc]
        outputs = ["inverse"]
        exit_on_exception = False

        def process(self, tup: Any) -> None:
            self.emit([1 / tup.values[0]])

    with BoltHarness(Divide) as bolt:
        bolt.send([1], [0], [4])
        assert (bolt.take(), bolt.acked, bolt.failed) == ([(1.0,), (0.25,)], [(1,), (4,)], [(0,)])


def test_an_emit_is_checked_as_in_a_run() -> None:
    class Sloppy(framework.Bolt):
        outputs = ["a", "b"]

        def process(self, tup: Any) -> None:
            self.emit(list(tup.values))

    with pytest.raises(EmitError, match="3 values"), BoltHarness(Sloppy) as bolt:
        bolt.send([1, 2, 3])


def test_input_is_checked_against_the_fields() -> None:
    class Any_(framework.Bolt):
        def process(self, tup: Any) -> None: ...

    with pytest.raises(EmitError, match="1 values"), BoltHarness(Any_, fields=["a", "b"]) as bolt:
        bolt.send(["x"])


def test_an_unknown_field_is_named_with_those_that_there_are() -> None:
    class Typo(framework.Bolt):
        def process(self, tup: Any) -> None:
            tup.values.wrod  # noqa: B018

    with pytest.raises(AttributeError, match="no field 'wrod'"), BoltHarness(Typo, fields=["word"]) as bolt:
        bolt.send(["x"])


def test_what_is_no_bolt_is_refused() -> None:
    class Words(framework.Spout):
        outputs = ["word"]

    with pytest.raises(TopologyError, match="bolt 'bolt'"):
        BoltHarness(Words)


def test_steps_are_refused_outside_of_the_block_and_behind_the_end() -> None:
    harness = BoltHarness(Plain, fields=["number"])
    with pytest.raises(RuntimeError, match="the harness is closed"):
        harness.send([1])
    with harness as bolt:
        bolt.finish()
        with pytest.raises(RuntimeError, match="nothing more can come"):
            bolt.send([1])
    with pytest.raises(RuntimeError, match="the harness is closed"):
        harness.advance(1)


def test_a_plan_of_several_threads_is_refused() -> None:
    with pytest.raises(TopologyError, match="found 2 threads"):
        BoltHarness(Plain, fields=["n"], conf={"viper.worker": "thread", "topology.workers": 2})


def test_component_errors_without_a_cause_stay_what_they_are() -> None:
    class Failing(framework.Bolt):
        def process(self, tup: Any) -> None:
            raise ComponentError("other", 1, "process", "said so")

    with pytest.raises(ComponentError, match="said so"), BoltHarness(Failing) as bolt:
        bolt.send([1])

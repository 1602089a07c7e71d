"""One bolt at a time, through the module for users' own tests."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import framework
from framework.model.errors import EmitError, StateError, TopologyError
from framework.model.topology import Stream
from framework.operators.components.tuple import TICK_COMPONENT
from framework.testing import TICK, BoltRun, run_bolt


@pytest.fixture(params=["framework", "streamparse"])
def base(request: pytest.FixtureRequest) -> Any:
    """The module of base classes: ours, and streamparse's."""
    return framework if request.param == "framework" else request.getfixturevalue("streamparse")


def values_of(run: BoltRun) -> dict[str, Any]:
    return {"emitted": run.emitted(), "acked": list(run.acked), "failed": list(run.failed)}


def test_rows_come_out_as_they_were_emitted(base: Any) -> None:
    class Split(base.Bolt):  # type: ignore[misc]
        outputs = ["word"]

        def process(self, tup: Any) -> None:
            for word in tup.values.line.split():
                self.emit([word])

    run = run_bolt(Split, [["four score"], ("and",), [""]], fields=["line"])
    assert run.emitted() == [("four",), ("score",), ("and",)]
    assert run.acked == [("four score",), ("and",), ("",)]
    assert run.failed == []


def test_streams_are_kept_apart(base: Any) -> None:
    class Sort(base.Bolt):  # type: ignore[misc]
        outputs = ["number", base.Stream(["number", "why"], name="odd")]

        def process(self, tup: Any) -> None:
            (number,) = tup.values
            if number % 2:
                self.emit([number, "odd"], stream="odd")
            else:
                self.emit([number])

    run = run_bolt(Sort, [[number] for number in range(5)])
    assert run.emitted() == [(0,), (2,), (4,)]
    assert run.emitted("odd") == [(1, "odd"), (3, "odd")]
    with pytest.raises(KeyError, match=r"unknown stream 'od': .*; did you mean 'odd'"):
        run.emitted("od")


def test_the_first_response_to_a_tuple_counts(base: Any) -> None:
    class Pick(base.Bolt):  # type: ignore[misc]
        outputs = ["x"]

        def process(self, tup: Any) -> None:
            if tup.values[0] < 0:
                self.fail(tup)

    run = run_bolt(Pick, [[1], [-1], [2]])
    assert (run.acked, run.failed) == ([(1,), (2,)], [(-1,)])


def test_without_automatic_acks_only_the_bolts_own_count(base: Any) -> None:
    class Manual(base.Bolt):  # type: ignore[misc]
        auto_ack = False

        def process(self, tup: Any) -> None:
            if tup.values[0] == "ack":
                self.ack(tup)

    run = run_bolt(Manual, [["ack"], ["forget"]])
    assert (run.acked, run.failed) == ([("ack",)], [])


def test_an_exception_reaches_the_test_as_it_is(base: Any) -> None:
    class Divide(base.Bolt):  # type: ignore[misc]
        def process(self, tup: Any) -> None:
            1 / tup.values[0]

    with pytest.raises(ZeroDivisionError):
        run_bolt(Divide, [[1], [0]])


def test_a_bolt_that_survives_exceptions_fails_the_tuple_and_goes_on(base: Any) -> None:
    class Divide(base.Bolt):  # type: ignore[misc]
        outputs = ["inverse"]
        exit_on_exception = False

        def process(self, tup: Any) -> None:
            self.emit([1 / tup.values[0]])

    run = run_bolt(Divide, [[1], [0], [4]])
    assert values_of(run) == {"emitted": [(1.0,), (0.25,)], "acked": [(1,), (4,)], "failed": [(0,)]}
    assert any("ZeroDivisionError" in record.getMessage() for record in run.logs)


def test_ticks_fire_batches_and_the_rest_is_processed_at_the_end(base: Any) -> None:
    class Totals(base.BatchingBolt):  # type: ignore[misc]
        outputs = ["key", "total"]

        def group_key(self, tup: Any) -> Any:
            return tup.values[0]

        def process_batch(self, key: Any, tups: list[Any]) -> None:
            self.emit([key, sum(tup.values[1] for tup in tups)])

    run = run_bolt(Totals, [["a", 1], TICK, ["b", 2], ["a", 3], TICK, ["b", 4]])
    assert run.emitted() == [("a", 4), ("b", 2), ("b", 4)]
    assert run.acked == [("a", 1), ("a", 3), ("b", 2), ("b", 4)]


def test_a_batch_that_raises_fails_as_a_whole_and_alone(base: Any) -> None:
    class Picky(base.BatchingBolt):  # type: ignore[misc]
        outputs = ["key"]
        exit_on_exception = False

        def group_key(self, tup: Any) -> Any:
            return tup.values[0]

        def process_batch(self, key: Any, tups: list[Any]) -> None:
            if key == "bad":
                raise ValueError(key)
            self.emit([key])

    run = run_bolt(Picky, [["good", 1], ["bad", 2], ["bad", 3], ["better", 4], TICK, TICK, TICK])
    assert values_of(run) == {
        "emitted": [("good",), ("better",)],
        "acked": [("good", 1), ("better", 4)],
        "failed": [("bad", 2), ("bad", 3)],
    }


def test_a_last_tick_comes_where_ticks_are_configured(base: Any) -> None:
    class Last(base.Bolt):  # type: ignore[misc]
        outputs = ["count"]
        config = {"topology.tick.tuple.freq.secs": 60}

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.count = 0

        def process(self, tup: Any) -> None:
            self.count += 1

        def process_tick(self, tup: Any) -> None:
            assert self.is_tick(tup)
            assert tup.component == TICK_COMPONENT
            self.emit([self.count])

    assert run_bolt(Last, [["x"], TICK, ["y"]]).emitted() == [(1,), (2,)]


def test_configuration_and_context_reach_the_bolt_over_its_own(base: Any) -> None:
    class Told(base.Bolt):  # type: ignore[misc]
        outputs = ["x"]
        config = {"limit": 1, "unit": "s"}

        def initialize(self, storm_conf: Any, context: Any) -> None:
            self.told = [storm_conf[key] for key in ("limit", "unit", "topology.debug")]
            self.found = [context["taskid"], context["streams"]]

        def process(self, tup: Any) -> None: ...

    conf = {"limit": 2, "topology.debug": True}
    bolt = run_bolt(Told, [], conf=conf, context={"taskid": 7}).component
    assert bolt.told == [2, "s", True]
    assert bolt.found == [7, ["default"]]


def test_a_tuple_may_come_from_anywhere(base: Any) -> None:
    class Whence(base.Bolt):  # type: ignore[misc]
        outputs = ["component", "stream", "task", "values"]

        def process(self, tup: Any) -> None:
            self.emit([tup.component, tup.stream, tup.task, tup.values])

    left = framework.Tuple("7", "left", "pairs", 3, ("k", 1))
    assert run_bolt(Whence, [left, ["x"]]).emitted() == [
        ("left", "pairs", 3, ("k", 1)),
        ("source", "default", 1, ("x",)),
    ]


def test_what_a_bolt_logs_and_reports_is_kept(base: Any) -> None:
    class Loud(base.Bolt):  # type: ignore[misc]
        def process(self, tup: Any) -> None:
            self.logger.debug("quietly %s", tup.values[0])
            self.log("loudly", "error")
            self.report_metric("seen", tup.values[0])

    run = run_bolt(Loud, [[1], [2]])
    assert [(record.levelno, record.getMessage()) for record in run.logs] == [
        (logging.DEBUG, "quietly 1"),
        (logging.ERROR, "loudly"),
        (logging.DEBUG, "quietly 2"),
        (logging.ERROR, "loudly"),
    ]
    assert run.metrics == {"seen": 2}


def test_an_emit_is_checked_as_in_a_run(base: Any) -> None:
    class Sloppy(base.Bolt):  # type: ignore[misc]
        outputs = ["a", "b"]

        def process(self, tup: Any) -> None:
            self.emit(list(tup.values))

    assert run_bolt(Sloppy, [[1, 2]]).emitted() == [(1, 2)]
    with pytest.raises(EmitError, match="3 values"):
        run_bolt(Sloppy, [[1, 2, 3]])


def test_named_fields_need_a_value_each() -> None:
    class Any_(framework.Bolt):
        def process(self, tup: Any) -> None: ...

    with pytest.raises(ValueError, match="has 1 values, expected one for each of"):
        run_bolt(Any_, [["x"]], fields=["a", "b"])


def test_a_class_that_is_no_bolt_is_refused() -> None:
    class Words(framework.Spout):
        outputs = ["word"]

        def next_tuple(self) -> None: ...

    with pytest.raises(TopologyError, match="bolt 'bolt'"):
        run_bolt(Words, [])


def test_all_that_is_wrong_is_told_at_once() -> None:
    class Wrong(framework.Bolt):
        outputs = [Stream(["a", "a"])]

        def process(self, tup: Any) -> None: ...

    with pytest.raises(TopologyError) as error:
        run_bolt(Wrong, [], conf={"viper.jumbo.size": "many"})
    text = str(error.value)
    assert "field 'a'" in text
    assert "viper.jumbo.size" in text


class Closing(framework.Bolt):
    outputs = ["x"]

    def __init__(self, name: str, *, strict: bool = False) -> None:
        super().__init__()
        self.calls = [name, strict]

    def process(self, tup: Any) -> None:
        if self.calls[1]:
            raise ValueError("strict")

    def close(self) -> None:
        self.calls.append("closed")
        LAST_CLOSED.append(self)


LAST_CLOSED: list[Closing] = []


def test_constructor_arguments_and_the_end() -> None:
    assert run_bolt(Closing, [], args=["n"], kwargs={"strict": True}).component.calls == ["n", True, "closed"]
    LAST_CLOSED.clear()
    with pytest.raises(ValueError, match="strict"):
        run_bolt(Closing, [["x"]], args=["n"], kwargs={"strict": True})
    assert len(LAST_CLOSED) == 1


class Remembers(framework.Bolt):
    """Does to its state what the tuple says."""

    outputs = ["found"]
    seen: Any = framework.ValueState(default=0)

    def process(self, tup: Any) -> None:
        (what,) = tup.values
        if what == "overwrites":
            self.seen = 5
        else:
            self.seen.value += 1
            self.emit([self.seen.value])


class TestDeclaredState:
    def test_it_is_that_of_the_key(self) -> None:
        run = run_bolt(Remembers, [["a"], ["b"], ["a"]], fields=["word"], key=["word"])
        assert run.emitted() == [(1,), (1,), (2,)]

    def test_what_would_be_an_error_at_the_end_of_a_slice_is_one(self) -> None:
        """Of a new key a value is pickled at once, so the second one shows it."""
        with pytest.raises(StateError, match="declares seen as state and has given the attribute another"):
            run_bolt(Remembers, [["overwrites"]], fields=["word"], key=["word"])

        class Later(Remembers):
            def process(self, tup: Any) -> None:
                self.seen.value = (lambda: 5) if self.seen.is_set else 5

        with pytest.raises(StateError, match=r"state seen holds .*, which cannot be pickled"):
            run_bolt(Later, [["a"], ["a"]], fields=["word"], key=["word"])

"""Storm's stateful bolts: a key-value state that lasts, and the callbacks around its transactions."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, KeyValueState, StatefulBolt, TopologyBuilder
from framework.api import run
from framework.frontends.flux import to_flux
from framework.frontends.loading import load
from framework.model.errors import ComponentError, TopologyError
from framework.operators.sinks import CollectingSink
from framework.testing import run_bolt
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.stateful import COUNT, Notes, Numbers, Prints, Sum
from tests.framework.runtime.workers.running import INLINE, PROCESSES, Workers, every_kind

SUMS = [(total,) for total in accumulate(range(COUNT))]


def sums(bolt: type[Bolt] = Sum, **config: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers)
    builder.set_bolt("sum", bolt, config=config).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("sum")
    return builder


@every_kind
def test_sums_of_sums(workers: Workers) -> None:
    """storm-starter's StatefulTopology."""
    builder = TopologyBuilder()
    builder.set_spout("spout", Numbers)
    builder.set_bolt("partial", Sum).shuffle_grouping("spout")
    builder.set_bolt("printer", Prints, 2).shuffle_grouping("partial")
    builder.set_bolt("total", Sum).shuffle_grouping("printer")
    builder.set_bolt("sink", CollectingSink).global_grouping("total")
    found = workers.run(builder, viper__slice__tuples=50).result("sink")
    assert found == [(total,) for total in accumulate(total for (total,) in SUMS)]


def interval(milliseconds: int) -> dict[str, Any]:
    """The configuration with so much time between two transactions."""
    return {"topology__state__checkpoint__interval__ms": milliseconds}


def notes(marks: Path) -> list[list[str]]:
    return [line.split() for line in (marks / "notes").read_text().splitlines()]


@every_kind
def test_callbacks_of_a_run(workers: Workers, tmp_path: Path) -> None:
    """Each transaction is prepared and committed, and the last one is after everything."""
    report = workers.run(sums(Notes), marks=str(tmp_path), viper__slice__tuples=20, **interval(1))
    assert report.result("sink") == SUMS
    first, *transactions, last = notes(tmp_path)
    assert (first, last) == (["init_state", "0"], ["close"])
    count = len(transactions) // 2
    assert count > 1
    pairs = ((["pre_prepare", str(txid)], ["pre_commit", str(txid)]) for txid in range(1, count + 1))
    assert transactions == [call for pair in pairs for call in pair]


def test_within_the_interval_there_is_one_at_the_end(tmp_path: Path) -> None:
    assert INLINE.run(sums(Notes), marks=str(tmp_path), **interval(2**40)).result("sink") == SUMS
    assert notes(tmp_path) == [["init_state", "0"], ["pre_prepare", "1"], ["pre_commit", "1"], ["close"]]


WITHOUT_500 = [(total,) for total in accumulate(number for number in range(COUNT) if number != 500)]


@every_kind
@pytest.mark.parametrize("choice", ["skip", "restart"])
def test_an_exception_takes_its_tuple_back(choice: str, workers: Workers, tmp_path: Path) -> None:
    builder, options = sums(Notes, **{"fails.at": 500}), interval(2**40)
    report = workers.run(builder, marks=str(tmp_path), viper__on__error=choice, **options)
    assert report.result("sink") == WITHOUT_500
    before = str(sum(range(500)))
    assert notes(tmp_path)[:2] == [["init_state", "0"], ["pre_rollback", before]]
    anew = [["init_state", before]] if choice == "restart" else []
    end = [["pre_prepare", "1"], ["pre_commit", "1"], ["close"]]
    closed = [line for line in notes(tmp_path)[2:] if line not in end]
    assert closed == anew
    assert notes(tmp_path)[-3:] == end


def test_the_state_survives_a_kill(tmp_path: Path) -> None:
    placement = {"source": 1, "sum": 2, "sink": 3}
    report = PROCESSES.run(
        sums(Notes, **{"dies.at": 300}),
        marks=str(tmp_path),
        viper__placement=placement,
        viper__slice__tuples=20,
        topology__acker__executors=0,
        **interval(1),
    )
    (incident,) = report.incidents
    found = [total for (total,) in report.result("sink")]
    begun = [int(line[1]) for line in notes(tmp_path) if line[0] == "init_state"]
    assert begun[0] == 0 < begun[1] <= sum(range(300))
    assert found[-1] >= sum(range(COUNT)) - incident.lost * COUNT
    assert found == sorted(found)
    txids = [int(line[1]) for line in notes(tmp_path) if line[0] == "pre_commit"]
    assert txids == sorted(set(txids))


class Keeps(StatefulBolt):
    """Does with its state what each tuple says, and emits what that returns."""

    outputs = ["found"]

    def init_state(self, state: KeyValueState) -> None:
        self.kept = state

    def process(self, tup: Any) -> None:
        method, *args = tup.values[0]
        self.emit([repr(getattr(self.kept, method)(*args))])


def done(*calls: tuple[Any, ...]) -> list[str]:
    return [found for (found,) in run_bolt(Keeps, [[call] for call in calls]).streams["default"]]


def test_a_state_is_a_mapping() -> None:
    assert done(
        ("get", "a"),
        ("get", "a", 7),
        ("put", "a", [1, 2]),
        ("put", ("b", 1), {"c": None}),
        ("get", "a", 7),
        ("__contains__", "a"),
        ("delete", "a"),
        ("delete", "a"),
        ("get", ("b", 1)),
        ("__len__",),
    ) == ["None", "7", "None", "None", "[1, 2]", "True", "[1, 2]", "None", "{'c': None}", "1"]


def test_it_iterates_in_the_order_of_insertion() -> None:
    puts = [("put", key, number) for number, key in enumerate([3, "x", None, 1.5, "a", 3.0])]
    run = run_bolt(Keeps, [[call] for call in (*puts, ("delete", "x"))])
    assert run.streams["default"][-1] == ("1",)

    class Lists(Keeps):
        def process(self, tup: Any) -> None:
            super().process(tup)
            self.emit([list(self.kept)])

    listed = run_bolt(Lists, [[call] for call in (*puts, ("delete", "x"))]).streams["default"][-1]
    assert listed == ([(3, 5), (None, 2), (1.5, 3), ("a", 4)],)


def test_what_is_read_is_a_copy() -> None:
    class Changes(Keeps):
        def process(self, tup: Any) -> None:
            self.kept.put("a", [1])
            self.kept.get("a").append(2)
            self.emit([self.kept.get("a")])

    assert run_bolt(Changes, [[0]]).streams["default"] == [([1],)]


def test_a_value_that_cannot_be_pickled_is_named() -> None:
    class Puts(Keeps):
        def process(self, tup: Any) -> None:
            self.kept.put("a", lambda: None)

    with pytest.raises(ComponentError, match=r"state key_values: put\('a', <function .*cannot be pickled"):
        INLINE.run(sums(Puts))


def test_a_bolt_that_takes_no_state_is_an_error() -> None:
    class Forgets(StatefulBolt):
        outputs = ["value"]

        def process(self, tup: Any) -> None:
            pass

    with pytest.raises(ComponentError, match=r"Forgets must define init_state\(self, state\)"):
        INLINE.run(sums(Forgets))


def test_it_cannot_say_that_it_is_stateless() -> None:
    with pytest.raises(TopologyError, match=r"viper\.stateless"):
        run_built(sums(Sum, **{"viper.stateless": True}))


# -- Flux

STATEFUL_WORD_COUNT = """
name: "stateful-wordcount-topology"
config:
  topology.workers: 1
spouts:
  - id: "spout-1"
    className: "org.apache.storm.testing.TestWordSpout"
    parallelism: 1
bolts:
  - id: "bolt-1"
    className: "org.apache.storm.flux.examples.StatefulWordCounter"
    parallelism: 1
  - id: "bolt-2"
    className: "org.apache.storm.flux.wrappers.bolts.LogInfoBolt"
    parallelism: 1
streams:
  - {name: "spout-1 --> bolt-1", from: "spout-1", to: "bolt-1", grouping: {type: FIELDS, args: ["word"]}}
  - {name: "bolt-1 --> bolt2", from: "bolt-1", to: "bolt-2", grouping: {type: SHUFFLE}}
"""


def test_fluxs_stateful_word_count_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    file = tmp_path / "stateful.yaml"
    file.write_text(STATEFUL_WORD_COUNT)
    report = run(str(file), max_tuples=4)
    assert report.components["bolt-1"].emitted == 4
    logged = [message for message in caplog.messages if message.startswith("bolt-1/default: ")]
    assert len(logged) == 4
    assert {int(message.rpartition(", ")[2].rstrip("]")) for message in logged} >= {1}
    loaded = load(str(file)).topology
    assert loaded is not None
    assert "org.apache.storm.flux.examples.StatefulWordCounter" in to_flux(loaded)

"""Whole topologies and single spouts, through the module for users' own tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import framework
from framework import Bolt, Grouping, ReliableSpout, Spout, Stream, Topology, TopologyBuilder
from framework.model.errors import ComponentError, TopologyError
from framework.operators.sinks import CountingSink
from framework.runtime import StopReason
from framework.testing import SpoutRun, run_spout, run_topology
from tests.framework.counted_words import COUNTED, LINES, Count, Lines, Split
from tests.framework.runtime.partitioned import Partitions, expected_rows


class WordCount(Topology):
    lines = Lines.spec()
    split = Split.spec(inputs=[lines], par=2)
    count = Count.spec(inputs={split: Grouping.fields("word")}, par=3)
    total = CountingSink.spec(inputs={count: Grouping.GLOBAL})


def builder() -> TopologyBuilder:
    made = TopologyBuilder()
    made.set_spout("lines", Lines)
    made.set_bolt("split", Split, 2).shuffle_grouping("lines")
    made.set_bolt("count", Count, 3).fields_grouping("split", "word")
    made.set_bolt("total", CountingSink).global_grouping("count")
    return made


@pytest.mark.parametrize(
    "topology",
    [WordCount, builder(), builder, builder().build("named")],
    ids=["class", "builder", "function", "value"],
)
def test_every_form_of_a_topology_gives_every_row_in_order(topology: object) -> None:
    run = run_topology(topology)
    assert run.emitted("lines") == [(line,) for line in LINES]
    assert run.emitted("split") == [(word,) for line in LINES for word in line.split()]
    assert run.emitted("count") == COUNTED
    assert run.report.result("total") == len(COUNTED)
    assert run.report.reason is StopReason.EXHAUSTED


def test_a_target_is_taken_as_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "counted_in_a_file.py").write_text(
        "from framework import Spout, Topology\n"
        "class Numbers(Spout):\n"
        "    outputs = ['n']\n"
        "    def tuples(self):\n"
        "        yield from ([n] for n in range(3))\n"
        "class Three(Topology):\n"
        "    numbers = Numbers.spec()\n"
    )
    file = tmp_path / "counted_in_a_file.py"
    assert run_topology(file).emitted("numbers") == run_topology(f"{file}:Three").emitted("numbers")
    with pytest.raises(TopologyError, match="did you mean 'Three'"):
        run_topology(f"{file}:Tree")


@pytest.mark.parametrize("seed", range(5))
def test_no_schedule_changes_a_row(seed: int) -> None:
    assert run_topology(WordCount, seed=seed).emitted("count") == COUNTED


def test_given_rows_take_the_place_of_a_spout() -> None:
    run = run_topology(WordCount, inputs={"lines": [["x y"], ("x",)]})
    assert run.emitted("count") == [("x", 1), ("y", 1), ("x", 2)]


class Two(Spout):
    outputs = [Stream(["n"], name="left"), Stream(["n"], name="right")]

    def next_tuple(self) -> None:
        raise AssertionError("its rows are given")


class Join(Bolt):
    outputs = ["stream", "n"]

    def process(self, tup: Any) -> None:
        self.emit([tup.stream, tup.values.n])


class Joined(Topology):
    two = Two.spec(par=4)
    join = Join.spec(inputs={two["left"]: Grouping.GLOBAL, two["right"]: Grouping.GLOBAL})


def test_rows_may_be_given_for_each_stream() -> None:
    run = run_topology(Joined, inputs={"two": {"left": [[1], [2]], "right": [[3]]}})
    assert run.emitted("two", "left") == [(1,), (2,)]
    assert run.emitted("join") == [("left", 1), ("left", 2), ("right", 3)]


def test_names_of_inputs_are_checked() -> None:
    with pytest.raises(TopologyError, match="unknown spout 'line': expected 'lines'; did you mean 'lines'"):
        run_topology(WordCount, inputs={"line": []})


def test_unknown_names_are_told_with_the_nearest_valid_one() -> None:
    run = run_topology(WordCount)
    with pytest.raises(KeyError, match="did you mean 'count'"):
        run.emitted("cuont")
    with pytest.raises(KeyError, match="unknown stream 'words': expected 'default'"):
        run.emitted("split", "words")


def test_the_report_knows_nothing_of_what_watches() -> None:
    report = run_topology(WordCount).report
    assert list(report.components) == ["lines", "split", "count", "total"]
    assert list(report.results) == ["total"]


class Forever(Spout):
    outputs = ["n"]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        self.n = storm_conf.get("first", 0)

    def next_tuple(self) -> None:
        self.emit([self.n])
        self.n += 1


class Idle(Spout):
    outputs = ["n"]

    def next_tuple(self) -> None: ...


class Live(Topology):
    forever = Forever.spec()
    idle = Idle.spec()


def test_a_spout_that_never_ends_is_stopped_by_its_tuples() -> None:
    run = run_topology(Live, max_tuples=50)
    assert run.emitted("forever") == [(n,) for n in range(50)]
    assert run.report.reason is StopReason.MAX_TUPLES


def test_time_is_logical_unless_the_test_says_otherwise() -> None:
    assert run_topology(Live, max_tuples=1).report.time == "logical"
    assert run_topology(Live, max_tuples=1, conf={"viper.time": "ingest"}).report.time == "ingest"


def test_a_run_that_does_not_end_is_given_up() -> None:
    class Stuck(Topology):
        idle = Idle.spec()

    with pytest.raises(TimeoutError, match=r"within 0.05 s, after 0 tuples .* give max_tuples, or inputs"):
        run_topology(Stuck, timeout_s=0.05)


def test_a_component_that_raises_ends_the_run() -> None:
    with pytest.raises(ComponentError, match=r"component 'split', task ., in process: AttributeError"):
        run_topology(WordCount, inputs={"lines": [[None]]})


def test_all_that_is_wrong_is_told_at_once() -> None:
    made = TopologyBuilder()
    made.set_spout("lines", Lines)
    made.set_bolt("split", Split).shuffle_grouping("line")
    made.set_bolt("count", Count).fields_grouping("split", "words")
    with pytest.raises(TopologyError) as error:
        run_topology(made, conf={"topology.workers": 0, "viper.jumbo.siez": 1})
    text = str(error.value)
    for part in ("'lines'?", "unknown field 'words'", "topology.workers", "'viper.jumbo.size'?"):
        assert part in text


def test_what_only_a_cluster_runs_is_refused() -> None:
    class Foreign(Topology):
        lines = Lines.spec()
        java = framework.JavaBolt.spec(
            full_class_name="org.acme.Split", args_list=[], inputs=[lines], outputs=["x"]
        )

    with pytest.raises(TopologyError, match="there is no JVM"):
        run_topology(Foreign)


class Direct(Spout):
    outputs = [Stream(["n"], direct=True)]

    def initialize(self, storm_conf: Any, context: Any) -> None:
        own = [int(task) for task, name in context["task->component"].items() if name == "copy"]
        self.rows = [(n, own[n % 2]) for n in range(6)]

    def next_tuple(self) -> None:
        if not self.rows:
            raise StopIteration
        n, task = self.rows.pop(0)
        self.emit([n], direct_task=task)


class DirectToFirst(Direct):
    def initialize(self, storm_conf: Any, context: Any) -> None:
        own = [int(task) for task, name in context["task->component"].items() if name == "copy"]
        self.rows = [(n, min(own)) for n in range(3)]


class Copy(Bolt):
    outputs = ["n", "task"]

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0], self.task_id])


def test_a_direct_stream_is_seen_whole() -> None:
    class Directed(Topology):
        direct = Direct.spec()
        copy = Copy.spec(inputs={direct: Grouping.DIRECT}, par=2)

    run = run_topology(Directed)
    assert run.emitted("direct") == [(n,) for n in range(6)]
    tasks = [task for _, task in run.emitted("copy")]
    assert [n for n, _ in run.emitted("copy")] == list(range(6))
    assert tasks == tasks[:2] * 3
    assert tasks[0] != tasks[1]


class Database(Bolt):
    """A bolt that must not run in a test."""

    config = {"topology.tick.tuple.freq.secs": 1, "topology.tasks": 4}

    def __init__(self) -> None:
        raise AssertionError("somebody has opened the database")


class Other:
    """A custom grouping that needs a second task."""

    def prepare(self, context: Any, component: str, stream: str, target_tasks: Any) -> None:
        self.second = sorted(target_tasks)[1]

    def choose_tasks(self, values: Any) -> list[int]:
        return [self.second]


@pytest.mark.parametrize(
    "grouping", [Grouping.SHUFFLE, Grouping.ALL, Grouping.fields("word"), Grouping.custom(Other)], ids=str
)
def test_a_sink_stands_in_for_what_is_not_to_run(grouping: Grouping) -> None:
    class Stored(Topology):
        lines = Lines.spec()
        split = Split.spec(inputs=[lines], par=2)
        count = Count.spec(inputs={split: Grouping.fields("word")}, par=3)
        database = Database.spec(inputs={count: grouping}, par=4)

    run = run_topology(Stored, inputs={"lines": [["a b a"]]}, sinks=["database"])
    assert run.received("database") == [("a", 1), ("b", 1), ("a", 2)]
    assert run.sinks == {"database": run.received("database")}
    assert run.report.components["database"].processed == 3


def test_a_sink_stands_in_for_a_bolt_of_a_cluster_and_one_in_the_middle() -> None:
    class Foreign(Topology):
        lines = Lines.spec()
        java = framework.JavaBolt.spec(
            full_class_name="org.acme.Split", args_list=[], inputs=[lines], outputs=["word"]
        )
        count = Count.spec(inputs={java: Grouping.fields("word")})

    run = run_topology(Foreign, sinks={"java"})
    assert run.received("java") == [(line,) for line in LINES]
    assert run.emitted("java") == run.emitted("count") == []


def test_a_sink_stands_in_for_one_that_is_told_its_tasks() -> None:
    class Directed(Topology):
        direct = DirectToFirst.spec()
        copy = Copy.spec(inputs={direct: Grouping.DIRECT}, par=2)

    assert run_topology(Directed, sinks=["copy"]).received("copy") == [(n,) for n in range(3)]


def test_names_of_sinks_are_checked() -> None:
    with pytest.raises(TopologyError, match=r"unknown bolt 'totl': .*; did you mean 'total'"):
        run_topology(WordCount, sinks=["totl"])
    with pytest.raises(TopologyError, match="unknown bolt 'lines'"):
        run_topology(WordCount, sinks=["lines"])
    with pytest.raises(TypeError, match=r"sinks is 'total': expected a list of ids, such as \['total'\]"):
        run_topology(WordCount, sinks="total")
    run = run_topology(WordCount, sinks=["total"])
    with pytest.raises(KeyError, match=r"unknown sink 'count': expected 'total': name it in sinks="):
        run.received("count")


class TestSpout:
    def rows(self, run: SpoutRun) -> list[Any]:
        return run.emitted()

    def test_what_it_emitted_is_asked_for_as_of_a_bolt(self) -> None:
        class Both(Spout):
            outputs = ["n", Stream(["m"], name="other")]

            def next_tuple(self) -> None:
                self.emit([1])
                self.emit([2], stream="other")
                raise StopIteration

        run = run_spout(Both)
        assert run.emitted() == run.emitted("default") == [(1,)]
        assert run.emitted("other") == run.emitted("spout", "other") == run.streams["other"] == [(2,)]
        assert run.emitted("spout") == run.emitted()
        assert run.report.emitted == 2
        with pytest.raises(KeyError, match=r"unknown stream 'othr': .*; did you mean 'other'"):
            run.emitted("othr")
        with pytest.raises(TypeError, match="expected the name of one stream"):
            run.emitted("default", "other")

    def test_one_that_ends(self) -> None:
        assert self.rows(run_spout(Lines)) == [(line,) for line in LINES]

    def test_one_that_never_ends(self) -> None:
        assert self.rows(run_spout(Forever, 3)) == [(0,), (1,), (2,)]

    def test_configuration_stands_over_its_own(self) -> None:
        class Later(Forever):
            config = {"first": 10}

        assert self.rows(run_spout(Later, 1)) == [(10,)]
        assert self.rows(run_spout(Partitions(2, 5))) == expected_rows(2, 5, 0)
        assert self.rows(run_spout(Later, 1, conf={"first": 20})) == [(20,)]

    def test_a_reliable_one_hears_its_acks(self) -> None:
        class Numbers(ReliableSpout):
            outputs = ["n"]
            unacked: dict[Any, Any] = {}

            def next_tuple(self) -> None:
                if len(self.unacked_tuples):
                    raise AssertionError("the last tuple has not been acked")
                self.emit([1], tup_id="one")

        assert self.rows(run_spout(Numbers, 2)) == [(1,), (1,)]

    def test_one_of_streamparses(self, streamparse: Any) -> None:
        class Ported(streamparse.Spout):  # type: ignore[misc]
            outputs = ["n"]
            sent = 0

            def next_tuple(self) -> None:
                self.sent += 1
                self.emit([self.sent])

        assert self.rows(run_spout(Ported, 3)) == [(1,), (2,), (3,)]

    def test_a_class_that_is_no_spout_is_refused(self) -> None:
        with pytest.raises(TopologyError, match="spout 'spout'"):
            run_spout(Count)

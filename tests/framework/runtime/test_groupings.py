"""The tasks of a consumer that receive a tuple, end to end."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

import pytest

from framework import Bolt, Grouping, Stream, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.pieces import Row, bolt, listed, plan_of, run_built

WORDS = list("abcdefghij")


class Mark(Bolt):
    """Emits which of its tasks received what."""

    outputs = ["task", "value"]

    def process(self, tup: Any) -> None:
        self.emit([self.task_id, tup.values[0]])


def grouped(
    grouping: Grouping, values: Iterable[Any], tasks: int = 3, producers: int = 1, **options: Any
) -> dict[int, list[Any]]:
    """Collect the values that each task of a consumer receives, by index of the task."""
    builder = TopologyBuilder()
    builder.set_spout("source", listed(*([value] for value in values)))
    builder.set_bolt("pass", bolt(lambda self, tup: self.emit(list(tup.values))), producers).shuffle_grouping(
        "source"
    )
    builder.set_bolt("mark", Mark, tasks).grouping("pass", grouping)
    builder.set_bolt("sink", CollectingSink).global_grouping("mark")
    first = min(task.id for task in plan_of(builder)[0].tasks_of("mark"))
    received = defaultdict(list)
    for task, value in run_built(builder, **options).result("sink"):
        received[task - first].append(value)
    return dict(received)


@pytest.mark.parametrize("grouping", [Grouping.SHUFFLE, Grouping.LOCAL_OR_SHUFFLE, Grouping.NONE], ids=str)
@pytest.mark.parametrize("jumbo", [1, 7, 1024])
def test_shuffles_are_exactly_even(grouping: Grouping, jumbo: int) -> None:
    received = grouped(grouping, range(300), viper__jumbo__size=jumbo, viper__shuffle__run=1)
    assert [received[task] for task in range(3)] == [list(range(task, 300, 3)) for task in range(3)]


@pytest.mark.parametrize("jumbo", [1, 7, 1024])
def test_shuffles_are_even_in_runs_that_grow(jumbo: int) -> None:
    received = grouped(Grouping.SHUFFLE, range(1000), viper__jumbo__size=jumbo, viper__shuffle__run=64)
    runs = itertools.chain([1] * 96, [2] * 48, [4] * 48, [8] * 48, [16] * 48)
    turns = itertools.chain.from_iterable([n % 3] * run for n, run in enumerate(runs))
    targets = list(itertools.islice(turns, 1000))
    assert received == {task: [n for n in range(1000) if targets[n] == task] for task in range(3)}


def test_the_tasks_of_a_component_say_how_long_runs_are() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", listed(*([number] for number in range(100))))
    builder.set_bolt("single", Mark, 2, config={"viper.shuffle.run": 1}).shuffle_grouping("source")
    builder.set_bolt("runs", Mark, 2).shuffle_grouping("source")
    builder.set_bolt("sinks", CollectingSink).global_grouping("single")
    builder.set_bolt("sinkr", CollectingSink).global_grouping("runs")
    report = run_built(builder, viper__shuffle__run=2)
    single, runs = ([task for task, _ in report.result(sink)] for sink in ("sinks", "sinkr"))
    assert len(set(itertools.pairwise(single))) == 2 and single[:64] != single[1:65]
    assert [len(list(group)) for _, group in itertools.groupby(runs)] == [1] * 64 + [2] * 18


def test_a_bolt_that_blocks_gets_tuples_one_by_one() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", listed(*([number] for number in range(200))))
    builder.set_bolt("mark", Mark, 2, config={"viper.blocking": True}).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("mark")
    tasks = [task for task, _ in run_built(builder).result("sink")]
    assert tasks == tasks[:2] * 100 and tasks[0] != tasks[1]


def test_several_producers_shuffle_evenly_each() -> None:
    received = grouped(Grouping.SHUFFLE, range(300), producers=2)
    assert {task: len(values) for task, values in received.items()} == {0: 100, 1: 100, 2: 100}


def test_fields_send_equal_keys_to_one_task_and_use_all_tasks() -> None:
    received = grouped(Grouping.fields("value"), WORDS * 10, producers=3)
    tasks = {word: [task for task, values in received.items() if word in values] for word in WORDS}
    assert all(len(found) == 1 for found in tasks.values()), tasks
    assert len(received) == 3
    assert Counter(value for values in received.values() for value in values) == dict.fromkeys(WORDS, 10)


@pytest.mark.parametrize("values", [[1, 1.0, True], [("a", 1), ("a", 1.0)]])
def test_fields_send_keys_that_are_equal_but_of_other_types_to_one_task(values: list[Any]) -> None:
    assert len(grouped(Grouping.fields("value"), values, tasks=7)) == 1


def test_fields_by_storms_hash() -> None:
    # Java: Arrays.deepHashCode({"a"}) is 31 + 97.
    received = grouped(Grouping.fields("value"), WORDS, viper__grouping__hash="storm")
    assert received == {task: [w for w in WORDS if (31 + ord(w)) % 3 == task] for task in range(3)}


def test_a_key_without_a_stable_hash_is_refused_with_its_stream() -> None:
    with pytest.raises(
        ComponentError, match=r"'pass'.*stream 'default' to 'mark', grouped by fields.*Opaque"
    ):
        grouped(Grouping.fields("value"), [Opaque()])


class Opaque:
    """Hashed by its address."""


def test_all_gives_every_task_everything() -> None:
    assert grouped(Grouping.ALL, range(20)) == {task: list(range(20)) for task in range(3)}


def test_global_takes_the_task_with_the_lowest_id() -> None:
    assert grouped(Grouping.GLOBAL, range(20)) == {0: list(range(20))}


def test_partial_key_uses_two_tasks_for_each_key() -> None:
    received = grouped(Grouping.partial_key("value"), WORDS * 20, tasks=5)
    for word in WORDS:
        shares = [values.count(word) for values in received.values() if word in values]
        assert len(shares) <= 2
        assert sum(shares) == 20
    assert max(map(len, received.values())) <= 2 * len(WORDS) * 20 // 5


# -- custom


class ByLength:
    """Sends a word of n letters to n tasks."""

    seen: list[tuple[Any, ...]] = []

    def __init__(self, offset: int) -> None:
        self._offset = offset

    def prepare(self, context: Any, component: str, stream: str, target_tasks: list[int]) -> None:
        self.seen.append((context["componentid"], component, stream, list(target_tasks)))
        self._tasks = target_tasks

    def choose_tasks(self, values: Row) -> list[int]:
        return self._tasks[: len(values[0]) + self._offset]


def test_a_custom_grouping_is_prepared_and_may_choose_several_tasks() -> None:
    ByLength.seen.clear()
    received = grouped(Grouping.custom(ByLength, -1), ["xx", "x", "xxxx"], producers=2)
    assert received == {0: ["xx", "xxxx"], 1: ["xxxx"], 2: ["xxxx"]}
    assert ByLength.seen == [("pass", "pass", "default", [1, 2, 3])] * 2


class Wrong:
    """Chooses what is no task."""

    def __init__(self, chosen: Any) -> None:
        self._chosen = chosen

    def prepare(self, context: Any, component: str, stream: str, target_tasks: list[int]) -> None:
        pass

    def choose_tasks(self, values: Row) -> Any:
        return self._chosen


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ([99], r"returned task 99 for \(7,\): expected ids out of \[1, 2, 3\]"),
        (["1"], "returned task '1'"),
        ([[1]], r"returned task \[1\]"),
        (None, r"choose_tasks raised TypeError for \(7,\)"),
    ],
)
def test_a_custom_grouping_that_chooses_no_task_ends_the_run(chosen: Any, said: str) -> None:
    with pytest.raises(ComponentError, match=f"'pass', task 4, in emit: .*{said}"):
        grouped(Grouping.custom(Wrong, chosen), [7])


class Single(ByLength):
    """As its base, but promises one task at most."""

    copies = False


def test_a_custom_grouping_that_makes_no_copies_may_choose_one_task_or_none() -> None:
    assert grouped(Grouping.custom(Single, 0), ["x", "", "y"]) == {0: ["x", "y"]}


@pytest.mark.parametrize("kind", [{}, {"viper__worker": "thread", "topology__workers": 2}])
def test_a_custom_grouping_that_copies_against_its_word_ends_the_run(kind: dict[str, Any]) -> None:
    said = r"choose_tasks returned tasks \[1, 2\] for \('xx',\): expected one at most, .* says copies = False"
    with pytest.raises(ComponentError, match=f"'pass', task 4, in emit: .*{said}"):
        grouped(Grouping.custom(Single, 0), ["x", "xx"], **kind)


# -- direct


def direct(named: Iterable[int], target: type[Bolt] = Mark) -> list[Row]:
    """Collect the tuples that tasks 1 to 3 receive of a direct stream whose tuples name these tasks."""
    tasks = list(named)

    def send(self: Any, tup: Any) -> None:
        for number, task in enumerate(tasks):
            self.emit([number], stream="to", direct_task=task)

    builder = TopologyBuilder()
    builder.set_spout("source", listed(["go"]))
    builder.set_bolt("send", bolt(send, [Stream(["value"], name="to", direct=True)])).shuffle_grouping(
        "source"
    )
    builder.set_bolt("mark", target, 3).direct_grouping("send", stream="to")
    builder.set_bolt("sink", CollectingSink).global_grouping("mark")
    rows: list[Row] = run_built(builder).result("sink")
    return rows


def test_direct_goes_where_the_producer_says() -> None:
    assert direct([2, 1, 3, 3]) == [(2, 0), (1, 1), (3, 2), (3, 3)]


def test_direct_to_a_task_that_does_not_subscribe_is_dropped() -> None:
    assert direct([2, 4, 99, 1]) == [(2, 0), (1, 3)]


@pytest.mark.parametrize("producers", [1, 3])
def test_direct_and_other_subscribers_of_one_stream(producers: int) -> None:
    def send(self: Any, tup: Any) -> None:
        targets = sorted(int(t) for t, name in self.context["task->component"].items() if name == "mark")
        self.emit([tup.values[0]], direct_task=targets[tup.values[0] % 3])

    builder = TopologyBuilder()
    builder.set_spout("source", listed(*([n] for n in range(9))))
    send_bolt = bolt(send, [Stream(["value"], direct=True)])
    builder.set_bolt("send", send_bolt, producers).shuffle_grouping("source")
    builder.set_bolt("mark", Mark, 3).direct_grouping("send")
    builder.set_bolt("sink", CollectingSink).global_grouping("mark")
    assert run_built(builder).result("sink") == [(1 + n % 3, n) for n in range(9)]

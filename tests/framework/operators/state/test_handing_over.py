"""Tasks that hand key groups back and forth, with tuples that go back and deaths, against plain Python."""

from __future__ import annotations

import random
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from framework.operators.state import ListState, MapState, ReducingState, State, TableState, ValueState
from framework.runtime.durability.checkpoints.folder import checkpoint_path
from tests.framework.operators.state.sharing import GROUPS, SharedState
from viper.hashing import stable_hash
from viper.state import items

MOST = 3
KEYS = [*range(20), *(f"key {number}" for number in range(10)), (1, "x"), 2.5]
TTL_S = 5
Known = dict[str, Any]
"""The values of a key, by the names of the states."""
Model = list[dict[Any, Known]]
"""By key group, in the order in which the keys came."""


def states() -> dict[str, State]:
    return {
        "count": ValueState("int64", default=0),
        "words": ListState("string"),
        "columns": TableState({"sum": "float64", "text": "string"}),
        "recent": ValueState("int64", default=0, ttl=TTL_S),
        "value": ValueState(default=["default"]),
        "list": ListState(),
        "map": MapState(),
        "longest": ReducingState(None, max),
    }


def living() -> dict[str, State]:
    return {
        "count": ValueState("int64", default=0),
        "value": ValueState(default=["default"], durable="checkpoint"),
        "list": ListState(durable="checkpoint"),
        "map": MapState(durable="checkpoint"),
        "longest": ReducingState(None, max, durable="checkpoint"),
    }


class Handing:
    """Tasks with declared state, and what it has to be."""

    def __init__(self, seed: int, made: dict[str, State]) -> None:
        self.random = random.Random(seed)
        self.time_us = 0
        self.shared = SharedState(made, MOST, now=lambda: self.time_us)
        self.has = made.keys()
        self.tasks = 1
        self.committed: Model = [{} for _ in range(GROUPS)]
        self.current: Model = deepcopy(self.committed)

    def process(self) -> None:
        """A tuple of some key, which may raise."""
        rng, key = self.random, self.random.choice(KEYS)
        self.time_us += rng.choice([0, 1, 500_000])
        bolt = self.shared.enter(key)
        by_key = self.current[stable_hash(key) % GROUPS]
        before = deepcopy(by_key)
        known = by_key.setdefault(key, {})
        for number, change in enumerate(self.changes(bolt, known)):
            if number == 0 or rng.random() < 0.7:
                change()
        if rng.random() < 0.15:
            self.shared.tasks[self.shared.of(key)].back()
            by_key.clear()
            by_key.update(before)

    def changes(self, bolt: Any, known: Known) -> list[Callable[[], None]]:
        """List the changes that can be made to a key, each of which checks the value before it."""
        number = self.random.randrange(1000)
        text = self.random.choice(["", "x", "a longer text " * self.random.randrange(400)])

        def count() -> None:
            assert bolt.count.value == known.get("count", 0)
            bolt.count.value += number
            known["count"] = known.get("count", 0) + number

        def add_word() -> None:
            assert bolt.words.get() == known.get("words", [])
            bolt.words.add(text)
            known.setdefault("words", []).append(text)

        def set_columns() -> None:
            expected = known.setdefault("columns", {"sum": 0.0, "text": ""})
            assert (bolt.columns.sum, bolt.columns.text) == (expected["sum"], expected["text"])
            bolt.columns.sum, bolt.columns.text = number / 4, text
            expected |= {"sum": number / 4, "text": text}

        def count_recent() -> None:
            found, last_us = known.get("recent", (0, self.time_us))
            if self.time_us - last_us >= TTL_S * 1_000_000:
                found = 0
            assert bolt.recent.value == found
            bolt.recent.value += 1
            known["recent"] = found + 1, self.time_us

        def change_the_value() -> None:
            expected = known.setdefault("value", ["default"])
            assert bolt.value.value == expected
            bolt.value.value.append(number)
            expected.append(number)

        def change_the_list() -> None:
            expected = known.setdefault("list", [])
            found = bolt.list.get()
            assert found == expected
            for each in (*found, *expected):
                each.append(number)
            bolt.list.add([text])
            expected.append([text])

        def put() -> None:
            expected = known.setdefault("map", {})
            assert bolt.map.items() == list(expected.items())
            bolt.map.put(number % 4, [number])
            expected[number % 4] = [number]
            if self.random.random() < 0.2:
                del expected[number % 4]
                assert bolt.map.remove(number % 4)

        def add_the_longest() -> None:
            assert bolt.longest.value == known.get("longest")
            bolt.longest.add(number)
            known["longest"] = max(number, known.get("longest", number))

        made = {
            "count": count,
            "words": add_word,
            "columns": set_columns,
            "recent": count_recent,
            "value": change_the_value,
            "list": change_the_list,
            "map": put,
            "longest": add_the_longest,
        }
        return [made[name] for name in self.has]

    def commit(self, task: int) -> None:
        self.shared.commit(task)
        for group in self.shared.owned[task]:
            self.committed[group] = deepcopy(self.current[group])

    def die(self, task: int) -> None:
        self.shared.open(task)
        for group in self.shared.owned[task]:
            self.current[group] = deepcopy(self.committed[group])

    def hand_over(self, *, dies: bool) -> None:
        """The component continues with another number of tasks: each gives up groups when it is there."""
        rng, shared = self.random, self.shared
        before, self.tasks = self.tasks, rng.randint(1, MOST)
        waiting = rng.sample(range(MOST), MOST)
        handed: set[int] = set()
        while waiting:
            for task in rng.sample(range(MOST), MOST):
                old, new = shared.share(task, before), shared.share(task, self.tasks)
                givers = {giver for giver in range(MOST) if {*new} & {*shared.share(giver, before)}}
                if task not in handed:
                    self.work(task)
                    self.hand(task)
                    handed.add(task)
                    # What it gives up may be another task's by now.
                    shared.owned[task] = range(max(old.start, new.start), min(old.stop, new.stop))
                elif task in waiting and givers <= handed:
                    self.take(task, new)
                    waiting.remove(task)
                if dies and rng.random() < 0.3:
                    self.die(task)

    def hand(self, task: int) -> None:
        """A task is at the cut: from now on others may take its groups over."""
        self.shared.tasks[task].hand_over()
        self.commit(task)

    def take(self, task: int, groups: range) -> None:
        """A task continues after the cut."""
        self.shared.own(task, groups)
        self.work(task)

    def work(self, task: int) -> None:
        """A task continues that has not handed over yet, or that has taken over already."""
        for key in self.random.sample(KEYS, 5):
            group = stable_hash(key) % GROUPS
            if group in self.shared.owned[task]:
                known = self.current[group].setdefault(key, {})
                self.changes(self.shared.enter(key, task), known)[0]()

    def check(self) -> None:
        """Groups are the same, with their keys in the same order, whichever tasks have had them."""
        for task in range(MOST):
            self.commit(task)
            (table,) = self.shared.tasks[task].tables["count"]
            for group in self.shared.owned[task]:
                expected = [(key, (known["count"],)) for key, known in self.current[group].items()]
                assert list(items(table, group)) == expected
        for group in self.current:
            for key, known in group.items():
                for look in self.changes(self.shared.enter(key), known):
                    look()


class HandingTooEarly(Handing):
    """A mistake: others may take over what is not committed."""

    def hand(self, task: int) -> None:
        """As in the base class."""

    def take(self, task: int, groups: range) -> None:
        """As in the base class."""
        super().hand(task)
        super().take(task, groups)


def run(seed: int, made: dict[str, State], *, dies: bool, cls: type[Handing] = Handing) -> None:
    print(f"seed {seed}")
    handing = cls(seed, made)
    for _ in range(250):
        chance = handing.random.random()
        if chance < 0.75:
            handing.process()
        elif chance < 0.9:
            handing.commit(handing.random.randrange(MOST))
        elif chance < 0.95 and dies:
            handing.die(handing.random.randrange(MOST))
        else:
            handing.hand_over(dies=dies)
    handing.check()


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(8))
def test_that_groups_are_handed_back_and_forth(seed: int) -> None:
    run(seed, states(), dies=True)


@pytest.mark.parametrize("seed", range(3))
def test_that_values_that_live_in_a_process_are_handed_over(seed: int) -> None:
    run(seed, living(), dies=False)


@pytest.mark.parametrize("seed", range(2))
def test_that_handing_over_before_the_commit_is_found(seed: int) -> None:
    only = {"count": ValueState("int64", default=0)}
    run(seed, only, dies=True)
    with pytest.raises(AssertionError):
        run(seed, only, dies=True, cls=HandingTooEarly)


@pytest.mark.parametrize("is_told", [True, False], ids=["told", "not-told"])
def test_that_a_successor_takes_nothing_back_in_groups_that_were_handed_over(is_told: bool) -> None:
    shared = SharedState({"words": ListState("string")}, 2)
    shared.hand_to(2)
    key = next(key for key in range(100) if shared.of(key) == 1)
    shared.enter(key).words.add("of the second task, which has not committed it: " + "x" * 100_000)
    used = shared.pool.used_bytes
    shared.open(0, None if is_told else range(GROUPS))
    assert (shared.pool.used_bytes == used) == is_told


def test_that_a_group_that_was_given_up_is_not_there() -> None:
    shared = SharedState({"count": ValueState("int64"), "value": ValueState()}, 2)
    key = next(key for key in range(100) if stable_hash(key) % GROUPS in shared.share(1, 2))
    shared.enter(key).value.value = ["kept"]
    shared.hand_to(2)
    for name in ("count", "value"):
        shared.tasks[0].scope.enter((key,), (0,))
        with pytest.raises(LookupError, match="belongs to another task"):
            getattr(shared.components[0], name).value  # noqa: B018
    assert shared.enter(key).value.value == ["kept"]


def test_that_what_is_not_written_is_not_handed_over() -> None:
    shared = SharedState({"count": ValueState("int64"), "value": ValueState(durable="checkpoint")}, 2)
    shared.enter(1).value.value = ["a list"]
    shared.tasks[0].commit()  # without what is held back
    shared.enter(1).value.value.append("changed")
    shared.tasks[0].commit()
    with pytest.raises(RuntimeError, match=r"state value holds 1 values back: expected hand_over\(\)"):
        shared.tasks[0].own(range(4))
    shared.commit(0)
    shared.enter(1).count.value = 1
    with pytest.raises(RuntimeError, match="state count: key groups are handed over behind a commit"):
        shared.tasks[0].own(range(4))


def test_that_the_snapshot_behind_a_hand_over_builds_upon_none(tmp_path: Path) -> None:
    shared = SharedState({"count": ValueState("int64")}, 2, tracked=True)
    shared.hand_to(2)

    def parts(number: int) -> set[int]:
        """The snapshots in which the parts of one that is made now were written, of all tasks."""
        folder = tmp_path / checkpoint_path(tmp_path, number).name
        folder.mkdir()
        found = set()
        for key in range(10):
            shared.enter(key).count.value = number
        for task in shared.tasks:
            task.save()
            snapshot = task.snapshot(number, folder, full=False)
            assert snapshot.write(60)
            found |= {int(name.split("-")[1]) for state in snapshot.saved.states for name in state.parts}
            task.commit()
        return found

    assert parts(1) == {1}
    assert parts(2) == {1, 2}
    shared.hand_to(1)
    shared.hand_to(2)
    assert parts(3) == {3}
    assert parts(4) == {3, 4}


def test_that_no_key_groups_go_while_a_snapshot_is_being_written(tmp_path: Path) -> None:
    shared = SharedState({"count": ValueState("int64")}, 2, tracked=True)
    shared.enter(1).count.value = 1
    shared.commit(0)
    shared.tasks[0].snapshot(1, tmp_path, full=True)
    with pytest.raises(RuntimeError, match="handed over when no snapshot is being written"):
        shared.own(0, range(0))

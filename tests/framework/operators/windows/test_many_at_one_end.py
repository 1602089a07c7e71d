"""Windows of many keys that end at one time are put out in pieces, which nobody notices."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework import OPlus, TopologyBuilder
from framework.frontends.streams import AggregateWindow, Map
from framework.operators.sinks import CollectingSink
from framework.operators.windows.key_state import OpenKeyWindows
from framework.runtime.tasks import bolt_task
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.interludes import MOST_AT_ONCE
from tests.framework.frontends.streams.windows import Timed
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.killed import Mortal, MortalPartitions, Written
from tests.framework.runtime.workers.test_exact import run, written
from tests.portions import at_every_change

COUNT = {"n": ["count"]}
KEYS = 3 * MOST_AT_ONCE + 17


def numbered(partition: str, number: int, key: int) -> tuple[str, int]:
    """A key of its own for each tuple."""
    return f"{partition} {number}", key


class GivesWay(Mortal, AggregateWindow):
    """Its task gives way after each piece, and its process may be killed there."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        bolt_task.TURN_S = 0.0  # type: ignore[misc]
        super().initialize(storm_conf, context)


def ending_together(form: dict[str, Any]) -> TopologyBuilder:
    random = Random(4)
    rows = [(f"key{number}", 1, random.randrange(5)) for number in range(KEYS)]
    rows = [*sorted(rows, key=lambda row: row[2]), ("late", 1, 10_000)]
    builder = TopologyBuilder()
    builder.set_spout("source", Timed(rows))
    operator = AggregateWindow(COUNT, ["user", "amount", "time"], bounds=True, **form)
    builder.set_bolt("windows", operator).fields_grouping("source", "user")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    return builder


@pytest.mark.parametrize("form", [{"size": "1s"}, {"size": "1s", "advance": "500ms"}], ids=str)
def test_pieces_are_the_same_rows_in_the_same_order(
    form: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as whole:
        take = OpenKeyWindows.take
        whole.setattr(OpenKeyWindows, "take", lambda self, due, most=None: take(self, due))
        expected = run_built(ending_together(form), viper__key__groups=2).result("sink")
    gave_way = []
    give_way = Emitter.give_way
    monkeypatch.setattr(Emitter, "give_way", lambda self: gave_way.append(give_way(self)))
    monkeypatch.setattr(bolt_task, "TURN_S", 0.0)
    assert run_built(ending_together(form), viper__key__groups=2).result("sink") == expected
    assert len(expected) >= KEYS and len(gave_way) > 3


@pytest.mark.parametrize("form", [{"size": "1s"}, {"size": "1s", "advance": "500ms"}, {"gap": "1s"}], ids=str)
def test_put_out_at_once_and_one_by_one_they_are_the_same(form: dict[str, Any]) -> None:
    at_once, one_by_one = (
        run_built(ending_together(form), viper__key__groups=2, viper__on__error=reaction).result("sink")
        for reaction in ("stop", "skip")
    )
    assert at_once == one_by_one
    assert len(at_once) > KEYS


class FirstRaises(OPlus):
    """Raises for the first tuple of a key, once its window is there; what that has changed is taken back."""

    outputs = ["key"]
    size = 10

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        self._seen = False

    def update(self, window: Any, tup: Any, side: int = 0) -> None:
        if tup.values.user == "first" and not self._seen:
            self._seen = True
            raise ValueError("the first one")

    def output(self, window: Any) -> list[list[str]]:
        return [[window.key]]


def test_a_window_that_was_taken_back_has_no_place() -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Timed([(key, 1, 0) for key in ("first", "second", "first", "second")]))
    builder.set_bolt("windows", FirstRaises).fields_grouping("source", "user")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    found = run_built(builder, viper__key__groups=1, viper__on__error="skip").result("sink")
    assert found == [("second",), ("first",)]


def killed() -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", MortalPartitions(count=KEYS), 2)
    builder.set_bolt("numbered", Map(numbered, ["key", "value"])).shuffle_grouping("source")
    windows = GivesWay(COUNT, ["key", "value"], size=10_000)
    builder.set_bolt("windows", windows).fields_grouping("numbered", "key")
    builder.set_bolt("sink", Written).global_grouping("windows")
    return builder


SPREAD = {"source": [1, 2], "numbered": 1, "windows": 3, "sink": 2}


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", at_every_change(range(1, 9), 2))
def test_a_kill_between_pieces_changes_nothing(seed: int, tmp_path: Path) -> None:
    groups = {"viper__key__groups": 2}
    run(killed(), tmp_path, 0, kills=0, viper__worker="inline", topology__workers=1, **groups)
    expected = written(tmp_path)
    report = run(killed(), tmp_path, seed, viper__placement=SPREAD, **groups)
    assert report.incidents
    assert written(tmp_path) == expected
    assert expected.count("\n") > 2 * MOST_AT_ONCE


def test_pieces_that_are_lost_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(self: OpenKeyWindows, due: Any, most: int | None = None) -> Any:
        return take(self, due)[:most]

    take = OpenKeyWindows.take
    form = {"size": "1s"}
    expected = run_built(ending_together(form), viper__key__groups=2).result("sink")
    monkeypatch.setattr(OpenKeyWindows, "take", lost)
    assert run_built(ending_together(form), viper__key__groups=2).result("sink") != expected

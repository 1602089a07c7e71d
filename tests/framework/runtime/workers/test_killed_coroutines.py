"""Worker processes that are killed while tuples of bolts with coroutine functions are in flight."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from framework import Spout, TopologyBuilder
from framework.model.errors import ComponentError, WorkerError
from tests.framework.runtime.coroutines import AHEAD, COUNT, Plain, Some, Tracked, expected, out_of_order
from tests.framework.runtime.coroutines import built as plainly
from tests.framework.runtime.pieces import run_built
from tests.framework.runtime.workers.dying import die, first_time
from tests.framework.runtime.workers.killed import FLIGHT_PLANTS, PLANT, Count, Fan, Numbers, Written
from tests.framework.runtime.workers.test_exact import (
    CLAIMANTS,
    SHORT,
    SPREAD,
    TINY,
    run,
    undisturbed,
    written,
)
from tests.portions import at_every_change


class Fans(Fan):
    """As `Fan`, and waits for as long as is drawn, between the emits too."""

    config = AHEAD

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self.draw = random.Random(len(list(Path(storm_conf["marks"]).iterdir())))

    async def process(self, tup: Any) -> None:  # type: ignore[override]
        await out_of_order(self.draw)
        super().process(tup)
        await out_of_order(self.draw)


def built(config: dict[str, Any], count: int = 400, many: int = 20) -> TopologyBuilder:
    """Two bolts with coroutine functions behind each other, and one with state by key."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, kwargs={"count": count})
    own = {**AHEAD, **config}
    builder.set_bolt("fan", Fans, 3, kwargs={"many": many}, config=own).shuffle_grouping("source")
    builder.set_bolt("middle", Fans, 4, kwargs={"many": 2}, config=own).shuffle_grouping("fan")
    builder.set_bolt("count", Count, 2).fields_grouping("middle", "number")
    builder.set_bolt("sink", Written).global_grouping("count")
    return builder


CLAIMS = {"viper.sharing": "claims"}
APART = {"topology__workers": 4, "viper__placement": CLAIMANTS}
CASES: dict[str, tuple[Callable[[], TopologyBuilder], dict[str, Any]]] = {
    "dealt": (lambda: built({}), {}),
    "two in flight": (lambda: built({"viper.async.in_flight": 2}, 150), {}),
    "one in flight": (lambda: built({"viper.async.in_flight": 1}, 150), {}),
    "the tiniest channels": (lambda: built({}, 60), {**TINY, "kill__bits": 12}),
    "long callbacks": (lambda: built({}, 7, 3_000), {"kill__bits": 6}),
    "claims": (lambda: built(CLAIMS), APART),
    "claims in short channels": (lambda: built(CLAIMS), {**APART, **SHORT}),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("seed, case", at_every_change(product((1, 2, 3), CASES), len(CASES)))
def test_killed_workers_change_nothing(seed: int, case: str, tmp_path: Path) -> None:
    make, options = CASES[case]
    expected = undisturbed(make(), tmp_path)
    report = run(make(), tmp_path, seed, **{"viper__placement": SPREAD, **options})
    assert len(report.incidents) > 1
    assert all(incident.lost == 0 and not incident.state_lost for incident in report.incidents)
    assert written(tmp_path) == expected


@pytest.mark.parametrize("plant", FLIGHT_PLANTS)
def test_a_planted_bug_is_found(plant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = undisturbed(built({}), tmp_path)
    monkeypatch.setenv(PLANT, plant)
    for seed in range(8):
        try:
            run(built({}), tmp_path, seed, viper__placement=SPREAD)
        except (ComponentError, WorkerError):
            return
        if written(tmp_path) != expected:
            return
    pytest.fail("it changes nothing")


class Dies(Some):
    """Kills its process in the midst of tuple 200, once."""

    async def process(self, tup: Any) -> None:
        await super().process(tup)
        if tup.values.number == 200 and first_time(self, "200"):
            die()


@pytest.mark.parametrize("spout", [Plain, Tracked])
@pytest.mark.parametrize("config", [{}, CLAIMS], ids=["dealt", "claims"])
def test_tuples_in_flight_are_counted_or_fail(
    spout: type[Spout], config: dict[str, Any], marks: Path
) -> None:
    options = {
        "viper__worker": "process",
        "topology__workers": 3,
        "viper__placement": {"source": 1, "some": [2, 3], "sink": 1},
        "marks": str(marks),
    }
    report = run_built(plainly(Dies, 2, config, spout), **options)
    rows = report.result("sink")
    whole = set(rows)
    assert len(whole) == len(rows) and [row for row in expected() if row in whole] == rows
    gone = {number for number, time in set(expected()) - whole}
    silent = {number for number in range(COUNT) if number % 3 == 0}
    assert gone, "the tuple that has killed its process is lost at least"
    source = report.components["source"]
    if spout is Tracked:
        assert (source.acked + source.failed, source.unanswered) == (COUNT, 0)
        assert source.failed >= len(gone)
    else:
        assert len(gone) <= report.lost <= len(gone | silent)

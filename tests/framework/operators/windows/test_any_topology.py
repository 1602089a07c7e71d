"""Topologies of windows and joins that are drawn from a seed: all plans have the rows of the serial run.

Also at the same positions, as ``viper diff`` compares them. Sources are quiet, uneven or late, times lie
below 0, operators stand after one another and meet in joins; parallelism, modes of input, workers, slices
and channels are drawn apart from the topology. That the serial run is right is for the searches of other
tests.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any
from zlib import crc32

import pytest

from framework import Bolt, Count, JoinBolt, JPlus, OPlus, TopologyBuilder
from framework.model.errors import ComponentError
from framework.operators.sinks import CollectingSink
from framework.operators.windows.joins import Band, Equal, SameWindow, Within
from framework.operators.windows.key_state import OpenKeyWindows
from framework.operators.windows.spec import (
    GAP_MS,
    LATE_STREAM,
    LATENESS_MS,
    LENGTH_COUNT,
    LENGTH_MS,
    SLIDE_MS,
    TIME_FIELD,
)
from framework.runtime.exchange.derived_keys import Address
from tests.framework.operators.windows import test_idle_sources, test_late_operators, windowed
from tests.framework.operators.windows.operators import (
    GROUPS,
    Keyed,
    Row,
    TellKeys,
    TellKeysSliding,
    TellSliding,
    TellWindow,
)
from tests.framework.operators.windows.test_against_brute_force import PLANS
from tests.framework.operators.windows.test_aplus import Total
from tests.framework.operators.windows.test_idle_sources import Uneven
from tests.framework.operators.windows.test_jplus import NAMES, Dealt
from tests.framework.operators.windows.test_key_input import MODES
from tests.framework.operators.windows.test_late_operators import Late
from tests.framework.operators.windows.test_operators_forms import Pairs
from tests.framework.runtime.test_recorded_runs import differences, taped
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers
from tests.portions import seeds_at_every_change


class Told(Bolt):
    """Makes a row that windows take, of whatever it gets."""

    outputs = list(Row._fields)
    config = {"viper.stateless": True}

    def process(self, tup: Any) -> None:
        mark = crc32(repr(tuple(tup.values)).encode())
        keys = [f"key{mark >> shift & 7}" for shift in (0, 3, 6)][: mark % 4]
        self.emit(Row(mark % 1000, keys, f"key{mark >> 9 & 3}", mark % 60))


class Drawn:
    """A topology that is drawn from a seed.

    Args:
        seed: what it is drawn from.
        plan: draws parallelism and modes of input; None for a serial run.
    """

    def __init__(self, seed: int, plan: Random | None) -> None:
        self.builder = TopologyBuilder()
        self._shape = Random(seed)
        self._plan = plan
        self._is_late = self._shape.random() < 0.3
        self._streams = [self._source(f"source{number}") for number in range(self._shape.randrange(2, 4))]
        sink = self.builder.set_bolt("sink", CollectingSink)
        for number in range(self._shape.randrange(1, 4)):
            name, told = f"operator{number}", f"told{number}"
            self._shape.choice((self._of_one, self._of_one, self._of_two, self._join, self._bolt))(name)
            self.builder.set_bolt(told, Told, self._par()).shuffle_grouping(name)
            self._streams.append(told)
            sink.global_grouping(told)

    def _par(self, most: int = 6) -> int:
        return 1 if self._plan is None else self._plan.randrange(1, most + 1)

    def _source(self, name: str) -> str:
        shape = self._shape
        if self._is_late:
            rows = [row._replace(keys=shape.choices("abcd", k=2)) for row in test_late_operators.drawn(shape)]
            given = {"viper.timestamp.field": "time", "viper.timestamp.late": "admit"}
            self.builder.set_spout(name, Keyed, args=[rows], config=given)
        else:
            partitions, _ = test_idle_sources.drawn(shape)
            pauses = 0 if self._plan is None else self._plan.randrange(1000)
            self.builder.set_spout(name, Uneven(partitions, pauses), self._par(len(partitions)))
        return name

    def _lengths(self) -> tuple[int, int]:
        advance = self._shape.choice((3000, 10_000))
        return self._shape.choice((advance, 5 * advance // 2, 2 * advance, advance // 2)), advance

    def _of_one(self, name: str) -> None:
        """An operator of one input, which is one stream or two together."""
        shape, (size, advance) = self._shape, self._lengths()
        operator: OPlus = shape.choice(
            (
                lambda: TellKeys(size, advance),
                lambda: TellKeysSliding(size, advance),
                lambda: TellWindow(size, advance),
                lambda: TellSliding(size, advance),
                lambda: TellKeys(gap=advance),
                lambda: TellWindow(gap=advance),
                lambda: TellWindow(Count(5), Count(2)).with_partial_window(),
                lambda: Total(size, advance),
                lambda: Late(size, advance),
            )
        )()
        config: dict[str, Any] = {}
        if self._is_late:
            config[TIME_FIELD] = "time"
            if isinstance(operator, Late):
                config |= {LATE_STREAM: "late", LATENESS_MS: shape.choice((3, 30))}
        self._add(name, operator, shape.sample(self._streams, shape.randrange(1, 3)), config)

    def _of_two(self, name: str) -> None:
        """An operator of two inputs."""
        shape, (size, advance) = self._shape, self._lengths()
        windows, at = shape.choice(("single", "multi")), shape.choice(("tuple", "end"))
        operator = shape.choice(
            (
                lambda: Pairs(size, advance),
                lambda: JPlus(size, advance, on=Band(number=300), fields=NAMES, windows=windows, pairs_at=at),
                lambda: JPlus(gap=advance, fields=NAMES, windows="multi", pairs_at=at),
                lambda: Dealt(size, advance),
            )
        )()
        self._add(name, operator, shape.sample(self._streams, 2), {})

    def _add(self, name: str, operator: OPlus, inputs: list[str], config: dict[str, Any]) -> None:
        if operator.derives_keys and self._plan is not None:
            config = {**config, **self._plan.choice(MODES)}
        declarer = self.builder.set_bolt(name, operator, self._par(), config=config)
        for given in inputs:
            if operator.derives_keys:
                declarer.all_grouping(given)
            else:
                declarer.fields_grouping(given, ["key"])

    def _join(self, name: str) -> None:
        shape = self._shape
        left, right = shape.sample(self._streams, 2)
        time = shape.choice((Within(before="3ms", after="9ms"), Within("2ms"), SameWindow("10ms")))
        how, by_key = shape.choice(("inner", "left", "full")), shape.random() < 0.6
        bolt = JoinBolt(
            left, right, time & Equal("key") & Band(number=300), NAMES,
            index=shape.choice(((), ("key",))), how=how if by_key else "inner",
        )  # fmt: skip
        declarer = self.builder.set_bolt(name, bolt, self._par())
        for given in (left, right):
            if by_key:
                declarer.fields_grouping(given, ["key"])
            else:
                declarer.all_grouping(given)

    def _bolt(self, name: str) -> None:
        """Windows of a task, of which there is one."""
        lengths = {LENGTH_MS: 12, SLIDE_MS: 5}, {LENGTH_MS: 5}, {LENGTH_COUNT: 4, SLIDE_MS: 5}
        config: dict[str, Any] = self._shape.choice((*lengths, {GAP_MS: 4}))
        if self._is_late:
            config = {**config, TIME_FIELD: "time"}
            if SLIDE_MS in config and LENGTH_MS in config:
                config[LATENESS_MS] = self._shape.choice((0, 3, 30))
        bolt = self.builder.set_bolt(name, windowed.Tell, config=config)
        bolt.global_grouping(self._shape.choice(self._streams))


def check(seed: int, folder: Path, workers: Workers = INLINE) -> int:
    """Compare a drawn plan with the serial run; returns how many rows there were."""
    plan, groups = Random(~seed), {"viper__key__groups": GROUPS, "viper__poll__pause__max__ms": 1}
    serial, parallel = folder / f"{seed}-serial", folder / f"{seed}-parallel"
    expected = taped(Drawn(seed, None).builder, record=serial, **groups).result("sink")
    options = {**plan.choice(PLANS), **workers.options, **groups}
    found = taped(Drawn(seed, plan).builder, record=parallel, **options).result("sink")
    assert differences(serial, parallel) == [], f"seed {seed}"
    assert found == expected, f"seed {seed}"
    return len(found)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(500), 25))
def test_any_plan_has_the_rows_of_the_serial_run(seeds: range, tmp_path: Path) -> None:
    assert sum(check(seed, tmp_path) for seed in seeds) > 20 * len(seeds)


@pytest.mark.few(1)
@pytest.mark.parametrize("workers", [THREADS, PROCESSES], ids=str)
@pytest.mark.parametrize("seeds", seeds_at_every_change(range(5000, 5040), 2))
def test_on_several_workers(workers: Workers, seeds: range, tmp_path: Path) -> None:
    for seed in seeds:
        check(seed, tmp_path, workers)


@pytest.mark.parametrize("plant", ["promises too much", "foreign part"])
def test_a_planted_mistake_is_found(plant: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if plant == "promises too much":
        behind = OpenKeyWindows.first_end_behind
        monkeypatch.setattr(OpenKeyWindows, "first_end_behind", lambda self, at: behind(self, at) + 5000)
    else:
        parts = Address.parts
        monkeypatch.setattr(Address, "parts", lambda self, owners: parts(self, owners[::-1]))
    with pytest.raises((AssertionError, ComponentError)):
        test_any_plan_has_the_rows_of_the_serial_run(range(60), tmp_path)

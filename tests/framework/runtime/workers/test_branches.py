"""Branches that meet again stand nowhere still, however little room there is, and give the same output."""

from __future__ import annotations

import random
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.config.keys import SCHEDULING
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.branches import BRANCHES
from tests.framework.runtime.workers.components import Counts, Numbers, Places
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers, several
from tests.portions import at_every_change

COUNT = 150
NO_ROOM = {"viper__channel__jumbos": 1, "viper__channel__tuples": 1, "viper__jumbo__size": 1}


def drawn(seed: int) -> tuple[int, Workers, dict[str, Any]]:
    """A parallelism, workers and options that must not show in the output."""
    draw = random.Random(seed)
    workers = Workers(draw.choice(("thread", "process", "process")), draw.choice((2, 3)))
    return (
        draw.choice((1, 2, 3)),
        workers,
        {
            **NO_ROOM,
            "viper__scheduling": draw.choice(SCHEDULING),
            "viper__seed": seed,
            "viper__placement": draw.choice(("round-robin", "component")),
            "viper__slice__tuples": draw.choice((1, 3, 4096)),
        },
    )


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "workers",
    at_every_change([THREADS, PROCESSES, INLINE, Workers("thread", 1), Workers("process", 1)], 2),
    ids=str,
)
@pytest.mark.parametrize("shape", BRANCHES)
def test_with_room_for_one_tuple(workers: Workers, shape: str) -> None:
    serial = INLINE.run(BRANCHES[shape](1, COUNT), viper__time="logical")
    tight = workers.run(BRANCHES[shape](3, COUNT), viper__time="logical", **NO_ROOM)
    assert tight.result("sink") == serial.result("sink")
    assert len(serial.result("sink")) >= COUNT


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(12))
def test_under_any_schedule(seed: int) -> None:
    par, workers, options = drawn(seed)
    shape = random.Random(seed).choice(sorted(BRANCHES))
    serial = INLINE.run(BRANCHES[shape](1, COUNT), viper__time="logical").result("sink")
    found = workers.run(BRANCHES[shape](par, COUNT), viper__time="logical", **options).result("sink")
    assert found == serial, (seed, shape, par, workers, options)


@pytest.mark.few(1)
@several
def test_two_spouts_on_one_thread_take_turns(workers: Workers) -> None:
    """All of one's tuples would be held until the other has said something, if it ever could."""
    builder = TopologyBuilder()
    builder.set_spout("one", Numbers, 2, args=[2000])
    builder.set_bolt("counts", Counts).global_grouping("one")
    builder.set_bolt("sink", CollectingSink).global_grouping("counts")
    options = {"viper__placement": {"one": 1, "counts": 2, "sink": 3}, "viper__time": "logical", **NO_ROOM}
    assert workers.run(builder, **options).result("sink") == INLINE.run(builder).result("sink")


@several
def test_readers_of_one_gate_in_several_processes_each_get_everything(workers: Workers) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2, args=[500])
    builder.set_bolt("places", Places, 4).all_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("places")
    rows = workers.run(builder, viper__time="logical", viper__channel__jumbos=2).result("sink")
    assert len({pid for _, _, pid in rows}) == (3 if workers.kind == "process" else 1)
    for reader in {task for _, task, _ in rows}:
        assert [value for value, task, _ in rows if task == reader] == ["0", "1"] * 500

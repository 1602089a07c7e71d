"""Batches fire when pystorm's do, and fail as pystorm's do, in either base's class."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework.model.errors import ComponentError
from framework.runtime import RunReport
from framework.testing import TICK, run_bolt
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.workers.running import INLINE, Workers

AT = [100, 205, 301, 1100, 2200, 3305, 3400, 9400, 9505, 10600]
"""Times in milliseconds; their last digit is the key. There is a tick each second, also in silence."""

LATER = [(0, [9400]), (5, [9505])]
BATCHES = {
    0: [(0, [100]), (5, [205]), (1, [301]), (0, [1100]), (0, [2200]), (5, [3305]), (0, [3400]), *LATER],
    1: [(0, [100, 1100]), (5, [205]), (1, [301]), (0, [2200, 3400]), (5, [3305]), *LATER],
    3: [(0, [100, 1100, 2200, 3400]), (5, [205, 3305]), (1, [301]), *LATER],
}
"""By ``ticks_between_batches``: what fires, in order. The last tuple's batch fires at the end of the input.

With 1 the first batches fire at the second tick; after the silence any fires at the next tick, since the
counter of ticks begins again only where something fires.
"""


def batched(workers: Workers, cls: Any, base: ModuleType, ticks: int, **options: Any) -> RunReport:
    return workers.run(
        chain(base.Timed, cls),
        rows=[[at] for at in AT],
        batch__ticks=ticks,
        topology__tick__tuple__freq__secs=1,
        **options,
    )


@pytest.mark.parametrize("ticks", BATCHES)
@both
def test_batches_fire_at_the_ticks_at_which_pystorms_do(base: ModuleType, ticks: int) -> None:
    rows = batched(INLINE, base.Batches, base, ticks).result("sink")
    assert rows == [*BATCHES[ticks], (0, [10600])]


@both
@everywhere
def test_so_they_do_on_every_worker(workers: Workers, base: ModuleType) -> None:
    assert batched(workers, base.Batches, base, 1).result("sink") == [*BATCHES[1], (0, [10600])]


@both
@everywhere
def test_a_bolt_that_goes_on_gives_up_the_failing_batch_alone(workers: Workers, base: ModuleType) -> None:
    report = batched(workers, base.SurvivingBatches, base, 3, batch__bad=5)
    # The batches after the failing one fire at the next tick, as the counter of ticks goes on.
    assert report.result("sink") == [(0, [100, 1100, 2200, 3400]), (1, [301]), (0, [9400]), (0, [10600])]
    assert report.components["b1"].errors == 2


@both
def test_one_that_does_not_go_on_ends_the_run_with_that_batch(base: ModuleType) -> None:
    said = r"'b1', task 1, in process_tick: ValueError: bad key 5"
    with pytest.raises(ComponentError, match=said):
        batched(INLINE, base.Batches, base, 1, batch__bad=5, viper__on__error="stop")


TUPLES = [(0,), (5,), (1,), (10,)]


@both
def test_a_batch_is_acked_when_it_is_processed_and_not_before(base: ModuleType) -> None:
    run = run_bolt(base.Batches, [*TUPLES, TICK, TICK, (2,)], conf={"batch.ticks": 1})
    assert run.emitted() == [(0, [0, 10]), (5, [5]), (1, [1]), (2, [2])]
    assert run.acked == [(0,), (10,), (5,), (1,), (2,)]


@both
def test_where_it_goes_on_only_the_failing_batch_fails(base: ModuleType) -> None:
    conf = {"batch.ticks": 1, "batch.bad": 5}
    run = run_bolt(base.SurvivingBatches, [*TUPLES, TICK, TICK, (2,)], conf=conf)
    assert run.failed == [(5,)]
    assert run.acked == [(0,), (10,), (1,), (2,)]


@both
def test_where_it_does_not_all_that_wait_fail(base: ModuleType) -> None:
    failed: list[Any] = []
    cls = type("Noting", (base.Batches,), {"fail": lambda self, tup: failed.append(tup.values)})
    with pytest.raises(ValueError, match="bad key 5"):
        run_bolt(cls, [*TUPLES, TICK, TICK], conf={"batch.ticks": 1, "batch.bad": 5})
    assert failed == [(5,), (1,)]


@both
@everywhere
def test_a_timer_fires_without_ticks(workers: Workers, base: ModuleType, marks: Path) -> None:
    """The spout waits for each batch before it continues."""
    report = workers.run(chain(base.UntilMarked, base.BatchesOfTimer), marks=str(marks))
    assert report.result("sink") == [([0],), ([1],), ([2],)]


@both
def test_a_batch_of_a_timer_ignores_ticks(base: ModuleType, marks: Path) -> None:
    run = run_bolt(base.BatchesOfTimer, [(0,), TICK, TICK, TICK, (1,)], conf={"marks": str(marks)})
    assert run.emitted() == [([0, 1],)]

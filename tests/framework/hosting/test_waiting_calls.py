"""`next_tuple` may wait, or never return: what it emits flows, and no more is held than fits."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.runtime.coordination.stop import StopReason
from framework.runtime.exchange.buffer import SPILL_AT
from tests.framework.hosting import ours, ported
from tests.framework.hosting.kinds import both, chain, everywhere
from tests.framework.runtime.workers.conftest import Gate
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers


def opening(base: ModuleType, gate: Gate, **config: Any) -> tuple[TopologyBuilder, dict[str, Any]]:
    """A spout that waits in the middle of its one call until what it has emitted has arrived."""
    builder = TopologyBuilder()
    builder.set_spout("source", base.Waits, config=config)
    builder.set_bolt("passes", base.Passes).shuffle_grouping("source")
    builder.set_bolt("opens", base.Opens).global_grouping("passes")
    return builder, {"gates": [gate(str(number)) for number in range(3)]}


@pytest.mark.parametrize("workers", [PROCESSES, Workers(None)], ids=["process", "unsaid"])  # type: ignore[arg-type]
def test_what_a_ported_spout_emits_flows_while_it_waits_in_its_own_process(
    workers: Workers, gate: Gate
) -> None:
    builder, options = opening(ported, gate)
    report = workers.run(builder, **options)
    assert (report.components["opens"].processed, report.reason) == (3, StopReason.EXHAUSTED)


@pytest.mark.parametrize(
    ("workers", "base"),
    [(INLINE, ours), (INLINE, ported), (THREADS, ours), (THREADS, ported), (PROCESSES, ours)],
    ids=str,
)
def test_elsewhere_it_flows_where_the_spout_says_that_it_waits(
    workers: Workers, base: ModuleType, gate: Gate
) -> None:
    builder, options = opening(base, gate, **{"viper.blocking": True})
    assert workers.run(builder, **options).components["opens"].processed == 3


@pytest.mark.few(1)
@both
@everywhere
def test_a_call_that_never_returns_is_stopped_and_nothing_piles_up(
    workers: Workers, base: ModuleType, tmp_path: Path
) -> None:
    count, room = 5_000, 64
    options = {"written": str(tmp_path / "written"), "viper__jumbo__size": 16, "viper__channel__tuples": room}
    options["viper__jumbo__linger__ms"] = 0  # what is emitted within it may wait together
    report = workers.run(chain(base.Floods, base.Lags), {"max_tuples": count}, **options)
    lags = [lag for (lag,) in report.result("sink")]
    assert count <= report.emitted == len(lags) < count + SPILL_AT
    assert 0 <= max(lags) <= 4 * room  # there are two channels, and what is in process

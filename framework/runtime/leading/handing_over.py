"""The parts of a run that make its sources agree, and its tasks hand key groups over."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from framework.model.config import Settings
from framework.planning import Plan, is_exact
from framework.runtime.coordination.cut_leader import CutLeader
from framework.runtime.coordination.reconfiguring import Reconfiguring
from framework.runtime.coordination.scaling import Scaling
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.execution.assembly.network import Network


def cut_leader(plan: Plan, network: Network, stop: StopSignal) -> CutLeader | None:
    """The leader that has the sources of a run agree; None where they never have to."""

    def wake() -> None:
        for bell in network.bells:
            bell.ring()
        stop.wake()

    return None if network.record is None else CutLeader(plan, network.record, wake)


@contextmanager
def handing_over(
    plan: Plan,
    settings: Settings,
    network: Network,
    leader: CutLeader | None,
    stop: StopSignal,
    scaling: Scaling,
) -> Iterator[None]:
    """For as long as the block runs, tasks hand key groups over when a run is scaled, where any do."""
    record, scales = network.cut, network.scales
    if not plan.handing_over or leader is None or record is None or scales is None:
        scaling.hand_over_by(None)
        yield
        return
    timeout_s = settings["viper.checkpoint.timeout.secs"]
    parts = plan, record, scales, leader, stop
    reconfiguring = Reconfiguring(
        *parts,
        timeout_s=timeout_s,
        repeats=is_exact(plan, settings),
        on_done=scaling.carried_out,
        on_given_up=scaling.given_up,
    )
    scaling.hand_over_by(reconfiguring)
    with reconfiguring.going_on():
        yield

"""Executors with their tasks, from their place in the plan."""

from __future__ import annotations

import time
from collections.abc import Callable

from framework.config import Settings
from framework.planning import Plan, TimeMode
from framework.runtime.assembly.network import Network
from framework.runtime.assembly.task_factory import Wiring
from framework.runtime.control.stop import StopSignal
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.idle import BellRest, Rest
from framework.runtime.execution.policy import DownstreamFirst, Policy, SeededRandom
from framework.runtime.execution.timers import Timers
from framework.runtime.positions.ticks import WallTimer


def make_executor(
    plan: Plan,
    settings: Settings,
    network: Network,
    wiring: Wiring,
    number: int,
    stop: StopSignal,
    on_turn: Callable[[float], None],
) -> Executor:
    """The executor of an index in the plan's placement; to be called in its thread.

    Raises:
        ComponentError: a component's constructor raised.
    """
    tasks = plan.placement.executors[number].tasks
    if wiring.incarnation:  # those that had ended stay so
        tasks = tuple(task for task in tasks if not network.has_ended(task))
    spouts, bolts = wiring.tasks(tasks)
    return Executor(
        spouts,
        bolts,
        policy=_policy(settings, number),
        stop=stop,
        timers=Timers(),
        rest=_rest(plan, network, number, stop),
        fed_by_others=[running for running in (*spouts, *bolts) if network.has_others(running.task.id)],
        max_slice=settings["viper.slice.tuples"],
        drain_timeout_s=settings["viper.drain.timeout.secs"],
        on_turn=on_turn,
    )


def set_timers(executor: Executor, plan: Plan) -> None:
    """What components have said about their timers, which may be as late as in `initialize`."""
    now = time.monotonic()
    for bolt in executor.bolts:
        period = bolt.identity.conf.get("topology.tick.tuple.freq.secs")
        if period and plan.time is not TimeMode.EVENT:
            executor.timers.add(WallTimer(period, now), bolt, bolt.tick)
        seconds = bolt.host.batch_seconds
        if seconds is not None:
            executor.timers.add(WallTimer(seconds, now), bolt, bolt.fire_batches)


def _policy(settings: Settings, number: int) -> Policy:
    if settings["viper.scheduling"] == "random":
        return SeededRandom(settings["viper.seed"] + number)
    return DownstreamFirst()


def _rest(plan: Plan, network: Network, number: int, stop: StopSignal) -> Rest:
    if len(plan.placement.executors) == 1:
        return Rest(stop)
    return BellRest(stop, network.bells[number])

"""Makes an executor and its tasks from the plan's placement."""

from __future__ import annotations

from collections.abc import Callable

from framework.model.config import Settings
from framework.planning import Plan, TimeMode, is_exact
from framework.runtime.coordination.stop import StopSignal
from framework.runtime.execution.assembly.network import Network
from framework.runtime.execution.assembly.task_factory import TaskFactory
from framework.runtime.execution.executor import Executor
from framework.runtime.execution.idle import BellIdleStrategy, IdleStrategy
from framework.runtime.execution.live_time import HeartbeatRequests
from framework.runtime.execution.policy import (
    LONGEST_WAIT_S,
    LOOK_PERIOD_S,
    DownstreamFirst,
    Policy,
    Rules,
    SeededRandom,
)


def make_executor(
    plan: Plan,
    settings: Settings,
    network: Network,
    factory: TaskFactory,
    number: int,
    stop: StopSignal,
    on_turn: Callable[[float], None],
    on_moved: Callable[[], None] | None = None,
    *,
    resumes: bool = False,
) -> Executor:
    """Make one executor of the plan's placement; to be called in the thread that will run it.

    Args:
        plan: the whole run.
        settings: the configuration it was planned with.
        network: the channels, as this process sees them.
        factory: makes the tasks.
        number: index of the executor in the placement.
        stop: asks the executor to drain.
        on_turn: called before every turn with the monotonic time in seconds.
        on_moved: called after every turn in which tuples have moved; None if nobody is to know.
        resumes: whether this executor replaces one whose process has died. Tasks that had ended there are not
            made again, unless they have to repeat what they had not committed.

    Raises:
        ComponentError: a component's constructor raised.
    """
    tasks = plan.placement.executors[number].tasks
    if resumes and not is_exact(plan, settings):
        tasks = tuple(task for task in tasks if not network.has_ended(task))
    spouts, bolts = factory.tasks(tasks)
    return Executor(
        spouts,
        bolts,
        rules=Rules(
            _policy(settings, number),
            _idle_strategy(plan, network, number, stop),
            settings["viper.slice.tuples"],
            settings["viper.drain.timeout.secs"],
            LOOK_PERIOD_S if network.quota.left is not None else LONGEST_WAIT_S,
        ),
        stop=stop,
        fed_by_others=[t for t in (*spouts, *bolts) if network.has_others(t.context.spec.id)],
        on_turn=on_turn,
        on_moved=on_moved,
        requests=_requests(plan, network, number),
    )


def _requests(plan: Plan, network: Network, number: int) -> HeartbeatRequests | None:
    """How the executor asks for heartbeats of spouts; None where their time does not pass by itself."""
    if plan.time is not TimeMode.INGEST:
        return None
    return HeartbeatRequests(network.requests, network.bells_of_spouts(number))


def _policy(settings: Settings, number: int) -> Policy:
    if settings["viper.scheduling"] == "random":
        return SeededRandom(settings["viper.seed"] + number)
    return DownstreamFirst()


def _idle_strategy(plan: Plan, network: Network, number: int, stop: StopSignal) -> IdleStrategy:
    if len(plan.placement.executors) == 1:
        return IdleStrategy(stop)
    return BellIdleStrategy(stop, network.bells[number])

"""The plan of one shard: a single bolt, with what stands in for the components that feed it."""

from __future__ import annotations

from dataclasses import replace

from framework.planning import Plan, Task
from framework.planning.placement import Executor, Placement
from framework.planning.placement import WorkerKind as Kind
from framework.planning.plan import Channel
from framework.topology import Role


def bolt_plan(plan: Plan, bolt: str) -> Plan:
    """The plan restricted to one task of a bolt, and one of each component that feeds it.

    The topology and the layout stay what they are, so that positions do. The tasks that feed the bolt
    have the role of a spout's: they bring what has been emitted before.
    """
    subscriptions = tuple(s for s in plan.subscriptions if s.target == bolt)
    sources = sorted({subscription.source for subscription in subscriptions})
    feeding = [replace(plan.tasks_of(source)[0], role=Role.SPOUT) for source in sources]
    task = plan.tasks_of(bolt)[0]
    tasks = tuple(sorted([*feeding, task], key=lambda one: one.id))
    return replace(
        plan,
        tasks=tasks,
        subscriptions=subscriptions,
        channels=(Channel((task.id,), tuple(sorted(one.id for one in feeding))),),
        placement=_in_one_thread(tasks),
        # On a thread of its own it could not be run step by step; nothing else is held up by it here.
        confs={**plan.confs, bolt: {**plan.confs[bolt], "viper.blocking": False}},
    )


def _in_one_thread(tasks: tuple[Task, ...]) -> Placement:
    return Placement(Kind.INLINE, (Executor(1, tuple(task.id for task in tasks)),))

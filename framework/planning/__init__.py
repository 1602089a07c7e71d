"""Planning: the logical topology becomes tasks, channels and positions."""

from framework.planning.evaluation import Evaluation
from framework.planning.layout import ComponentLevel, Layout, make_layout
from framework.planning.placement import Executor, Placement, WorkerKind
from framework.planning.plan import Channel, Plan, Subscription, TaskSpec
from framework.planning.planner import make_plan
from framework.planning.recovery import is_exact
from framework.planning.strategy import AsConfigured, Draft, Strategy
from framework.planning.time_mode import TimeMode

__all__ = [
    "AsConfigured",
    "Channel",
    "ComponentLevel",
    "Draft",
    "Evaluation",
    "Executor",
    "Layout",
    "Placement",
    "Plan",
    "Strategy",
    "Subscription",
    "TaskSpec",
    "TimeMode",
    "WorkerKind",
    "is_exact",
    "make_layout",
    "make_plan",
]

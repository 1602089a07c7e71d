"""Planning: the logical topology becomes tasks, channels and positions."""

from framework.planning.layout import ComponentLevel, Layout, make_layout
from framework.planning.plan import Channel, Plan, Subscription, Task
from framework.planning.planner import make_plan
from framework.planning.time_mode import TimeMode

__all__ = [
    "Channel",
    "ComponentLevel",
    "Layout",
    "Plan",
    "Subscription",
    "Task",
    "TimeMode",
    "make_layout",
    "make_plan",
]

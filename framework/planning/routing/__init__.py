"""Groupings at run time: which of a consumer's tasks each row goes to."""

from framework.planning.routing.router import HASHES, CountingRouter, Router, make_router
from framework.planning.routing.scalable import ScalableRouter, SwitchingRouter, among
from framework.planning.routing.storm_hash import storm_hash
from framework.planning.routing.task_set import MOST_CHOSEN, TaskSet

__all__ = [
    "HASHES",
    "MOST_CHOSEN",
    "CountingRouter",
    "Router",
    "ScalableRouter",
    "SwitchingRouter",
    "TaskSet",
    "among",
    "make_router",
    "storm_hash",
]

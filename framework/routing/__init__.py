"""Groupings at run time: which of a consumer's tasks each row goes to."""

from framework.routing.chosen import among
from framework.routing.router import HASHES, CountingRouter, Router, make_router
from framework.routing.scalable import ScalableRouter
from framework.routing.storm_hash import storm_hash
from framework.routing.switching import SwitchingRouter
from framework.routing.task_set import MOST_CHOSEN, TaskSet

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

"""Groupings at run time: which of a consumer's tasks each row goes to."""

from framework.routing.router import HASHES, CountingRouter, Router, make_router
from framework.routing.scalable import ScalableRouter
from framework.routing.storm_hash import storm_hash
from framework.routing.switching import SwitchingRouter

__all__ = [
    "HASHES",
    "CountingRouter",
    "Router",
    "ScalableRouter",
    "SwitchingRouter",
    "make_router",
    "storm_hash",
]

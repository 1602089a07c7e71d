"""Groupings at run time: which of a consumer's tasks each row goes to."""

from framework.routing.router import HASHES, CountingRouter, Router, make_router
from framework.routing.scalable import ScalableRouter
from framework.routing.storm_hash import storm_hash

__all__ = ["HASHES", "CountingRouter", "Router", "ScalableRouter", "make_router", "storm_hash"]

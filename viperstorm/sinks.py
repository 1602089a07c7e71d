"""Bolts for the end of a topology; see `framework.operators.sinks` and `framework.operators.kafka`."""

from framework.operators import sinks
from framework.operators.kafka import KafkaSink
from framework.operators.sinks import *  # noqa: F403 - the same names as there

__all__ = ["KafkaSink"]
__all__ += sinks.__all__

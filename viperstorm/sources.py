"""Spouts that read files and topics; see `framework.operators.sources` and `framework.operators.kafka`."""

from framework.operators import sources
from framework.operators.kafka import KafkaSource
from framework.operators.sources import *  # noqa: F403 - the same names as there

__all__ = ["KafkaSource"]
__all__ += sources.__all__

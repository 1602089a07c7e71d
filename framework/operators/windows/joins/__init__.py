"""Joins of two streams: what belongs together, and how it is found.

============  =================================================================
conditions    `Equal`, `Band`, `Within`, `SameWindow`, and functions
comparing     how values are compared in the width that both streams declare
index         candidates by hash, or by cells of a band
rows          the stored tuples of one stream, and their columns
matching      finds the stored tuples that match one that has come
unmatched     tuples of outer joins that have had no partner
state         keeps what is stored where it survives the task's process
============  =================================================================
"""

from framework.operators.windows.joins.comparing import Origin
from framework.operators.windows.joins.conditions import (
    Band,
    Condition,
    Equal,
    Given,
    SameWindow,
    Within,
    as_condition,
)
from framework.operators.windows.joins.matching import HOWS, How, Scan, Search, told
from framework.operators.windows.joins.state import JoinState, OpenJoin, Share
from framework.operators.windows.joins.unmatched import Waiting

__all__ = [
    "HOWS",
    "Band",
    "Condition",
    "Equal",
    "Given",
    "How",
    "JoinState",
    "OpenJoin",
    "Origin",
    "SameWindow",
    "Scan",
    "Search",
    "Share",
    "Waiting",
    "Within",
    "as_condition",
    "told",
]

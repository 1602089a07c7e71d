"""Joins of two streams: their conditions, and the search for matching tuples.

- `conditions`: `Equal`, `Band`, `Within`, `SameWindow`, and functions
- `comparing`: comparison of values in the width that both streams declare
- `index`: candidates by hash, or by cells of a band
- `rows`: the stored tuples of one stream, and their columns
- `matching`: the search for stored tuples that match an incoming one
- `unmatched`: tuples of outer joins that have had no partner
- `state`: stored tuples as declared state, which survives the task's process
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

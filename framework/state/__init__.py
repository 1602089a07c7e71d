"""Declared state: what bolts remember by key, or by task, where the runtime can see it.

    class Count(Bolt):
        seen = ValueState("int64", default=0)

        def process(self, tup):
            self.seen.value += 1  # of this tuple's key

================  ===============================================================================
declaration       what every state has in common, and which states a class declares
types             the types of typed state
kinds             the kinds of state: value, table, reducing, aggregating
access            what the runtime hands to a state when a task begins
handles, pickled  what a component's attribute is while the task runs: of typed, of any values
================  ===============================================================================
"""

from framework.state.access import DirtyHandle, StateAccess
from framework.state.declaration import State, StateSpec, declared_states
from framework.state.kinds import AggregatingState, ReducingState, TableState, ValueState

__all__ = [
    "AggregatingState",
    "DirtyHandle",
    "ReducingState",
    "State",
    "StateAccess",
    "StateSpec",
    "TableState",
    "ValueState",
    "declared_states",
]

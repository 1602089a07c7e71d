"""Declared state: the memory of bolts by key, or by task, where the runtime can see it.

    class Count(Bolt):
        seen = ValueState("int64", default=0)

        def process(self, tup):
            self.seen.value += 1  # of this tuple's key

- `declaration`: the base of all states, and the declared states of a class
- `types`: the types of typed state
- `kinds`: the kinds of state: value, table, reducing, aggregating
- `collections`: the kinds that hold several values per key: list, map
- `access`: the access that the runtime passes to a state when a task begins
- `key_values`: the key-value state of Storm's stateful bolts
- `handles`, `pickled`: the attribute of a component while the task runs: of typed, of any values
- `lists`, `maps`: the same for lists and maps
- `batches`: the state of batching bolts, and its handle
- `kept`: values that are unpickled, and may have to be written
- `loading`: pickled values, read again
"""

from framework.operators.state.access import (
    DirtyHandle,
    LivingHandle,
    NotingHandle,
    OwningHandle,
    StateAccess,
)
from framework.operators.state.batches import BatchState
from framework.operators.state.collections import ListState, MapState
from framework.operators.state.declaration import State, StateSpec, declared_states
from framework.operators.state.key_values import KeyValues, KeyValueState
from framework.operators.state.kinds import AggregatingState, ReducingState, TableState, ValueState

__all__ = [
    "AggregatingState",
    "BatchState",
    "DirtyHandle",
    "KeyValueState",
    "KeyValues",
    "ListState",
    "LivingHandle",
    "MapState",
    "NotingHandle",
    "OwningHandle",
    "ReducingState",
    "State",
    "StateAccess",
    "StateSpec",
    "TableState",
    "ValueState",
    "declared_states",
]

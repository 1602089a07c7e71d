"""Declared state during a run: the memory that all its tasks share, and each task's part of it.

- `memory`: the arena of a run's state, made by its leading process and attached by its workers
- `snapshot`: the state of one task at the cut of a checkpoint, written while the task continues
- `shared`: the tables that transactions share, and their logs
- `table_images`: the same for shared tables that a task keeps
- `saving`: the way from a checkpoint into another run, and into a checkpoint from tasks that have ended
- `task_state`: the part of a task: bound to its component, and committed after each slice
"""

from framework.runtime.durability.state.memory import ClaimedGroups, StateMap, StateMemory
from framework.runtime.durability.state.saving import StateSaver, load_states, save_tables
from framework.runtime.durability.state.shared import MemberState, SharedMemory
from framework.runtime.durability.state.snapshot import Snapshot
from framework.runtime.durability.state.table_images import TableImages
from framework.runtime.durability.state.task_state import TaskState, Transactions

__all__ = [
    "ClaimedGroups",
    "MemberState",
    "SharedMemory",
    "Snapshot",
    "StateMap",
    "StateMemory",
    "StateSaver",
    "TableImages",
    "TaskState",
    "Transactions",
    "load_states",
    "save_tables",
]

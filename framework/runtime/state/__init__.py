"""Declared state while a run goes on: the memory that all its tasks share, and each task's part of it.

============  ===================================================================================
memory        the arena of a run's state, made by its leading process and attached by its workers
saving        from there into a checkpoint, and back into another run
task_state    what a task has of it: bound to its component, committed behind each slice
transactions  the commits that a stateful bolt is told of
============  ===================================================================================
"""

from framework.runtime.state.memory import StateMap, StateMemory
from framework.runtime.state.saving import StateSaver, load_states
from framework.runtime.state.task_state import TaskState
from framework.runtime.state.transactions import Transactions

__all__ = ["StateMap", "StateMemory", "StateSaver", "TaskState", "Transactions", "load_states"]

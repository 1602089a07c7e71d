"""Execution runs tasks: an executor is one thread that gives its tasks turns, and waits while none of them
has anything to do.

Beside it are the parts that may interrupt or watch a callback that does not return.

Modules here decide when a task runs, not what it does: they know tasks, but not components or channels.
"""

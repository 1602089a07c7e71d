"""Edges take tuples from a component's emit to the gates that its consumers read.

They check and copy values, gather rows, choose the receiving tasks by grouping, and wait when a gate is full.

Modules here give no positions and run no tasks. They learn of the task only through `EmitListener`.
"""

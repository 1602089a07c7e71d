"""Transactions on shared tables: requests of tasks to rows that all see, done in the order of their tuples.

    specs.py      specifications of tables: key, columns, room
    tables.py     Table: a table in an arena, to be filled before a run and read after it
    images.py     tables as bytes, for checkpoints
    group.py      Group: tables with the logs of all tasks that use them, and the evaluation of these
    evaluator.py  Evaluator: evaluates a group in a process, alone or by several threads
    recorder.py   Recorder: the requests of one task, and their results
    view.py       View: the tables as a function sees them that runs alone

Nothing is imported here: a topology needs `specs` only, which loads no compiled module.
"""

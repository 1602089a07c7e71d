"""Transactions on shared tables: what tasks want of rows that all see, done in the order of their tuples.

    specs.py     what a table is: its key, its columns, its room
    tables.py    Table: a table in an arena, to be filled before a run and read behind it
    images.py    tables as bytes, for checkpoints
    group.py     Group: tables with the logs of all tasks that use them, and the evaluation of these
    evaluator.py Evaluator: what evaluates a group in a process, alone or by several threads
    recorder.py  Recorder: what one task wants, and what came of it
    view.py      View: the tables as a function sees them that runs alone

Nothing is imported here: a topology needs `specs` only, which loads no compiled module.
"""

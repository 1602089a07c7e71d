"""Merge-sort in plain Python, as a bolt of the operator layer does it: what gates are measured against.

    merge_sort   puts the tuples of several sources into one order, tuple by tuple
    reader       gives it what has arrived, and has the methods of the reading end of a gate
"""

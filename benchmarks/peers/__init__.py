"""The same workloads on ViperStorm and on other systems, in alternation, with the results checked.

==============  ============================================================================
workloads       the input of each workload, and its right output
jobs            the job that a program gets, and its report of its run
programs        a program for each system; those of peers run in environments of their own
registry        which systems run which workloads in which ways
folders         the folder that a job and its program exchange files in
launching       one run of a program in a process of its own
alternation     rounds, checks and statistics
table, figure   the results, for people
==============  ============================================================================

``python -m benchmarks.peers --help`` says how to run it, and ``make bench-peers`` installs the peers first.
"""

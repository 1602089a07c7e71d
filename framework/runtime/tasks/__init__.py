"""Tasks: a spout's or a bolt's replica while it runs, composed of parts that know little of each other.

===========================  ================================================================================
task, source_task            what an executor sees of every task, and of every source
spout_task, bolt_task        a spout that is asked for tuples; a bolt that is given some
partitioned_task             a spout that brings partitions, merged by `partition_merger`
replay_task                  stands in for a spout where its recorded output is replayed
context, slot, presence      what is fixed; the component, made anew after errors; who acts while it blocks
emitter                      the way out: placed, routed, handed over
spout_assigner, holdback     positions of what a spout emits; tuples out of order, sorted within a slack
bolt_assigner                positions of what a bolt emits
pullers                      asking a spout, and for how much
outcomes                     its acks and fails
aligned_spout                brings a spout to the time of a checkpoint
processors, column_folder    how a bolt is called for tuples, one by one or with columns of them
interludes                   how it is called for all that is no input
agenda, bolt_agenda          what is due at a position, between two inputs
aligned_stop                 where partitioned sources stop together
checkpoints                  what is saved for a checkpoint
bolt_cut                     the next cut in a bolt's input, and how it hands key groups over there
membership                   a bolt's part in a group of shared tables
awaited                      the answers of a bolt for its tuples
===========================  ================================================================================

A task never calls another one. It signals those that may have something to do, and asks its executor to run
others where its own output has no room.
"""

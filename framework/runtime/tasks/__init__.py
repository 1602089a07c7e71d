"""Tasks: a spout's or a bolt's replica while it runs, composed of parts that know little of each other.

- `task`, `source_task`: every task, and every source, as an executor sees it
- `spout_task`, `bolt_task`: a spout that is asked for tuples; a bolt that gets them
- `partitioned_task`: a spout that brings partitions, merged by `partition_merger`
- `readable`: the descriptors that sources wait for
- `replay_task`: the task in place of a spout whose recorded output is replayed
- `context`, `slot`, `presence`: the fixed facts; the component, made again after errors; the thread that acts
  while it blocks
- `emitter`: the way out: placed, routed, handed over
- `spout_assigner`, `holdback`: positions of a spout's output; tuples out of order, sorted within a slack
- `bolt_assigner`: positions of a bolt's output
- `pullers`: requests to a spout for a number of tuples
- `outcomes`: acks and fails of a spout's tuples
- `aligned_spout`: a spout that has to come to the time of a checkpoint
- `processors`, `column_folder`: calls of a bolt for tuples, one by one or with columns of them
- `interludes`: calls of a bolt between inputs: ticks, batches, windows
- `agenda`, `bolt_agenda`: work that is due at a position, between two inputs
- `checkpoints`: the data that a task saves for a checkpoint
- `bolt_cut`: the next cut in a bolt's input, and the hand-over of key groups there
- `membership`: a bolt's part in a group of shared tables
- `awaited`: the answers of a bolt for its tuples

A task never calls another one. It signals those that may have something to do, and asks its executor to run
others where its own output has no room.
"""

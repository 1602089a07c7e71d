"""A Spark job as the spout: its partitions stream straight into the spout's tasks.

    leading process          companion.py: starts the keeper, ends it with the run
        keeper.py            a small process: keeps the driver, the rendezvous, and the log's end
            driver.py        the Spark driver, a process of its own with its JVM
                sender.py    in Spark's executors: one partition each, sent as Arrow batches
    worker processes         feed.py, receiver.py: each task listens, and receives its partitions

Tasks and executors find each other at the rendezvous, which the keeper holds. Each partition is one
connection from an executor to a task. If a connection breaks, the stage that Spark repeats makes another. It
resumes exactly at the row where the first stopped, as the streams of a job are the same in every run.
"""

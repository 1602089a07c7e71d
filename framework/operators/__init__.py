"""What users subclass or instantiate, and what belongs to it: nothing here knows tasks, channels or plans.

components   spouts and bolts: base classes, the tuple, the rows of a batch
windows      forms of windows, what they hold, their aggregates, and joins
state        what bolts remember by key
sources      spouts that read files; a source derives from `FileSource`, or from `PartitionedSpout`
sinks        bolts that write; one derives from `Sink`, or from `TransactionalSink` where no row may be twice
controllers  what decides on numbers of tasks while a run goes on
log          the one log of a run
standins     Python classes that run in the place of Java ones of examples
"""

"""Classes that users subclass or instantiate, and their parts: nothing here knows tasks, channels or plans.

- `components`: spouts and bolts: base classes, the tuple, the rows of a batch
- `windows`: forms of windows, their contents, their aggregates, and joins
- `state`: declared state of bolts, by key
- `sources`: spouts that read files; a source derives from `FileSource`, or from `PartitionedSpout`
- `sinks`: bolts that write; one derives from `Sink`, or from `TransactionalSink` if no row may be twice
- `controllers`: rules that decide on numbers of tasks during a run
- `log`: the one log of a run
- `standins`: Python classes that run in the place of Java ones of examples
"""

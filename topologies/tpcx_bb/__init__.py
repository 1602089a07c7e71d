"""TPCx-BB's queries 1, 2, 3, 4 and 15 on streams, as pipelines for ordered data parallelism."""

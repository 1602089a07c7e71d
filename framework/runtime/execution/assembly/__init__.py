"""Assembly makes what a plan describes: the channels in memory, the tasks with their inputs and outputs, and
the executors that run them.

The modules here construct objects and connect them. They do not run tasks, and of user code they call only
constructors and the `prepare` of custom groupings.
"""

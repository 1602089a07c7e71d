"""Workers that are processes.

fleet      the parent's side: starts them, leads them through the phases of a run, hears from them
child      a process's own side
messages   what the two say to each other
shipping   the plan on its way
logs       log records on their way back
"""

"""Workers that are processes.

fleet      the parent's side: leads them through the phases of a run, hears from them
member     one of them, as the parent sees it
starting   how they are started
child      a process's own side
messages   what the two say to each other
shipping   the plan on its way
logs       log records on their way back
"""

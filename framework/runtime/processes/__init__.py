"""Workers that are processes.

fleet      the parent's side: leads them through the phases of a run, hears from them
member     one of them, as the parent sees it
starting   how they are started
succession who takes the place of one that died, and when
burial     what such a one leaves, set right
child      a process's own side
messages   what the two say to each other
shipping   the plan on its way
logs       log records on their way back
"""

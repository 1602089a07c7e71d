"""Workers: this process, or processes that a supervisor starts, leads through a run, and restarts.

==================  =========================================================================================
worker              the executors of one process, from making their tasks to closing them
executor_thread     the threads that these run in
supervisor          leads worker processes through the phases of a run
handle, death       one worker process as the supervisor sees it; how it died, in words
restarts, reclaim   whether a process that died is restarted; what it left in shared memory, set right
waker               wakes the supervisor, which waits for messages, when something is asked of the run
starting, main      how a worker process is started, and what it executes
folder              the working directory of a process of streamparse's components
messages, shipping  what crosses between them while they run, and with their job and their report
status, reporting   what a worker process reports about itself in shared memory, and at its end
==================  =========================================================================================
"""

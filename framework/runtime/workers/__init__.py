"""Workers: this process, or processes that a supervisor starts, leads through a run, and restarts.

- `worker`: the executors of one process, from making their tasks to closing them
- `executor_thread`: the threads of executors
- `supervisor`: leads worker processes through the phases of a run
- `handle`, `death`: one worker process as the supervisor sees it; the cause of its death, in words
- `restarts`, `reclaim`: the restart of a process that has died; the repair of its shared memory
- `waker`: wakes the supervisor, which waits for messages, when a request comes to the run
- `starting`, `main`: the start of a worker process, and its program
- `folder`: the working directory of a process of streamparse's components
- `messages`, `shipping`: messages between processes while they run; their job and their report
- `status`, `reporting`: a worker process's reports about itself in shared memory, and at its end
"""

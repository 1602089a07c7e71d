"""Control lets a run be stopped, paused and questioned from outside, by signals or by calls, and starts what
must run beside its spouts.

Modules here carry requests. They do not act on tasks: executors and workers read the requests and do so.
"""

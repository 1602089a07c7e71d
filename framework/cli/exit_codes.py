"""The exit codes by which ``viper`` reports to a program what happened."""

from __future__ import annotations

import enum


class ExitCode(enum.IntEnum):
    """The exit codes of every command; ``docs/cli.md`` lists the same."""

    OK = 0
    """Done, also after Ctrl-C and a complete drain."""
    FAILED = 1
    """A component raised and that ended the run, tuples in flight could not be finished in time, or untracked
    ones are lost. Or something outside that was needed has failed, or there is no room for what is to be
    written."""
    USAGE = 2
    """The command line cannot be used, or asks for something that this machine lacks."""
    INVALID = 3
    """A topology, configuration or project that was refused."""
    INTERNAL = 4
    """A bug of ViperStorm's own."""
    STOPPED = 130
    """Stopped at once, by a second Ctrl-C, or the first before a run began; as shells count SIGINT."""
    BROKEN_PIPE = 141
    """The reader of stdout has gone; as shells count SIGPIPE."""

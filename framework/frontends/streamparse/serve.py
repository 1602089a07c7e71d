"""Runs a streamparse spout as a program: ``python -m framework.frontends.streamparse.serve module.Class``.

It is `streamparse_run`, with one addition: where `next_tuple` raises StopIteration the spout ends, as it does
when it is hosted. Under `streamparse_run` itself its process dies of that, and Storm starts it again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pystorm
import streamparse.run

from framework.frontends.multilang.messages import ENDS_ARE_KNOWN

_SYNC = {"command": "sync"}


def main() -> None:
    """Serve until stdin ends."""
    pystorm.Spout._run = _loop_body(pystorm.Spout._run)
    streamparse.run.main()


def _loop_body(execute: Callable[[Any], None]) -> Callable[[Any], None]:
    """Return pystorm's loop body for a command, around its own `_run`: after its end a spout is asked no
    more."""
    has_ended = False

    def execute_until_end(spout: Any) -> None:
        nonlocal has_ended
        command = spout.read_command()
        if command["command"] == "next" and has_ended:
            spout.send_message(_SYNC)
            return
        spout._pending_commands.appendleft(command)  # where pystorm looks first
        try:
            execute(spout)
        except StopIteration:
            if command["command"] != "next":
                raise
            has_ended = True
            if spout.storm_conf.get(ENDS_ARE_KNOWN):
                spout.send_message({"command": "end"})
            spout.send_message(_SYNC)

    return execute_until_end


if __name__ == "__main__":
    main()

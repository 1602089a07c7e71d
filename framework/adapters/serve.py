"""Runs a streamparse spout as a program: ``python -m framework.adapters.serve module.Class``.

It is `streamparse_run`, with one addition: where `next_tuple` raises StopIteration the spout ends, as it does
when it is hosted. Under `streamparse_run` itself its process dies of that, and Storm starts it again.
"""

from __future__ import annotations

from typing import Any

import pystorm
import streamparse.run

from framework.multilang.messages import ENDS_ARE_KNOWN

_run = pystorm.Spout._run


def main() -> None:
    """Serve until stdin ends."""
    pystorm.Spout._run = _run_to_the_end
    streamparse.run.main()


def _run_to_the_end(spout: Any) -> None:
    """Execute one command, as pystorm does it."""
    command = spout.read_command()
    spout._pending_commands.appendleft(command)  # from where pystorm takes it
    try:
        _run(spout)
    except StopIteration:
        if command["command"] != "next":
            raise
        if spout.storm_conf.get(ENDS_ARE_KNOWN):
            spout.send_message({"command": "end"})
        spout.send_message({"command": "sync"})


if __name__ == "__main__":
    main()

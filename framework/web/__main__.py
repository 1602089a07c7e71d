"""The process beside ``viper run --ui``: ``python -m framework.web DESCRIPTOR CONTROL``.

It serves on a socket that it has inherited, and ends with its run, or is killed with the process that has
started it. It has a process group of its own, so that Ctrl-C does not reach it: the run drains then, which is
worth looking at.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
from pathlib import Path

from framework.web.address import TOKEN
from framework.web.serving import serve
from framework.web.watch import Outcome


def main() -> None:
    """Serve until the run has ended; the exit status is 2, with the usage on stderr, for other arguments."""
    if len(sys.argv) != 3:
        print("usage: python -m framework.web DESCRIPTOR CONTROL (viper run --ui starts it)", file=sys.stderr)
        sys.exit(2)
    descriptor, control = sys.argv[1:]
    listening = socket.socket(fileno=int(descriptor))
    outcome = Outcome()
    threading.Thread(target=lambda: outcome.tell(sys.stdin.read()), name="viper-outcome", daemon=True).start()
    serve(Path(control), listening, os.environ.get(TOKEN) or None, within_s=float("inf"), outcome=outcome)


if __name__ == "__main__":
    main()

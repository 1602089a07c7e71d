"""The process beside ``viper run --ui``: ``python -m framework.web DESCRIPTOR CONTROL``.

It serves on a socket that it has inherited, and ends with its run, or is killed with the process that has
started it. Ctrl-C reaches it as well; but the run drains then, which is worth looking at.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from pathlib import Path

from framework.web.address import TOKEN
from framework.web.serving import serve


def main() -> None:
    """Serve until the run has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    descriptor, control = sys.argv[1:]
    listening = socket.socket(fileno=int(descriptor))
    serve(Path(control), listening, os.environ.get(TOKEN) or None, within_s=float("inf"))


if __name__ == "__main__":
    main()

"""The command line: ``viper``. Stdout is for data, stderr for messages.

A file per command; what they share lies in files of its own. Only click is imported at the top, so that
``viper --help`` and completion are quick; a command imports what it needs when it runs.
"""

from framework.cli.main import main

__all__ = ["main"]

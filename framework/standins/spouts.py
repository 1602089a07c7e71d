"""Stand-ins for spouts of Storm."""

from __future__ import annotations

import random
import time
from typing import Any

from framework.components import Spout

_WORDS = ("nathan", "mike", "jackson", "golda", "bertels")
_PAUSE_SECS = 0.1


class TestWordSpout(Spout):
    """Emits one of five names at random, ten times a second, for ever.

    What is drawn depends only on the task's index within the component, so it is the same in every run.

    Args:
        is_distributed: as in Storm; without effect, set the parallelism instead.
    """

    # pytest would take it for a class of tests, by its name.
    __test__ = False
    outputs = ("word",)

    def __init__(self, is_distributed: bool = True) -> None:
        super().__init__()
        self._random = random.Random(0)
        self._due = 0.0

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Seed the choice of words."""
        of_task = context["task->component"]
        tasks = sorted(int(task) for task, name in of_task.items() if name == context["componentid"])
        self._random = random.Random(tasks.index(context["taskid"]))

    def next_tuple(self) -> None:
        """Emit a word if it is time for one; waiting would hold up the other tasks."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + _PAUSE_SECS
            self.emit([self._random.choice(_WORDS)])

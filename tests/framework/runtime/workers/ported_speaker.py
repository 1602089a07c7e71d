"""A component of streamparse's that speaks in the ways that these have."""

from __future__ import annotations

import logging
import os
from typing import Any

from streamparse import Bolt


class SpeaksPorted(Bolt):  # type: ignore[misc]
    """Says through every logger which task it is, and in which process."""

    outputs = ["number"]

    def process(self, tup: Any) -> None:
        who = f"{self.component_name} {self.task_id} {os.getpid()}"
        self.logger.info("logger %s", who)
        self.log(f"log {who}")
        print("print", who)
        logging.getLogger("myapp").info("myapp %s", who)
        self.emit([tup.values[-1]])

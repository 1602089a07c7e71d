"""The base class of spouts and bolts."""

from __future__ import annotations

import importlib
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

from framework.model.specs import Recipe
from framework.operators.components.collector import UNHOSTED, Collector
from framework.operators.components.levels import LEVELS

LOGGER_PREFIX = "viperstorm.component"
"""Each component logs to ``viperstorm.component.<id>``."""

_SERVER = "framework.frontends.multilang.serve"
"""The module that serves components as programs; it imports the runtime, which few processes need."""


class Component(Recipe):
    """Base of spouts and bolts, with streamparse's attributes.

    The constructor's parameters are pystorm's. They are accepted so that code and unit tests which were
    written for pystorm still work; the framework reads and writes nothing through them.
    """

    outputs: Sequence[Any] | None = None
    """Declared streams: field names of the default stream, and `Stream` objects."""
    par: int | Mapping[str, int] = 1
    """Parallelism, or a mapping of environment to parallelism."""
    config: Mapping[str, Any] | None = None
    """The component's own configuration."""
    exit_on_exception: bool = True
    """True if an exception in a callback stops the component."""

    topology_name: str = ""
    task_id: int = 0
    component_name: str = ""
    debug: bool = False
    storm_conf: Mapping[str, Any]
    context: Mapping[str, Any]

    _collector: Collector = UNHOSTED

    def __init__(
        self,
        input_stream: Any = None,
        output_stream: Any = None,
        rdb_signal: Any = "SIGUSR1",
        serializer: str = "json",
    ) -> None:
        self.pid = os.getpid()
        self.logger = logging.getLogger(f"{LOGGER_PREFIX}.{type(self).__name__}")
        self.storm_conf = {}
        self.context = {}

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Prepare for tuples; called once before the first one.

        Args:
            storm_conf: the resolved configuration, by key; a copy of the task's own.
            context: Storm's context: ``componentid``, ``taskid``, ``task->component`` and more.
        """

    def close(self) -> None:
        """Release what `initialize` acquired; called once after the last tuple.

        It cannot emit.
        """

    def cleanup(self) -> None:
        """Do the same as `close`, by Storm's name for it in bolts; called right before it."""

    def run(self) -> None:
        """Serve the component as a program, over Storm's multilang protocol on stdin and stdout.

        It is for the end of a module that a runtime starts as a program, such as ``python -m module``. The
        process ends when the runtime closes the connection. While a module is imported, `run` does nothing:
        whoever imports a component's class hosts it.

        Raises:
            ProgramError: no program can do this component's work; or this is an interactive session.
        """
        from framework.model.importing import leaves_to_host

        if not leaves_to_host(self):
            importlib.import_module(_SERVER).serve(self)

    def log(self, message: object, level: str | None = None) -> None:
        """Write a line to the component's log.

        Args:
            message: what to write.
            level: trace, debug, info, warn, warning, error or critical; info if unknown.
        """
        self.logger.log(LEVELS.get(level or "", logging.INFO), "%s", message)

    def report_metric(self, name: str, value: Any) -> None:
        """Note the value of a metric of any name; the run's report has the last value of each."""
        self._collector.report_metric(name, value)

    def raise_exception(self, exception: BaseException, tup: Any = None) -> None:
        """Report an exception with its traceback to the log, and carry on.

        Args:
            exception: the one to report.
            tup: the tuple that was being processed, if there was one.
        """
        self._collector.report_error(exception, tup)


def tasks_of(component: str, context: Mapping[str, Any]) -> list[int]:
    """The ids of all tasks of a component, in ascending order; none where the context does not say.

    Args:
        component: its id.
        context: what `Component.initialize` is given.
    """
    return sorted(int(task) for task, name in context.get("task->component", {}).items() if name == component)

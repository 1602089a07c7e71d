"""The one log of a run: which task a record comes from, what a line looks like, what is only counted."""

from framework.model.tracebacks import log_error, log_raised
from framework.operators.log.files import log_level, task_files
from framework.operators.log.forms import FORMS, LogForm
from framework.operators.log.origin import (
    Origin,
    ask_in_this_thread,
    attached_origins,
    component_logger,
    current_origin,
    origin_of,
    speaking_as,
    starter_of,
)
from framework.operators.log.repetition import Counting, Limits, active_limits, key_of, limits_of
from framework.operators.log.stdout import data_stream, printing_to_log

__all__ = [
    "FORMS",
    "Counting",
    "Limits",
    "LogForm",
    "Origin",
    "active_limits",
    "ask_in_this_thread",
    "attached_origins",
    "component_logger",
    "current_origin",
    "data_stream",
    "key_of",
    "limits_of",
    "log_error",
    "log_level",
    "log_raised",
    "origin_of",
    "printing_to_log",
    "speaking_as",
    "starter_of",
    "task_files",
]

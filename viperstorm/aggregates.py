"""Aggregate functions of windows, and what own ones derive from."""

from framework.operators.windows.aggregates import *  # noqa: F403 - the same names as there
from framework.operators.windows.aggregates import __all__ as __all__

"""Aggregate functions of windows, and what own ones derive from; see `framework.windows.aggregates`."""

from framework.windows.aggregates import *  # noqa: F403 - the same names as there
from framework.windows.aggregates import __all__ as __all__

"""Bolts for the end of a topology; see `framework.sinks`."""

from framework.sinks import *  # noqa: F403 - the same names as there
from framework.sinks import __all__ as __all__

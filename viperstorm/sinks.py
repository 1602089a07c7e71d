"""Bolts for the end of a topology; see `framework.operators.sinks`."""

from framework.operators.sinks import *  # noqa: F403 - the same names as there
from framework.operators.sinks import __all__ as __all__

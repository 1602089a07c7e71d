"""Bolts that call functions, for YAML and builders other than `StreamBuilder`; see `framework.streams`."""

from framework.streams import *  # noqa: F403 - the same names as there
from framework.streams import __all__ as __all__

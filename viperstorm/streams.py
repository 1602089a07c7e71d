"""Bolts that call functions, for YAML and builders other than `StreamBuilder`."""

from framework.frontends.streams import *  # noqa: F403 - the same names as there
from framework.frontends.streams import __all__ as __all__

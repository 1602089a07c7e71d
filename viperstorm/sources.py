"""Spouts that read files; see `framework.sources`."""

from framework.sources import *  # noqa: F403 - the same names as there
from framework.sources import __all__ as __all__

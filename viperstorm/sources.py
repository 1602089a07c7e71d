"""Spouts that read files; see `framework.operators.sources`."""

from framework.operators.sources import *  # noqa: F403 - the same names as there
from framework.operators.sources import __all__ as __all__

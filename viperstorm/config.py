"""Resolving the configuration of a topology; see `framework.config`."""

from framework.config import *  # noqa: F403 - the same names as there
from framework.config import __all__ as __all__

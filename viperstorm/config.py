"""Resolving the configuration of a topology; see `framework.model.config`."""

from framework.model.config import *  # noqa: F403 - the same names as there
from framework.model.config import __all__ as __all__

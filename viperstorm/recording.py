"""Reading the recordings that ``viper run --record`` writes; see `framework.recording`."""

from framework.recording import *  # noqa: F403 - the same names as there
from framework.recording import __all__ as __all__

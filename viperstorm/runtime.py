"""Reports of runs, and how a run is stopped from another thread; see `framework.runtime`."""

from framework.runtime import *  # noqa: F403 - the same names as there
from framework.runtime import __all__ as __all__

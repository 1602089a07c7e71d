"""Running components and topologies in tests; see `framework.testing`."""

from framework.testing import *  # noqa: F403 - the same names as there
from framework.testing import __all__ as __all__

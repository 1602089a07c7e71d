"""Controllers, and what own ones derive from; see `framework.controllers`."""

from framework.controllers import *  # noqa: F403 - the same names as there
from framework.controllers import __all__ as __all__

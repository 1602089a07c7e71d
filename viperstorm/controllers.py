"""Controllers, and what own ones derive from; see `framework.operators.controllers`."""

from framework.operators.controllers import *  # noqa: F403 - the same names as there
from framework.operators.controllers import __all__ as __all__

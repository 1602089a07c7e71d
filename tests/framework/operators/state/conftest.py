"""The fixtures that tests of declared state share with those of workers."""

from tests.framework.runtime.workers.conftest import _ends_and_leaves_nothing, marks

__all__ = ["_ends_and_leaves_nothing", "marks"]

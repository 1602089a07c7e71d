"""ViperStorm: Storm topologies in Python on one multicore machine, with one output order.

The names of `framework.public` are this package's. They are imported when the first of them is asked for, as
commands and worker processes import modules of the package and none of its names.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from framework import aliases

if TYPE_CHECKING:
    from framework.public import *  # noqa: F403 - a second list of names would fall behind the first
    from framework.public import __all__ as __all__
else:

    def __getattr__(name: str) -> Any:
        """A public name, which is an attribute from then on."""
        if name == "__all__" or not name.startswith("_"):
            public = import_module("framework.public")  # not by a name, which would be asked for here
            if name == "__all__" or name in public.__all__:
                found = globals()[name] = getattr(public, name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *import_module("framework.public").__all__})


aliases.install()

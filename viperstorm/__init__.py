"""ViperStorm's public names under the name that it is installed by: ``from viperstorm import Bolt, Spout``.

Every name here is `framework`'s own and no copy, so a class that is imported from either is the same class.

======================  ======================================================================
viperstorm.aggregates   sums, means, distinct counts and so on, of windows
viperstorm.sinks        bolts for the end of a topology: files, tables, stdout
viperstorm.sources      spouts that read files
viperstorm.testing      runs components and topologies in a test
viperstorm.streams      bolts that call functions, as `StreamBuilder` makes them and YAML names them
viperstorm.columns      running counts and values of keys, for batch bolts on columns
viperstorm.config       resolves the configuration of a topology
viperstorm.controllers  decide how many tasks a bolt has during its run
viperstorm.errors       every error that is raised on purpose
viperstorm.recording    reads what ``viper run --record`` has written
viperstorm.runtime      reports of runs, and how a run is stopped from another thread
viperstorm.spark        prepared datasets as spouts, and whole histories inside Spark's executors
======================  ======================================================================
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framework import *  # noqa: F403 - a second list of names would fall behind framework's
    from framework import __all__ as __all__
else:

    def __getattr__(name: str) -> Any:
        """A name of `framework`, which imports them all with the first one."""
        if name == "__all__" or not name.startswith("_"):
            import framework

            if name == "__all__" or name in framework.__all__:
                found = globals()[name] = getattr(framework, name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        import framework

        return sorted({*globals(), *framework.__all__})

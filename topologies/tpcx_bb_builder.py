"""TPCx-BB's queries as pipelines, with the builder in Storm's style.

    viper run topologies/tpcx_bb_builder.py:q1
    viper run topologies/tpcx_bb_builder.py:q2
    viper run topologies/tpcx_bb_builder.py:q3
    viper run topologies/tpcx_bb_builder.py:q4
    viper run topologies/tpcx_bb_builder.py:q15

Each function takes the same arguments:

    rows      the spout of clicks or sales; None for 100,000 that are drawn
    sink      takes the answers; None for one that prints them
    tasks     of each component but those with one task by their nature: a number, or a mapping of names to
              numbers, 2 of the others
    bolts     by name, bolts in place of the query's own
"""

from collections.abc import Mapping

from tpcx_bb import queries
from tpcx_bb.spouts import Clicks, Sales

from viperstorm import TopologyBuilder
from viperstorm.sinks import ConsoleSink

TASKS = 2


class _Pipeline:
    """A query in the making: each bolt reads from the one before; arguments as above."""

    def __init__(self, rows, sink, tasks, bolts):
        self._builder = TopologyBuilder()
        self._builder.set_config("viper.time", "event")
        self._sink = ConsoleSink if sink is None else sink
        self._tasks, self._bolts = tasks, bolts or {}
        self._before = "rows"
        self._builder.set_spout("rows", rows, self._tasks_of("rows"))

    def stateless(self, name, bolt):
        """Add a bolt whose tasks take any tuples."""
        self._add(name, bolt, self._tasks_of(name)).shuffle_grouping(self._before)
        self._before = name
        return self

    def by_key(self, name, bolt, *fields):
        """Add a bolt with state by the key of these fields."""
        self._add(name, bolt, self._tasks_of(name)).fields_grouping(self._before, *fields)
        self._before = name
        return self

    def single(self, name, bolt):
        """Add a bolt with state and one task."""
        self._add(name, bolt, 1).global_grouping(self._before)
        self._before = name
        return self

    def built(self):
        """The query, with a sink behind its last bolt."""
        self._builder.set_bolt("answers", self._sink).global_grouping(self._before)
        return self._builder

    def _add(self, name, bolt, tasks):
        return self._builder.set_bolt(name, self._bolts.get(name, bolt), tasks)

    def _tasks_of(self, name):
        return self._tasks.get(name, TASKS) if isinstance(self._tasks, Mapping) else self._tasks


def q1(rows=None, sink=None, tasks=TASKS, bolts=None):
    """The pairs of items that are sold together most, hour by hour."""
    made = _Pipeline(rows or Sales(injectors=2), sink, tasks, bolts)
    made.stateless("chosen", queries.OfCategories)
    made.by_key("baskets", queries.Baskets, "ticket")
    made.by_key("counts", queries.PairCounts, "first", "second")
    return made.single("top", queries.TopPairs).built()


def q2(rows=None, sink=None, tasks=TASKS, bolts=None):
    """The items that are viewed together with one most, day by day."""
    made = _Pipeline(rows or Clicks(injectors=2), sink, tasks, bolts)
    made.stateless("known", queries.KnownClicks)
    made.by_key("visits", queries.Visits, "user")
    made.stateless("viewed", queries.ViewedWith)
    made.by_key("counts", queries.ItemCounts, "item")
    return made.single("top", queries.TopItems).built()


def q3(rows=None, sink=None, tasks=TASKS, bolts=None):
    """The items that are viewed last before one is bought, day by day."""
    made = _Pipeline(rows or Clicks(injectors=2), sink, tasks, bolts)
    made.stateless("known", queries.KnownClicks)
    made.by_key("views", queries.ViewsBefore, "user")
    made.by_key("counts", queries.ItemCounts, "item")
    return made.single("top", queries.TopItems).built()


def q4(rows=None, sink=None, tasks=TASKS, bolts=None):
    """The average number of pages of sessions with an abandoned cart, day by day."""
    made = _Pipeline(rows or Clicks(injectors=2), sink, tasks, bolts)
    made.stateless("typed", queries.TypedClicks)
    made.by_key("carts", queries.Carts, "user")
    made.stateless("abandoned", queries.Abandoned)
    return made.single("average", queries.AveragePages).built()


def q15(rows=None, sink=None, tasks=TASKS, bolts=None):
    """The categories whose sales in a store are flat or decline, in a year."""
    made = _Pipeline(rows or Sales(injectors=2, parameters={"days": 370.0}), sink, tasks, bolts)
    made.stateless("of_store", queries.OfStore)
    made.stateless("of_category", queries.OfCategory)
    return made.by_key("slopes", queries.Slopes, "category").built()


topology = q1().build("tpcx-bb-q1")

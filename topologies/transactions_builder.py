"""TStream's four applications, with the builder in Storm's style; they want numpy, and pyarrow for batches.

    viper run topologies/transactions_builder.py:grep_sum
    viper run topologies/transactions_builder.py:streaming_ledger
    viper run topologies/transactions_builder.py:online_bidding
    viper run topologies/transactions_builder.py:toll_processing

Each function takes the same arguments:

    events    the spout; None for 100,000 events
    sink      takes the answers; None for one that counts them
    tasks     of each component but the sink: a number, or a mapping of some names to numbers, of others 2
    batches   whether the bolts process columns; then the spout brings columns
    bolts     by name, bolts in place of the application's own
"""

from collections.abc import Mapping
from importlib import import_module

from transactions import grep_sum as gs
from transactions import online_bidding as ob
from transactions import spouts
from transactions import streaming_ledger as sl
from transactions import toll_processing as tp

from viperstorm import TopologyBuilder
from viperstorm.sinks import CountingSink

TASKS = 2


class _Building:
    """An application in the making; arguments as above."""

    def __init__(self, spout, events, sink, tasks, batches, bolts):
        self.builder = TopologyBuilder()
        self.builder.set_config("viper.time", "event")
        self.batches = import_module("transactions.batches") if batches else None
        self._tasks, self._bolts = tasks, bolts or {}
        if events is None:
            events = getattr(self.batches or spouts, spout)(injectors=2)
        self.builder.set_spout("events", events, self._tasks_of("events"))
        self._sink = CountingSink if sink is None else sink

    def bolt(self, name, own):
        """A bolt, to which its inputs have still to be given; what is given by name takes its place."""
        return self.builder.set_bolt(name, self._bolts.get(name, own), self._tasks_of(name))

    def answers(self, *sources):
        """Put the sink after these sources, components or pairs with a stream; return the application."""
        sink = self.builder.set_bolt("answers", self._sink)
        for source in sources:
            component, stream = source if isinstance(source, tuple) else (source, "default")
            sink.global_grouping(component, stream)
        return self.builder

    def _tasks_of(self, name):
        return self._tasks.get(name, TASKS) if isinstance(self._tasks, Mapping) else self._tasks


def grep_sum(events=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """Grep & Sum: bolts ``grep`` and ``sum``."""
    made = _Building("GrepSum", events, sink, tasks, batches, bolts)
    kinds = made.batches or gs
    made.bolt("grep", kinds.Grep).shuffle_grouping("events")
    if batches:
        made.bolt("sum", kinds.Sum).shuffle_grouping("grep")
        return made.answers("sum")
    made.bolt("sum", kinds.Sum).shuffle_grouping("grep", "read")
    return made.answers("sum", ("grep", "written"))


def streaming_ledger(events=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """The Streaming Ledger: bolts ``parser``, ``deposit`` and ``transfer``, or in batches only ``ledger``."""
    made = _Building("StreamingLedger", events, sink, tasks, batches, bolts)
    if batches:
        made.bolt("ledger", made.batches.Ledger).shuffle_grouping("events")
        return made.answers("ledger")
    made.bolt("parser", sl.Parser).shuffle_grouping("events")
    made.bolt("deposit", sl.Deposit).shuffle_grouping("parser", "deposits")
    made.bolt("transfer", sl.Transfer).shuffle_grouping("parser", "transfers")
    return made.answers("deposit", "transfer")


def online_bidding(events=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """Online Bidding: bolts ``auth`` and ``trade``."""
    made = _Building("OnlineBidding", events, sink, tasks, batches, bolts)
    kinds = made.batches or ob
    made.bolt("auth", kinds.Auth).shuffle_grouping("events")
    made.bolt("trade", kinds.Trade).shuffle_grouping("auth")
    return made.answers("trade")


def toll_processing(events=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """Toll Processing: bolts ``speed``, ``count`` and ``toll``, in whose order a report is processed."""
    made = _Building("TollProcessing", events, sink, tasks, batches, bolts)
    kinds = made.batches or tp
    made.bolt("speed", kinds.RoadSpeed).shuffle_grouping("events")
    made.bolt("count", kinds.VehicleCount).shuffle_grouping("events")
    made.bolt("toll", kinds.TollNotification).shuffle_grouping("events")
    return made.answers("toll")


topology = streaming_ledger().build("streaming-ledger")

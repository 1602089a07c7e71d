"""BriskStream's applications, with the builder in Storm's style; they want numpy, and pyarrow for batches.

    viper run topologies/brisk_builder.py:word_count
    viper run topologies/brisk_builder.py:fraud_detection
    viper run topologies/brisk_builder.py:spike_detection
    viper run topologies/brisk_builder.py:log_processing

Each function takes the same arguments:

    lines     the spout; None for 100,000 lines
    sink      takes the reports, a mapping of names for several of them; None for one that counts it
    tasks     of each component but sinks: a number, or a mapping of some names to numbers, of others 2
    batches   whether the bolts process columns; then the spout brings columns
    bolts     by name, bolts in place of the application's own
"""

from collections.abc import Mapping
from importlib import import_module

from brisk import fraud_detection as fd
from brisk import log_processing as lp
from brisk import spike_detection as sd
from brisk import spouts
from brisk import word_count as wc

from viperstorm import TopologyBuilder
from viperstorm.sinks import CountingSink

TASKS = 2


class _Building:
    """An application in the making; arguments as above."""

    def __init__(self, spout, lines, sink, tasks, batches, bolts):
        self.builder = TopologyBuilder()
        self.builder.set_config("viper.time", "event")
        self.batches = import_module("brisk.batches") if batches else None
        self._tasks, self._bolts = tasks, bolts or {}
        if lines is None:
            lines = getattr(self.batches or spouts, spout)(injectors=2)
        self.builder.set_spout("lines", lines, self._tasks_of("lines"))
        self._sink = CountingSink if sink is None else sink

    def bolt(self, name, tuples, columns):
        """A bolt, to which its input has still to be given; what is given by name takes its place.

        Args:
            name: of the bolt.
            tuples: its class tuple by tuple.
            columns: the name of its class on columns.
        """
        own = getattr(self.batches, columns) if self.batches else tuples
        return self.builder.set_bolt(name, self._bolts.get(name, own), self._tasks_of(name))

    def sink(self, name, source):
        """Put a sink after a bolt, and return the application."""
        sink = self._sink[name] if isinstance(self._sink, Mapping) else self._sink
        self.builder.set_bolt(name, sink).global_grouping(source)
        return self.builder

    def _tasks_of(self, name):
        return self._tasks.get(name, TASKS) if isinstance(self._tasks, Mapping) else self._tasks


def word_count(lines=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """Word count: bolts ``parser``, ``splitter`` and ``counter``."""
    made = _Building("Sentences", lines, sink, tasks, batches, bolts)
    made.bolt("parser", wc.Parser, "LineParser").shuffle_grouping("lines")
    made.bolt("splitter", wc.Splitter, "Splitter").shuffle_grouping("parser")
    made.bolt("counter", wc.Counter, "Counter").fields_grouping("splitter", "word")
    return made.sink("sink", "counter")


def fraud_detection(lines=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """Fraud detection: bolts ``parser`` and ``predictor``."""
    made = _Building("Transactions", lines, sink, tasks, batches, bolts)
    made.bolt("parser", fd.Parser, "TransactionParser").shuffle_grouping("lines")
    made.bolt("predictor", fd.Predictor, "Predictor").fields_grouping("parser", "entity")
    return made.sink("sink", "predictor")


def spike_detection(lines=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """Spike detection: bolts ``parser``, ``average`` and ``detector``."""
    made = _Building("Readings", lines, sink, tasks, batches, bolts)
    made.bolt("parser", sd.Parser, "ReadingParser").shuffle_grouping("lines")
    made.bolt("average", sd.MovingAverage, "MovingAverage").fields_grouping("parser", "device")
    made.bolt("detector", sd.Detector, "Detector").shuffle_grouping("average")
    return made.sink("sink", "detector")


def log_processing(lines=None, sink=None, tasks=TASKS, batches=False, bolts=None):
    """Log processing: bolts ``parser``, ``volume``, ``status``, ``geography`` and ``stats``; in batches
    ``countries`` and ``stats``, which counts cities, in the place of the last one."""
    made = _Building("Requests", lines, sink, tasks, batches, bolts)
    made.bolt("parser", lp.Parser, "RequestParser").shuffle_grouping("lines")
    made.bolt("volume", lp.VolumeCounter, "VolumeCounter").fields_grouping("parser", "slot")
    made.bolt("status", lp.StatusCounter, "StatusCounter").fields_grouping("parser", "response")
    made.bolt("geography", lp.Geography, "Geography").shuffle_grouping("parser")
    if batches:
        made.bolt("countries", None, "Countries").fields_grouping("geography", "country")
        made.bolt("stats", None, "Cities").fields_grouping("countries", "country", "city")
    else:
        made.bolt("stats", lp.GeoStats, None).fields_grouping("geography", "country")
    made.sink("volumes", "volume")
    made.sink("statuses", "status")
    return made.sink("places", "stats")


topology = word_count().build("word-count")

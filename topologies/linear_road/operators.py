"""The two operators that Viper's evaluation measures: one without state, and one with state by vehicle.

They take lines as a few bare fields, and pass some of them on as they are: ``PositionReports`` 99 % of an
expressway's lines, ``NewSegments`` a third of them (Walulya et al., "Viper: A module for communication-layer
determinism and scaling in low-latency stream processing", FGCS 2018).
"""

from linear_road.records import REPORT, SEGMENTS
from viperstorm import Bolt, ValueState

FIELDS = ["type", "time", "vid", "speed", "xway", "lane", "dir", "seg", "pos"]


class PositionReports(Bolt):
    """Passes on the lines that are reports (``pos_rep``)."""

    outputs = [*FIELDS, "stamp"]
    config = {"viper.stateless": True}

    def process(self, tup):
        if tup.values[0] == REPORT:
            self.emit(tup.values)


class NewSegments(Bolt):
    """Passes on each vehicle's first report, and those from another segment than before (``new_seg``)."""

    outputs = [*FIELDS, "stamp"]
    place = ValueState("int64", default=-1)

    def process(self, tup):
        values = tup.values
        place = values[4] * SEGMENTS + values[7]
        if values[0] == REPORT and place != self.place.value:
            self.place.value = place
            self.emit(values)

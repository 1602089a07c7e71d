"""The application: each bolt does one thing, and remembers what it has to by key."""

import csv

from linear_road.records import (
    BALANCE,
    EXIT,
    EXPENDITURE,
    REPORT,
    SECOND_US,
    SEGMENT_FEET,
    SEGMENTS,
    minute_of,
)
from viperstorm import Bolt, MapState, OPlus, Stream, ValueState

STOPPED_AFTER = 4
"""Reports from one place after which a vehicle has stopped."""
REACH = 4
"""Segments before that of an accident in which vehicles are told of it."""
CROWD, SLOW, FACTOR = 50, 40, 2
"""Vehicles beyond which a toll is asked for, miles per hour below which it is, and what it grows by."""
MINUTES = 5
"""Minutes that speeds are the average of."""


class Dispatch(Bolt):
    """Passes reports and queries on, each to those who want them; what nobody answers ends here."""

    outputs = [
        Stream(["vid", "time", "speed", "xway", "dir", "lane", "seg", "pos"], name="reports"),
        Stream(["vid", "time", "qid"], name="balances"),
        Stream(["vid", "time", "qid", "xway", "day"], name="expenditures"),
    ]
    config = {"viper.stateless": True}

    def process(self, tup):
        type, time, vid, speed, xway, lane, dir, seg, pos, qid, day = tup.values
        if type == REPORT:
            self.emit([vid, time, speed, xway, dir, lane, seg, pos], stream="reports")
        elif type == BALANCE:
            self.emit([vid, time, qid], stream="balances")
        elif type == EXPENDITURE:
            self.emit([vid, time, qid, xway, day], stream="expenditures")


class Crossings(Bolt):
    """Notes each vehicle that has come into another segment, and does not leave the expressway there."""

    outputs = ["vid", "time", "xway", "dir", "seg"]
    place = ValueState("int64", default=-1)

    def process(self, tup):
        vid, time, _, xway, dir, lane, seg, _ = tup.values
        place = (xway * 2 + dir) * SEGMENTS + seg
        if place != self.place.value:
            self.place.value = place
            if lane != EXIT:
                self.emit([vid, time, xway, dir, seg])


class Stops(Bolt):
    """Notes each vehicle that has stopped, and each that moves again."""

    outputs = ["time", "xway", "dir", "lane", "seg", "pos", "vid", "stopped"]
    place = ValueState("int64", default=-1)
    reports = ValueState("int64", default=0)

    def process(self, tup):
        vid, time, _, xway, dir, lane, _, pos = tup.values
        place = ((xway * 2 + dir) * 8 + lane) * 1_000_000 + pos
        if place == self.place.value:
            if self.reports.add(1) == STOPPED_AFTER:
                self._tell(time, place, vid, stopped=True)
            return
        if self.reports.value >= STOPPED_AFTER:
            self._tell(time, self.place.value, vid, stopped=False)
        self.place.value = place
        self.reports.value = 1

    def _tell(self, time, place, vid, *, stopped):
        rest, pos = divmod(place, 1_000_000)
        way, lane = divmod(rest, 8)
        self.emit([time, *divmod(way, 2), lane, pos // SEGMENT_FEET, pos, vid, stopped])


class Accidents(Bolt):
    """Finds vehicles that stand in one place, and tells the segments before them; and when they move."""

    outputs = ["xway", "dir", "seg", "accident", "where", "since"]
    stopped = MapState()
    """The vehicles that stand in a place, by lane and position."""

    def process(self, tup):
        time, xway, dir, lane, seg, pos, vid, has_stopped = tup.values
        before = self.stopped.get((lane, pos), ())
        now = tuple(sorted({*before, vid} if has_stopped else {*before} - {vid}))
        if now:
            self.stopped.put((lane, pos), now)
        else:
            self.stopped.remove((lane, pos))
        if (len(before) < 2) == (len(now) < 2):
            return
        # Who enters a segment is told of it from the next minute on.
        since = minute_of(time) + 1 if len(now) == 2 else None
        for affected in range(seg, seg - REACH - 1, -1) if dir == 0 else range(seg, seg + REACH + 1):
            if 0 <= affected < SEGMENTS:
                self.emit([xway, dir, affected, lane * 1_000_000 + pos, seg, since])


class Vehicles(OPlus):
    """Counts the vehicles that have reported from a segment in a minute."""

    outputs = ["xway", "dir", "seg", "minute", "vehicles"]
    size = "1m"

    def create(self):
        return set()

    def update(self, window, tup):
        window.state.add(tup.values.vid)

    def output(self, window):
        yield (*window.key, minute_of(window.end // SECOND_US) - 1, len(window.state))


class Speeds(OPlus):
    """Adds up the speeds of all reports from a segment in a minute."""

    outputs = ["xway", "dir", "seg", "minute", "total", "reports"]
    size = "1m"

    def create(self):
        return [0, 0]

    def update(self, window, tup):
        window.state[0] += tup.values.speed
        window.state[1] += 1

    def output(self, window):
        yield (*window.key, minute_of(window.end // SECOND_US) - 1, *window.state)


class Tolls(Bolt):
    """Tells each vehicle that comes into a segment of the toll, and of an accident if there is one ahead."""

    outputs = ["answer", Stream(["vid", "toll"], name="tolls")]
    vehicles = ValueState("int64", default=0)
    counted = ValueState("int64", default=0)
    """The minute in which so many vehicles were."""
    totals = MapState("int64", "int64")
    """The speeds of a minute, added up; of the last minutes."""
    reports = MapState("int64", "int64")
    """How many they are."""
    accidents = MapState()
    """For each accident its segment, and the minute from which on it counts."""

    def process(self, tup):
        if tup.component == "crossings":
            self._crossing(*tup.values)
        elif tup.component == "vehicles":
            _, _, _, self.counted.value, self.vehicles.value = tup.values
        elif tup.component == "speeds":
            self._speeds(*tup.values[3:])
        else:
            self._accident(*tup.values[3:])

    def _speeds(self, minute, total, reports):
        self.totals.put(minute, total)
        self.reports.put(minute, reports)
        for known in list(self.totals):
            if known <= minute - MINUTES:
                self.totals.remove(known)
                self.reports.remove(known)

    def _accident(self, accident, where, since):
        if since is None:
            self.accidents.remove(accident)
        else:
            self.accidents.put(accident, (where, since))

    def _crossing(self, vid, time, xway, dir, seg):
        minute = minute_of(time)
        vehicles = self.vehicles.value if self.counted.value == minute - 1 else 0
        speed = self._speed(minute)
        where = next((at for at, since in self.accidents.values() if minute >= since), None)
        toll = 0
        if where is not None:
            self.emit([f"1,{time},{xway},{where},{dir},{vid}"])
        elif vehicles > CROWD and speed < SLOW:
            toll = FACTOR * (vehicles - CROWD) ** 2
        self.emit([f"0,{vid},{time},{speed},{toll}"])
        self.emit([vid, toll], stream="tolls")

    def _speed(self, minute):
        """The average of the last minutes, rounded half up; 0 where nobody was."""
        known = [each for each in self.totals if minute - MINUTES <= each < minute]
        reports = sum(self.reports.get(each) for each in known)
        total = sum(self.totals.get(each) for each in known)
        return (2 * total + reports) // (2 * reports) if reports else 0


class Accounts(Bolt):
    """Charges each vehicle for a segment when it comes into the next one, and tells what it owes."""

    outputs = ["answer"]
    announced = ValueState("int64", default=0)
    balance = ValueState("int64", default=0)

    def process(self, tup):
        if tup.component == "tolls":
            self.balance.add(self.announced.value)
            self.announced.value = tup.values.toll
        else:
            _, time, qid = tup.values
            self.emit([f"2,{time},{qid},{self.balance.value}"])


class Expenditures(Bolt):
    """Tells what a vehicle has paid on an expressway on a day of the last ten weeks, if that is known.

    Args:
        history: a file with lines ``vid,day,xway,toll``; None for none.
    """

    outputs = ["answer"]
    config = {"viper.stateless": True}

    def __init__(self, history=None):
        super().__init__()
        self._history = history

    def initialize(self, conf, context):
        self._tolls = {}
        if self._history is not None:
            with open(self._history, newline="", encoding="ascii") as file:
                for vid, day, xway, toll in csv.reader(file):
                    self._tolls[int(vid), int(day), int(xway)] = int(toll)

    def process(self, tup):
        vid, time, qid, xway, day = tup.values
        toll = self._tolls.get((vid, day, xway))
        if toll is not None:
            self.emit([f"3,{time},{qid},{toll}"])

"""The application, tuple by tuple: each bolt does one thing, and remembers what it has to by key.

State is made of whole numbers, as many keys change in each slice of input. A state that is pickled, such as
the set of vehicles of a window, is written for almost every report if there are many segments. Windows of a
minute with such sets took 28 us a report at eight expressways, beside 7 for all of this.
"""

import csv

import numpy as np

from linear_road import rules
from linear_road.records import BALANCE, EXPENDITURE, REPORT, SEGMENTS, minute_of
from viperstorm import Bolt, MapState, Stream, TableState, ValueState

REPORTS = ("vid", "time", "speed", "segment", "lane", "pos")
BALANCES = ("vid", "time", "qid")
EXPENDITURES = ("vid", "time", "qid", "xway", "day")
SEEN = ("segment", "vid", "time", "speed", "is_new", "move")
TOLLS = ("vid", "move", "toll")
"""The fields of streams between bolts."""


class Dispatch(Bolt):
    """Passes reports and queries on, each to those who want them; what nobody answers ends here."""

    outputs = [
        Stream(list(REPORTS), name="reports"),
        Stream(list(BALANCES), name="balances"),
        Stream(list(EXPENDITURES), name="expenditures"),
    ]
    config = {"viper.stateless": True}

    def process(self, tup):
        type, time, vid, speed, xway, lane, dir, seg, pos, qid, day = tup.values
        if type == REPORT:
            segment = rules.segment_of(xway, dir, seg)
            self.emit([vid, time, speed, segment, lane, pos], stream="reports")
        elif type == BALANCE:
            self.emit([vid, time, qid], stream="balances")
        elif type == EXPENDITURE:
            self.emit([vid, time, qid, xway, day], stream="expenditures")


class Crossings(Bolt):
    """Finds for each report the move of its vehicle (`rules.move_of`), and whether it is the first one from
    that segment in its minute."""

    outputs = list(SEEN)
    trip = TableState(
        {"segment": "int64", "minute": "int64", "first": "int64"},
        defaults={"segment": -1, "minute": -1, "first": -1},
    )
    """Segment and minute of the last report, and the segment of the first one in that minute."""
    between = ValueState("binary", default=b"")
    """The segments of its minute between the first and the last one, see `rules.seen_between`."""

    def process(self, tup):
        vid, time, speed, segment, lane, _ = tup.values
        trip, minute = self.trip, minute_of(time)
        before = trip.segment
        moved = segment != before
        is_new = minute != trip.minute
        if is_new:
            trip.minute = minute
            trip.first = segment
        elif moved:
            first, known = trip.first, self.between.value
            is_new = segment != first
            if before != first:
                self.between.value, was_there = rules.seen_between(known, minute, before, segment)
                is_new = is_new and not was_there
            elif known and is_new:
                is_new = not rules.seen_between(known, minute, None, segment)[1]
        if moved:
            trip.segment = segment
        self.emit([segment, vid, time, speed, is_new, rules.move_of(moved, lane)])


class Stops(Bolt):
    """Notes each vehicle that has stopped, and each that moves again."""

    outputs = ["road", "time", "place", "vid", "stopped"]
    standing = ValueState("int64", default=rules.standing(-1, 0))

    def process(self, tup):
        vid, time, _, segment, lane, pos = tup.values
        place = rules.place_of(segment, lane, pos)
        before, reports = rules.stood(self.standing.value)
        if place != before:
            if reports == rules.STOPPED_AFTER:
                self._tell(time, before, vid, stopped=False)
            self.standing.value = rules.standing(place, 1)
        elif reports < rules.STOPPED_AFTER:
            self.standing.add(1)
            if reports + 1 == rules.STOPPED_AFTER:
                self._tell(time, place, vid, stopped=True)

    def _tell(self, time, place, vid, *, stopped):
        self.emit([rules.segment_of_place(place) // SEGMENTS, time, place, vid, stopped])


class Accidents(Bolt):
    """Finds vehicles that stand still, and notifies the segments before them; likewise when they move."""

    outputs = ["segment", "place", "minute", "happens"]
    stopped = MapState()
    """The vehicles that stand in a place."""

    def process(self, tup):
        _, time, place, vid, has_stopped = tup.values
        before = self.stopped.get(place, ())
        now = tuple(sorted({*before, vid} if has_stopped else {*before} - {vid}))
        if now:
            self.stopped.put(place, now)
        else:
            self.stopped.remove(place)
        if (len(before) < 2) == (len(now) < 2):
            return
        minute, happens = minute_of(time), len(now) == 2
        for segment in rules.told_of(rules.segment_of_place(place)):
            self.emit([segment, place, minute, happens])


class Tolls(Bolt):
    """Tells each vehicle that comes into a segment of the toll, and of an accident if there is one ahead."""

    outputs = ["answer", Stream(list(TOLLS), name="tolls")]
    now = TableState(
        dict.fromkeys(("minute", "vehicles", "total", "reports", "crowd", "speed"), "int64"),
        defaults=dict.fromkeys(("minute", "vehicles", "total", "reports", "crowd", "speed"), 0),
    )
    """The minute of the last report, its vehicles, and their speeds; and what tolls go by in that minute."""
    last = ValueState("binary", default=rules.NO_SPEEDS)
    accidents = ValueState("binary", default=b"")

    def process(self, tup):
        if tup.component == "accidents":
            self._accident(*tup.values[1:])
            return
        segment, vid, time, speed, is_new, move = tup.values
        now, minute = self.now, minute_of(time)
        if minute != now.minute:
            self._begin(minute)
        if move == rules.ENTERS:
            self._crossing(segment, vid, time, minute)
        elif move != rules.STAYS:
            self.emit([vid, move, 0], stream="tolls")
        now.total += speed
        now.reports += 1
        if is_new:
            now.vehicles += 1

    def _begin(self, minute):
        now = self.now
        later = minute - now.minute
        last = np.frombuffer(self.last.value, np.int64)[None]
        last = rules.speeds_later(last, now.total, now.reports, np.array([later]))
        self.last.value = last.tobytes()
        now.crowd = now.vehicles if later == 1 else 0
        now.speed = int(rules.speeds(last)[0])
        now.minute = minute
        now.vehicles = now.total = now.reports = 0

    def _accident(self, place, minute, happens):
        change = rules.with_accident if happens else rules.cleared
        self.accidents.value = change(self.accidents.value, place, minute)

    def _crossing(self, segment, vid, time, minute):
        known, speed = self.accidents.value, self.now.speed
        where = rules.ahead(known, minute) if known else None
        if where is None:
            toll = rules.toll_of(self.now.crowd, speed)
        else:
            toll = 0
            self.emit([rules.accident_answer(time, where, vid)])
        self.emit([rules.toll_answer(vid, time, speed, toll)])
        self.emit([vid, rules.ENTERS, toll], stream="tolls")


class Accounts(Bolt):
    """Charges each vehicle for a segment when it comes into the next one, but not when it has left by the
    segment's own exit; and answers queries for balances."""

    outputs = ["answer"]
    total = ValueState("int64", default=0)
    """All tolls that the vehicle heard of, but those of segments by whose exit it has left."""
    announced = ValueState("int64", default=0)
    """The last one of them, which it does not owe yet."""

    def process(self, tup):
        if tup.component == "tolls":
            _, move, toll = tup.values
            self.total.add(toll - self.announced.value if move == rules.LEAVES else toll)
            self.announced.value = toll
        else:
            _, time, qid = tup.values
            self.emit([rules.balance_answer(time, qid, self.total.value - self.announced.value)])


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
            self.emit([rules.expenditure_answer(time, qid, toll)])

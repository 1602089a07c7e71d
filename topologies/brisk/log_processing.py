"""Log processing: the requests of a web server by minute, by status and by place, counted as they come.

Lines are in the Common Log Format, and may have something after it. Other lines are left out.

Counts are kept for sixty minutes. Here these are a ring by the minute's number, of which each place has one
minute: one that comes sixty minutes later takes its place. In the published code each task keeps the last
sixty minutes that have come to it, so which minutes are forgotten depends on how many tasks there are.
"""

import re
from datetime import datetime
from functools import lru_cache

from brisk import networks
from viperstorm import Bolt, MapState, TableState, ValueState

MINUTES = 60
"""That are counted at a time."""
PATTERN = (
    r"(?P<address>\S+) \S+ \S+ \[(?P<time>[\w:/]+\s[+-]\d{4})\] "
    r'"(?P<request>.+?)" (?P<response>\d{3}) (?P<bytes>\d{1,18}|-)(?:\s.*)?'
)
"""The pattern that all of a line has to match, by ASCII."""
LINE = re.compile(PATTERN, re.ASCII)
TIME = "%d/%b/%Y:%H:%M:%S %z"


# Many lines have the same time, and it takes longer to read than all others of a line together.
@lru_cache(1 << 12)
def seconds_of(text):
    """A time as seconds since 1970; None for what is none.

    Args:
        text: such as ``17/May/2015:10:05:03 +0000``.
    """
    try:
        return int(datetime.strptime(text, TIME).timestamp())
    except ValueError:
        return None


REQUEST = ("address", "time", "minute", "slot", "request", "response", "bytes")
"""The fields of a request; the slot is the minute's place in the ring."""


class Parser(Bolt):
    """Takes requests from lines."""

    outputs = list(REQUEST)
    config = {"viper.stateless": True}

    def process(self, tup):
        found = LINE.fullmatch(tup.values[0])
        if found is None:
            return
        address, text, request, response, count = found.groups()
        time = seconds_of(text)
        if time is None:
            return
        minute = time // 60
        size = 0 if count == "-" else int(count)
        self.emit([address, time, minute, minute % MINUTES, request, int(response), size])


class VolumeCounter(Bolt):
    """Emits each minute with how many requests it has had so far."""

    outputs = ["minute", "count"]
    counted = TableState({"minute": "int64", "count": "int64"}, defaults={"minute": -1, "count": 0})
    """The minute that has this place of the ring."""

    def process(self, tup):
        counted, minute = self.counted, tup.values.minute
        if counted.minute == minute:
            count = counted.count + 1
        else:
            counted.minute, count = minute, 1
        counted.count = count
        self.emit([minute, count])


class StatusCounter(Bolt):
    """Emits each status with how often it has come so far."""

    outputs = ["response", "count"]
    seen = ValueState("int64", default=0)

    def process(self, tup):
        self.emit([tup.values.response, self.seen.add(1)])


class Geography(Bolt):
    """Finds where requests come from; those from nowhere end here.

    Args:
        seed: of the table, see `networks.drawn`.
    """

    outputs = ["country", "city"]
    config = {"viper.stateless": True}

    def __init__(self, seed=1):
        super().__init__()
        self._seed = seed

    def initialize(self, conf, context):
        self._places = networks.Places(networks.drawn(self._seed))

    def process(self, tup):
        address = networks.number_of(tup.values.address)
        place = None if address is None else self._places.find(address)
        if place is not None:
            self.emit(place)


class GeoStats(Bolt):
    """Emits each country and city with how many requests have come from both so far."""

    outputs = ["country", "country_total", "city", "city_total"]
    total = ValueState("int64", default=0)
    cities = MapState("string", "int64")

    def process(self, tup):
        country, city = tup.values
        count = self.cities.get(city, 0) + 1
        self.cities.put(city, count)
        self.emit([country, self.total.add(1), city, count])

"""Toll Processing: tolls by the average speed on a segment and the vehicles that were seen there.

Three bolts get each report, and share two tables. For each report the first one brings the average speed of
its segment up to date, and the second one adds the vehicle to those of the segment. Then the third one reads
both: of transactions for one tuple, those of the component that is defined first come first.

Segments are 100. The average is that of the average so far and the new speed, as in the published code, which
carries all three out as one transaction. The algorithms of the paper add the two up. The toll is Linear
Road's, without its minutes and its accidents.
"""

from viperstorm import Bolt, SharedTable

SEGMENTS = 100
"""The most there are."""
FIRST_SPEED = 60.0
"""The speed that the first report of a segment is averaged with."""
CROWD, SLOW, FACTOR = 50, 40.0, 2
"""Vehicles beyond which a toll is asked for, miles per hour below which it is, and what it grows by."""

speeds = SharedTable(
    "speeds", key="int64", columns={"speed": "float64"}, rows=SEGMENTS, default={"speed": FIRST_SPEED}
)
vehicles = SharedTable(
    "vehicles", key="int64", columns={"seen": "set"}, rows=SEGMENTS, elements=1_000_000, default={}
)


def toll_of(speed, count):
    """The toll on a segment."""
    return FACTOR * (count - CROWD) ** 2 if count > CROWD and speed < SLOW else 0


class RoadSpeed(Bolt):
    """Brings the average speed of a segment up to date."""

    tables = [speeds]
    outputs = []

    def process(self, tup):
        _, _, segment, speed = tup.values
        with self.transaction(tup) as t:
            t.set(speeds.speed, segment, (t.read(speeds.speed, segment) + float(speed)) / 2.0)

    def process_result(self, tup, result):
        """There is nothing to say."""


class VehicleCount(Bolt):
    """Counts the vehicles of a segment, each once."""

    tables = [vehicles]
    outputs = []

    def process(self, tup):
        _, vehicle, segment, _ = tup.values
        with self.transaction(tup) as t:
            t.insert(vehicles.seen, segment, vehicle)

    def process_result(self, tup, result):
        """There is nothing to say."""


class TollNotification(Bolt):
    """Tells the toll that is asked of a vehicle, and what it goes by."""

    tables = [speeds, vehicles]
    outputs = ["event", "vehicle", "speed", "count", "toll"]

    def process(self, tup):
        _, _, segment, _ = tup.values
        with self.transaction(tup) as t:
            t.read(speeds.speed, segment)
            t.read(vehicles.seen, segment)

    def process_result(self, tup, result):
        event, vehicle, _, _ = tup.values
        speed, count = result.values
        self.emit([event, vehicle, speed, count, toll_of(speed, count)])

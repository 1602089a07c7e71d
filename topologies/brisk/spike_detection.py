"""Spike detection: readings of sensors that are far from the average of the last ones.

The average is that of a sensor's last thousand readings with the new one. It is computed from a sum that each
reading is added to and taken from again. So it is not quite that of the numbers, but the same in every run.
"""

from datetime import datetime, timedelta

from viperstorm import Bolt, MapState, TableState

WINDOW, THRESHOLD = 1000, 0.03
MESSAGE = "spike detected"
FIELDS = 8
"""Of a line of the laboratory, separated by blanks: date, time, epoch, device, temperature, humidity, light
and voltage."""
FORMS = ("laboratory", "smart_grid")
"""The forms of lines. Lines of a smart grid have six fields: time, value, property, plug, household and
house; a device is a property of a plug."""
GRID_FIELDS = 6
MICROSECONDS = 1_000_000
EPOCH, MICROSECOND = datetime(1970, 1, 1), timedelta(microseconds=1)


def laboratory(line):
    """Device, time in microseconds and value of such a line, or None.

    Args:
        line: of the laboratory.
    """
    fields = line.split()
    if len(fields) != FIELDS:
        return None
    try:
        time = datetime.fromisoformat(f"{fields[0]} {fields[1]}")
        return fields[3], (time - EPOCH) // MICROSECOND, float(fields[4])
    except (TypeError, ValueError):  # of the former kind if the time has a zone
        return None


def smart_grid(line):
    """Likewise of a smart grid.

    Args:
        line: of it.
    """
    fields = line.split()
    if len(fields) != GRID_FIELDS:
        return None
    time, value, property, plug, household, house = fields
    try:
        return f"{house}-{household}-{plug}-{property}", int(time) * MICROSECONDS, float(value)
    except ValueError:
        return None


def parser_of(form):
    """The function that takes lines of a form apart.

    Args:
        form: one of `FORMS`.

    Raises:
        ValueError: it is none.
    """
    if form not in FORMS:
        raise ValueError(f"form {form!r}: expected {' or '.join(FORMS)}")
    return smart_grid if form == "smart_grid" else laboratory


class Parser(Bolt):
    """Takes readings from lines; those that are too short or no numbers are left out.

    Args:
        form: what lines are like, one of `FORMS`.

    Raises:
        ValueError: it is none of them.
    """

    outputs = ["device", "time", "value"]
    config = {"viper.stateless": True}

    def __init__(self, form="laboratory"):
        super().__init__()
        self._parsed = parser_of(form)

    def process(self, tup):
        reading = self._parsed(tup.values[0])
        if reading is not None:
            self.emit(reading)


class MovingAverage(Bolt):
    """Emits each reading with the average of its sensor's last ones.

    Args:
        window: how many they are.
    """

    outputs = ["device", "average", "value"]
    so_far = TableState({"readings": "int64", "total": "float64"}, defaults={"readings": 0, "total": 0.0})
    """The number of readings so far, and the sum of the last ones."""
    last = MapState("int64", "float64")
    """The last ones, by their number modulo the window."""

    def __init__(self, window=WINDOW):
        super().__init__()
        self._window = window

    def process(self, tup):
        device, _, value = tup.values
        so_far, last = self.so_far, self.last
        number, total = so_far.readings, so_far.total
        place = number % self._window
        if number >= self._window:
            total -= last.get(place)
        total += value
        last.put(place, value)
        so_far.readings = number + 1
        so_far.total = total
        self.emit([device, total / min(number + 1, self._window), value])


class Detector(Bolt):
    """Tells readings that are far from the average.

    Args:
        threshold: how far, as a share of the average.
    """

    outputs = ["device", "average", "value", "message"]
    config = {"viper.stateless": True}

    def __init__(self, threshold=THRESHOLD):
        super().__init__()
        self._threshold = threshold

    def process(self, tup):
        device, average, value = tup.values
        if abs(value - average) > self._threshold * average:
            self.emit([device, average, value, MESSAGE])

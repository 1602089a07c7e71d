"""The lines of the input: fifteen whole numbers each, sorted by seconds.

    type,time,vid,speed,xway,lane,dir,seg,pos,qid,sinit,send,dow,tod,day

Every line has a time of its own, so that nothing depends on who brings it: the reports of a second in the
order of their lines, and half a second later its queries, which know of all reports of that second.
"""

from typing import NamedTuple

SECOND_US = 1_000_000
MINUTE_S = 60
QUERIES_US = SECOND_US // 2
"""How long behind the beginning of its second a query stands."""

REPORT, BALANCE, EXPENDITURE = 0, 2, 3
"""The types of lines that are answered."""
ENTRY, EXIT = 0, 4
"""The lanes by which vehicles come and go; between them are three to travel in."""
SEGMENTS = 100
SEGMENT_FEET = 5280
"""The length of a segment: a mile."""
EVERY_S = 30
"""Seconds between two reports of a vehicle."""


class Record(NamedTuple):
    """What is used of a line."""

    type: int
    time: int
    vid: int
    speed: int
    xway: int
    lane: int
    dir: int
    seg: int
    pos: int
    qid: int
    day: int


def parsed(line):
    """The record of a line.

    Raises:
        ValueError: it has not fifteen whole numbers.
    """
    values = list(map(int, line.split(",")))
    if len(values) != 15:
        raise ValueError(f"found {len(values)} numbers: expected 15: {line!r:.100}")
    return record_of(values)


def record_of(values):
    """The record of a line's fifteen numbers."""
    return Record(*values[:10], values[14])


class Times:
    """Tells when each line stands, line by line in their order."""

    def __init__(self):
        self._second = -1
        self._reports = self._queries = 0

    def next(self, record):
        """The event time of the next line, in microseconds."""
        if record.time != self._second:
            self._second = record.time
            self._reports = self._queries = 0
        if record.type == REPORT:
            self._reports += 1
            return record.time * SECOND_US + self._reports - 1
        self._queries += 1
        return record.time * SECOND_US + QUERIES_US + self._queries - 1


def minute_of(second):
    """The minute of a second; the first one is 1."""
    return second // MINUTE_S + 1

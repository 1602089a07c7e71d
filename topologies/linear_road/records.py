"""The lines of the input: fifteen whole numbers each, sorted by seconds.

    type,time,vid,speed,xway,lane,dir,seg,pos,qid,sinit,send,dow,tod,day

Every line has a time of its own, so that nothing depends on who brings it. The reports of a second come in
the order of their lines, and half a second later its queries, which know of all reports of that second.
"""

import numpy as np

SECOND_US = 1_000_000
MINUTE_S = 60
QUERIES_US = SECOND_US // 2
"""The time of queries after the beginning of their second."""

REPORT, BALANCE, EXPENDITURE = 0, 2, 3
"""The types of lines that are answered."""
ENTRY, EXIT = 0, 4
"""The lanes by which vehicles come and go; between them are three to travel in."""
SEGMENTS = 100
SEGMENT_FEET = 5280
"""The length of a segment: a mile."""
EVERY_S = 30
"""Seconds between two reports of a vehicle."""

COLUMNS = 15
FIELDS = ("type", "time", "vid", "speed", "xway", "lane", "dir", "seg", "pos", "qid", "day")
"""The fields of a line that are used."""
USED = [*range(10), 14]
"""Their indexes in a line."""
TYPE, TIME = 0, 1


def parsed(line):
    """The numbers of a line.

    Raises:
        ValueError: it has not fifteen whole numbers.
    """
    values = list(map(int, line.split(",")))
    if len(values) != COLUMNS:
        raise ValueError(f"found {len(values)} numbers: expected {COLUMNS}: {line!r:.100}")
    return values


def whole_seconds(lines):
    """The lines of arrays, divided again: none of the seconds is divided."""
    rest = np.empty((0, COLUMNS), np.int64)
    for array in lines:
        found = np.concatenate((rest, array)) if len(rest) else array
        begins = np.flatnonzero(np.diff(found[:, TIME])) + 1
        last = begins[-1] if len(begins) else 0
        if last:
            yield found[:last]
        rest = found[last:]
    if len(rest):
        yield rest


def in_order(lines):
    """Put the lines of whole seconds in the order of time: their indexes in that order, and their times.

    Args:
        lines: an array of them.

    Returns:
        Two arrays; times are in microseconds.
    """
    seconds, asks = lines[:, TIME], lines[:, TYPE] != REPORT
    # By changes, as a second that comes back must not be put in order unseen.
    number = np.cumsum(np.diff(seconds, prepend=seconds[:1]) != 0) * 2 + asks
    order = np.argsort(number, kind="stable")
    number = number[order]
    places = np.arange(len(order))
    begins = np.diff(number, prepend=-1) != 0
    nth = places - np.maximum.accumulate(np.where(begins, places, 0))
    return order, seconds[order] * SECOND_US + asks[order] * QUERIES_US + nth


def minute_of(second):
    """The minute of a second; the first one is 1."""
    return second // MINUTE_S + 1

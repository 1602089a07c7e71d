"""The rules, each in one place: for a number, or for an array of them where nothing else is said."""

import struct
from array import array

import numpy as np

from linear_road.records import EXIT, SEGMENTS

STOPPED_AFTER = 4
"""Reports from one place after which a vehicle has stopped."""
REACH = 4
"""Segments before that of an accident in which vehicles hear of it."""
CROWD, SLOW, FACTOR = 50, 40, 2
"""Vehicles beyond which a toll is asked for, miles per hour below which it is, and what it grows by."""
MINUTES = 5
"""Minutes that speeds are the average of."""

LANES, FEET = 8, 1_000_000
"""More than there are of lanes, and of feet of an expressway."""
_COUNTS = STOPPED_AFTER + 1
_ACCIDENT = struct.Struct("=qqqq")
_FOR_EVER = 2**62
"""The last minute of an accident that has not been cleared."""

# -- places


def segment_of(xway, dir, seg):
    """The number of a segment among those of all expressways."""
    return (xway * 2 + dir) * SEGMENTS + seg


def named(segment):
    """Expressway, direction and number of a segment."""
    road, seg = divmod(segment, SEGMENTS)
    return road // 2, road % 2, seg


def place_of(segment, lane, pos):
    """The number of a place to stand in."""
    return (segment * LANES + lane) * FEET + pos


def segment_of_place(place):
    """The segment in which a place is."""
    return place // (LANES * FEET)


def standing(place, reports):
    """Encode where a vehicle stands and for how long; more reports than make it stop make no difference."""
    return place * _COUNTS + reports


def stood(number):
    """Place and reports of a `standing` vehicle."""
    return divmod(number, _COUNTS)


def told_of(segment):
    """List the segments in which vehicles hear of an accident in one, as Python's numbers."""
    _, dir, seg = named(segment)
    reached = range(seg, seg - REACH - 1, -1) if dir == 0 else range(seg, seg + REACH + 1)
    return [segment - seg + each for each in reached if 0 <= each < SEGMENTS]


def seen_between(known, minute, before, segment):
    """Note a segment between the first and the last one that a vehicle has reported from in a minute.

    A vehicle that reports every thirty seconds has none.

    Args:
        known: what was noted before, as bytes.
        minute: the minute.
        before: the segment that was the last one until now; None if it is the first one as well.
        segment: the one that is now.

    Returns:
        The bytes to be noted, and true if the vehicle was in the segment, between first and last.
    """
    numbers = array("q", known)
    if numbers[:1] != array("q", [minute]):
        numbers = array("q", [minute])
    if before is None:
        return known, segment in numbers[1:]
    numbers.append(before)
    return numbers.tobytes(), segment in numbers[1:]


# -- how a report changes the trip of its vehicle

STAYS, ENTERS, LEAVES, PASSES = range(4)
"""The vehicle is in the segment of its report before; it comes into another one; it leaves the segment by its
exit, so that the toll is not charged. Or it comes into another segment in the exit lane, so that it is
charged for the segment before, and gets no toll."""


def move_of(has_moved, lane):
    """The move of a vehicle, for a report or for an array of them.

    Args:
        has_moved: True if the report before was from another segment, or if there was none.
        lane: the lane of the report.
    """
    return has_moved + 2 * (lane == EXIT)


# -- accidents that vehicles of a segment are told of, as bytes, of one segment at a time


def with_accident(known, place, minute):
    """The known accidents, and one that has happened in a minute; vehicles hear of it from the next on."""
    return _until(known, minute) + _ACCIDENT.pack(place, segment_of_place(place), minute + 1, _FOR_EVER)


def cleared(known, place, minute):
    """The known accidents, of which the one in a place is cleared in a minute; vehicles hear of it until that
    minute is over."""
    return _until(known, minute, place)


def _until(known, minute, place=None):
    """The accidents of which vehicles hear in a minute or later, when the one in a place is cleared."""
    kept = []
    for at, where, since, until in _ACCIDENT.iter_unpack(known):
        last = minute if at == place and until == _FOR_EVER else until
        if last >= max(since, minute):
            kept.append(_ACCIDENT.pack(at, where, since, last))
    return b"".join(kept)


def ahead(known, minute):
    """The segment of the first accident that vehicles hear of in a minute; None if there is none."""
    told = (where for _, where, since, until in _ACCIDENT.iter_unpack(known) if since <= minute <= until)
    return next(told, None)


# -- speeds and tolls

NO_SPEEDS = bytes(16 * MINUTES)
"""Of the last minutes, from the earliest on: the speeds of each added up, and then the reports of each."""


def speeds_later(last, totals, reports, later):
    """The speeds of the last minutes, some minutes later; all arguments are arrays, with a row for a segment.

    Args:
        last: those of the minutes before, as an array with rows of what `NO_SPEEDS` shows.
        totals: the speeds of the minute itself, added up.
        reports: how many they are.
        later: by how many minutes, one at least.
    """
    count = len(last)
    known = np.zeros((count, 2, 2 * MINUTES + 1), np.int64)
    known[:, :, :MINUTES] = last.reshape(count, 2, MINUTES)
    known[:, 0, MINUTES], known[:, 1, MINUTES] = totals, reports
    kept = np.minimum(later, MINUTES + 1)[:, None, None] + np.arange(MINUTES)
    return np.take_along_axis(known, kept, axis=2).reshape(count, 2 * MINUTES)


def speeds(last):
    """The average of the last minutes for each row, rounded half up; 0 where nobody was."""
    totals, reports = last[:, :MINUTES].sum(axis=1), last[:, MINUTES:].sum(axis=1)
    return (2 * totals + reports) // np.maximum(2 * reports, 1)


def toll_of(vehicles, speed):
    """The toll where there is no accident."""
    return FACTOR * (vehicles - CROWD) ** 2 * ((vehicles > CROWD) & (speed < SLOW))


# -- answers, of Python's numbers


def accident_answer(time, where, vid):
    """Of an accident ahead, to a vehicle."""
    xway, dir, seg = named(where)
    return f"1,{time},{xway},{seg},{dir},{vid}"


def toll_answer(vid, time, speed, toll):
    """Of the toll for a segment, to the vehicle that comes into it."""
    return f"0,{vid},{time},{speed},{toll}"


def balance_answer(time, qid, balance):
    """Of what a vehicle owes."""
    return f"2,{time},{qid},{balance}"


def expenditure_answer(time, qid, toll):
    """Of what a vehicle has paid on a day."""
    return f"3,{time},{qid},{toll}"

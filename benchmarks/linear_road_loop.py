"""Linear Road as one loop that is written for speed, beside which the application's forms are measured.

It answers what the application does. Its figures of a segment are computed once a minute, and it forgets what
no answer needs any more. Queries for expenditures are answered without a history, which is not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

Line = tuple[int, ...]
SEGMENTS = 100
FOR_EVER = 2**62


class Segment:
    """The figures of one segment."""

    __slots__ = ("ahead", "count", "minute", "past", "reports", "seen", "speed", "total")

    def __init__(self, minute: int) -> None:
        self.minute = minute
        """The minute that is gathered; the counts below belong to it."""
        self.seen: set[int] = set()
        self.total = self.reports = 0
        self.past: list[tuple[int, int, int]] = []
        """Of minutes before: which, speeds added up, reports."""
        self.count = self.speed = 0
        """Vehicles of the minute before, and the average speed of the last five."""
        self.ahead: list[list[Any]] = []
        """The accidents ahead: the first and the last minute of telling of it, the segment, and the place."""

    def turn(self, minute: int) -> None:
        """Another minute has begun."""
        self.count = len(self.seen) if self.minute == minute - 1 else 0
        self.past.append((self.minute, self.total, self.reports))
        self.past = [each for each in self.past if each[0] >= minute - 5]
        reports = sum(each[2] for each in self.past)
        self.speed = int(sum(each[1] for each in self.past) / reports + 0.5) if reports else 0
        self.ahead = [each for each in self.ahead if each[1] >= minute]
        self.minute, self.total, self.reports = minute, 0, 0
        self.seen = set()


def answers(lines: Iterable[Line]) -> list[str]:
    """All answers, in the order of the lines; those of a second's queries after its reports."""
    found: list[str] = []
    tell = found.append
    segments: dict[int, Segment] = {}
    vehicles: dict[int, list[Any]] = {}  # segment, place, reports from there, toll told last, balance
    standing: dict[Any, set[int]] = {}
    queries: list[Line] = []
    second = -1
    for line in lines:
        if line[1] != second:
            second = line[1]
            minute = second // 60 + 1
            found += _balances(queries, vehicles)
            queries = []
        if line[0] == 2:
            queries.append(line)
        if line[0] != 0:
            continue
        _, _, vid, speed, xway, lane, dir, seg, pos = line[:9]
        number = (xway * 2 + dir) * SEGMENTS + seg
        segment = segments.get(number)
        if segment is None:
            segment = segments[number] = Segment(minute)
        elif segment.minute != minute:
            segment.turn(minute)
        segment.seen.add(vid)
        segment.total += speed
        segment.reports += 1
        vehicle = vehicles.get(vid)
        if vehicle is None:
            vehicle = vehicles[vid] = [-1, None, 0, 0, 0]
        if vehicle[0] != number:
            vehicle[0] = number
            toll = 0
            if lane != 4:
                where = next((at for since, until, at, _ in segment.ahead if since <= minute <= until), None)
                if where is not None:
                    tell(f"1,{second},{xway},{where},{dir},{vid}")
                elif segment.count > 50 and segment.speed < 40:
                    toll = 2 * (segment.count - 50) ** 2
                tell(f"0,{vid},{second},{segment.speed},{toll}")
            vehicle[4] += vehicle[3]
            vehicle[3] = toll
        elif lane == 4:
            vehicle[3] = 0
        place = (number, lane, pos)
        if vehicle[1] == place:
            vehicle[2] += 1
            if vehicle[2] == 4:
                there = standing.setdefault(place, set())
                there.add(vid)
                if len(there) == 2:
                    for near in _told_of(number):
                        ahead = segments.setdefault(near, Segment(minute)).ahead
                        ahead.append([minute + 1, FOR_EVER, seg, place])
        else:
            if vehicle[2] >= 4:
                there = standing[vehicle[1]]
                there.discard(vid)
                if len(there) == 1:
                    for near in _told_of(vehicle[1][0]):
                        for each in segments[near].ahead:
                            if each[3] == vehicle[1] and each[1] == FOR_EVER:
                                each[1] = minute
            vehicle[1], vehicle[2] = place, 1
    return found + _balances(queries, vehicles)


def _balances(queries: Iterable[Line], vehicles: Mapping[int, list[Any]]) -> list[str]:
    """The answers of queries for what vehicles owe."""
    return [f"2,{q[1]},{q[9]},{vehicles[q[2]][4] if q[2] in vehicles else 0}" for q in queries]


def _told_of(number: int) -> Iterable[int]:
    """List the segments in which vehicles hear of an accident in one."""
    road, seg = divmod(number, SEGMENTS)
    near = range(seg, seg - 5, -1) if road % 2 == 0 else range(seg, seg + 5)
    return [road * SEGMENTS + each for each in near if 0 <= each < SEGMENTS]

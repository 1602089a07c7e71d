"""Linear Road, answered line by line by one plain loop: the rules again, in another way.

Each rule is a value of `Rules`, so that a test can change it and see whether any answer changes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

Line = tuple[int, ...]
Segment = tuple[int, int, int]
"""Expressway, direction and number."""
Place = tuple[int, int, int, int, int]
"""Expressway, direction, lane, segment and position."""


@dataclass(frozen=True)
class Rules:
    """The rules that decide the answers."""

    crowd: int = 50
    counted_before: int = 1
    """Minutes before that of a vehicle from which those are counted that are a crowd."""
    counts_each_once: bool = True
    factor: int = 2
    slow: int = 40
    minutes: int = 5
    rounds_up: bool = True
    stopped_after: int = 4
    stopped_together: int = 2
    """Vehicles that are an accident."""
    clears: bool = True
    told_of_cleared: bool = True
    """True if vehicles are told of a cleared accident until the minute of clearing is over."""
    reach: int = 4
    tells_first: bool = True
    """True if of several accidents ahead vehicles are told of that which has happened first."""
    frees: bool = True
    """True if an accident ahead takes the place of a toll."""
    told_after: int = 1
    """Minutes after that of an accident from which on vehicles are told of it."""
    exit: int = 4
    charged_at_exit: bool = True
    """True if the toll of the segment before is charged by a report from the exit lane of the next one."""
    exit_is_free: bool = True
    """True if the toll of a segment is not charged when the vehicle leaves by the exit of that segment."""
    charged_at_once: bool = False
    queries_behind: bool = True
    """True if queries know of all reports of their second."""


@dataclass
class Accident:
    """One that vehicles are told of, or will be."""

    place: Place
    minute: int
    cleared: int | None = None
    """The minute of that, if it has been."""


@dataclass
class Vehicle:
    """The state of one vehicle."""

    segment: Segment | None = None
    place: Place | None = None
    reports: int = 0
    announced: int = 0
    balance: int = 0


@dataclass
class Reference:
    """Answers lines in their order.

    Args:
        history: what vehicles have paid, by vehicle, day and expressway.
        rules: what decides the answers.
    """

    history: Mapping[tuple[int, int, int], int] = field(default_factory=dict)
    rules: Rules = Rules()

    def __post_init__(self) -> None:
        self._vehicles: defaultdict[int, Vehicle] = defaultdict(Vehicle)
        self._seen: defaultdict[tuple[Segment, int], list[int]] = defaultdict(list)
        self._speeds: defaultdict[tuple[Segment, int], list[int]] = defaultdict(list)
        self._standing: defaultdict[Place, set[int]] = defaultdict(set)
        self._accidents: list[Accident] = []
        self.cleared: list[Segment] = []
        """The segments whose accidents have been cleared."""

    def answers(self, lines: Iterable[Line]) -> Iterator[str]:
        """All answers, in the order of the lines; those of a second's queries after its reports."""
        second, queries = -1, list[Line]()
        for line in lines:
            if line[1] != second:
                yield from self._answered(queries)
                second, queries = line[1], []
            if line[0] == 0:
                yield from self._report(*line[1:9])
            elif self.rules.queries_behind:
                queries.append(line)
            else:
                yield from self._answered([line])
        yield from self._answered(queries)

    def _answered(self, queries: Iterable[Line]) -> Iterator[str]:
        for line in queries:
            type, time, vid, xway, qid, day = (line[n] for n in (0, 1, 2, 4, 9, 14))
            if type == 2:
                yield f"2,{time},{qid},{self._vehicles[vid].balance}"
            elif type == 3 and (vid, day, xway) in self.history:
                yield f"3,{time},{qid},{self.history[vid, day, xway]}"

    def _report(
        self, time: int, vid: int, speed: int, xway: int, lane: int, dir: int, seg: int, pos: int
    ) -> Iterator[str]:
        segment, minute, vehicle = (xway, dir, seg), time // 60 + 1, self._vehicles[vid]
        self._seen[segment, minute].append(vid)
        self._speeds[segment, minute].append(speed)
        if vehicle.segment != segment:
            if lane != self.rules.exit or self.rules.charged_at_exit:
                self._charge(vehicle)
            if lane != self.rules.exit:
                yield from self._notified(time, vid, segment, minute)
        elif lane == self.rules.exit and self.rules.exit_is_free:
            vehicle.announced = 0
        vehicle.segment = segment
        self._stand(vid, (xway, dir, lane, seg, pos), minute)

    def _charge(self, vehicle: Vehicle) -> None:
        vehicle.balance += vehicle.announced
        vehicle.announced = 0

    def _notified(self, time: int, vid: int, segment: Segment, minute: int) -> Iterator[str]:
        rules, vehicle = self.rules, self._vehicles[vid]
        seen = self._seen.get((segment, minute - rules.counted_before), ())
        count = len(set(seen) if rules.counts_each_once else seen)
        speed, accident = self._speed(segment, minute), self._ahead(segment, minute)
        toll = 0
        if accident is not None:
            xway, dir, _, where, _ = accident.place
            yield f"1,{time},{xway},{where},{dir},{vid}"
        is_free = accident is not None and rules.frees
        if not is_free and count > rules.crowd and speed < rules.slow:
            toll = rules.factor * (count - rules.crowd) ** 2
        yield f"0,{vid},{time},{speed},{toll}"
        vehicle.announced = toll
        if rules.charged_at_once:
            self._charge(vehicle)

    def _speed(self, segment: Segment, minute: int) -> int:
        last = range(minute - self.rules.minutes, minute)
        speeds = [speed for each in last for speed in self._speeds.get((segment, each), ())]
        if not speeds:
            return 0
        return int(sum(speeds) / len(speeds) + 0.5) if self.rules.rounds_up else sum(speeds) // len(speeds)

    def _ahead(self, segment: Segment, minute: int) -> Accident | None:
        xway, dir, seg = segment
        accidents = [each for each in self._accidents if self._is_told(each, minute)]
        for accident in accidents if self.rules.tells_first else reversed(accidents):
            there_xway, there_dir, _, there, _ = accident.place
            ahead = there - seg if dir == 0 else seg - there
            if (there_xway, there_dir) == (xway, dir) and 0 <= ahead <= self.rules.reach:
                return accident
        return None

    def _is_told(self, accident: Accident, minute: int) -> bool:
        if accident.cleared is not None and not (self.rules.told_of_cleared and minute <= accident.cleared):
            return False
        return minute >= accident.minute + self.rules.told_after

    def _stand(self, vid: int, place: Place, minute: int) -> None:
        vehicle = self._vehicles[vid]
        if place == vehicle.place:
            vehicle.reports += 1
            if vehicle.reports == self.rules.stopped_after:
                self._standing[place].add(vid)
                if len(self._standing[place]) == self.rules.stopped_together:
                    self._accidents.append(Accident(place, minute))
            return
        if vehicle.place is not None and vid in self._standing[vehicle.place]:
            self._standing[vehicle.place].discard(vid)
            is_over = len(self._standing[vehicle.place]) == self.rules.stopped_together - 1
            if is_over and self.rules.clears:
                there = vehicle.place
                self.cleared.append((there[0], there[1], there[3]))
                for accident in self._accidents:
                    if accident.place == there and accident.cleared is None:
                        accident.cleared = minute
        vehicle.place, vehicle.reports = place, 1

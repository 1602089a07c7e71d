"""Input drawn from a seed: vehicles that come, crowd, slow down, stop, and leave again.

It has what the benchmark's own generator has, though not its numbers. There are more and more vehicles,
segments that many of them come by, speeds that fall with the crowd, and accidents, some at the ends of
expressways. It goes second by second and holds the vehicles that are on the way only, so that it may run for
ever.
"""

from dataclasses import dataclass

import numpy as np

from linear_road.records import (
    BALANCE,
    COLUMNS,
    ENTRY,
    EVERY_S,
    EXIT,
    EXPENDITURE,
    REPORT,
    SEGMENT_FEET,
    SEGMENTS,
)

DAYS = 69
"""Days that the history knows."""
TRAVEL_TIME = 4
"""The type of queries that nobody answers."""
FEET = SEGMENTS * SEGMENT_FEET
FEET_A_MILE_AN_HOUR = SEGMENT_FEET / 3600 * EVERY_S
"""The feet that a mile an hour takes a vehicle between two reports."""


@dataclass(frozen=True)
class Traffic:
    """The amount of everything on each expressway; see `rates` for how many lines that makes."""

    vehicles: float = 12.0
    """That come in a second, at the peak; in each direction half of them."""
    peak_s: float = 1200.0
    """The second at which the peak is reached."""
    trip: float = 12.0
    """Segments that a vehicle travels, on the average."""
    crowd: float = 90.0
    """Vehicles in a segment at which speeds are half of what they are on a free road."""
    accidents: float = 1 / 40
    """That happen in a second."""
    balances: float = 0.01
    """Queries by reports; likewise the two following."""
    expenditures: float = 0.004
    travel_times: float = 0.004


ORIGINAL = Traffic(vehicles=60.0, peak_s=1500.0, trip=16.0, crowd=400.0)
"""As much as the original benchmark has at its end, within half an hour instead of three. That is about 1,700
rows a second from each expressway in the 31st minute; `rates` returns the number for each minute."""


class Vehicles:
    """The vehicles that report in one of the thirty seconds, as columns."""

    NAMES = ("vid", "xway", "dir", "lane", "pos", "speed", "free", "exit", "until")

    def __init__(self):
        self.columns = {name: np.empty(0, dtype=np.int64) for name in self.NAMES}

    def __len__(self):
        return len(self.columns["vid"])

    def __getattr__(self, name):
        try:
            return self.columns[name]
        except KeyError:
            raise AttributeError(name) from None

    def add(self, **values):
        """Vehicles that come."""
        self.columns = {name: np.concatenate((column, values[name])) for name, column in self.columns.items()}

    def keep(self, stay):
        """Forget those that leave."""
        self.columns = {name: column[stay] for name, column in self.columns.items()}


class Generator:
    """Draws the lines of second after second.

    Args:
        xways: how many expressways there are.
        seed: what all is drawn from.
        traffic: how much of it.
    """

    def __init__(self, xways=1, seed=1, traffic=None):
        self._xways = xways
        self._chance = np.random.default_rng(seed)
        self._traffic = Traffic() if traffic is None else traffic
        self._groups = [Vehicles() for _ in range(EVERY_S)]
        self._present = np.zeros(xways * 2 * SEGMENTS, dtype=np.int64)
        """Vehicles in each segment."""
        self._sums = self._drawn_sums()
        self._second = self._vehicles = self._queries = 0

    def second(self):
        """The lines of the next second, as an array with a row of fifteen whole numbers for each."""
        group = self._groups[self._second % EVERY_S]
        self._present -= self._counted(group)
        self._move(group)
        self._arrive(group)
        self._stop(group)
        self._present += self._counted(group)
        lines = self._with_queries(self._reports(group))
        gone = group.lane == EXIT
        self._present -= self._counted(group, gone)
        group.keep(~gone)
        self._second += 1
        return lines

    # -- vehicles

    def _drawn_sums(self):
        """The shares of those who come by each segment, added up, road after road; a few have most."""
        weights = self._chance.pareto(1.2, (self._xways * 2, SEGMENTS)) + 0.3
        sums = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
        return (sums + np.arange(self._xways * 2)[:, None]).ravel()

    def _place(self, group):
        segment = group.pos // SEGMENT_FEET
        return (group.xway * 2 + group.dir) * SEGMENTS + segment

    def _counted(self, group, chosen=slice(None)):
        return np.bincount(self._place(group)[chosen], minlength=len(self._present))

    def _move(self, group):
        moves = group.until <= self._second
        crowd = self._present[self._place(group)]
        speed = group.free / (1.0 + crowd / self._traffic.crowd) + self._chance.integers(-3, 4, len(group))
        speed = np.where(moves, np.clip(speed, 5, 100), 0).astype(np.int64)
        way = np.where(group.dir == 0, 1, -1)
        pos = np.clip(group.pos + way * (speed * FEET_A_MILE_AN_HOUR).astype(np.int64), 0, FEET - 1)
        done = moves & ((pos // SEGMENT_FEET - group.exit) * way >= 0)
        lane = np.where(group.lane == ENTRY, self._chance.integers(1, 4, len(group)), group.lane)
        lane = np.where(done, EXIT, np.where(moves, lane, group.lane))
        group.columns.update(pos=pos, speed=speed, lane=lane)

    def _arrive(self, group):
        traffic = self._traffic
        rise = min(1.0, 0.1 + 0.9 * self._second / traffic.peak_s)
        come = self._chance.poisson(traffic.vehicles * rise / 2, self._xways * 2)
        count = int(come.sum())
        road = np.repeat(np.arange(self._xways * 2), come)
        # The sums of road n lie between n and n + 1, so that one search is for all of them.
        begin = np.searchsorted(self._sums, road + self._chance.random(count)) - road * SEGMENTS
        begin = np.minimum(begin, SEGMENTS - 1)
        length = 1 + self._chance.geometric(1.0 / traffic.trip, count)
        dirs = road % 2
        end = np.clip(np.where(dirs == 0, begin + length, begin - length), 0, SEGMENTS - 1)
        inside = self._chance.integers(0, SEGMENT_FEET // 4, count)
        group.add(
            vid=np.arange(self._vehicles, self._vehicles + count),
            xway=road // 2,
            dir=dirs,
            lane=np.full(count, ENTRY),
            pos=begin * SEGMENT_FEET + np.where(dirs == 0, inside, SEGMENT_FEET - 1 - inside),
            speed=self._chance.integers(10, 40, count),
            free=self._chance.integers(50, 80, count),
            exit=end,
            until=np.zeros(count, dtype=np.int64),
        )
        self._vehicles += count

    def _stop(self, group):
        """Accidents: two vehicles stand in one place for two to ten minutes, every third one near an end."""
        for _ in range(self._chance.poisson(self._traffic.accidents * self._xways)):
            segment = group.pos // SEGMENT_FEET
            fit = (group.lane >= 1) & (group.lane <= 3) & (group.until <= self._second)
            edge = fit & ((segment < 5) | (segment >= SEGMENTS - 5))
            first = np.flatnonzero(edge if self._chance.random() < 0.33 and edge.any() else fit)
            if not len(first):
                continue
            one = int(self._chance.choice(first))
            near = np.abs(segment - segment[one]) <= 2
            same = fit & near & (group.xway == group.xway[one]) & (group.dir == group.dir[one])
            same[one] = False
            if not same.any():
                continue
            other = int(self._chance.choice(np.flatnonzero(same)))
            until = self._second + int(self._chance.integers(4, 20)) * EVERY_S
            for each, moves_at in ((one, until), (other, until + EVERY_S * int(self._chance.integers(0, 4)))):
                group.pos[each], group.lane[each] = group.pos[one], group.lane[one]
                group.speed[each], group.until[each] = 0, moves_at

    # -- lines

    def _reports(self, group):
        lines = np.full((len(group), COLUMNS), -1, dtype=np.int64)
        lines[:, 0], lines[:, 1] = REPORT, self._second
        segment = group.pos // SEGMENT_FEET
        named = (group.vid, group.speed, group.xway, group.lane, group.dir, segment, group.pos)
        for column, values in enumerate(named, start=2):
            lines[:, column] = values
        return lines

    def _with_queries(self, reports):
        """Each query comes after a report of its vehicle."""
        traffic, chance = self._traffic, self._chance
        drawn = chance.random(len(reports))
        bounds = np.cumsum((traffic.balances, traffic.expenditures, traffic.travel_times))
        kind = np.searchsorted(bounds, drawn, side="right")
        asking = np.flatnonzero(kind < 3)
        queries = np.full((len(asking), COLUMNS), -1, dtype=np.int64)
        queries[:, 0] = np.array((BALANCE, EXPENDITURE, TRAVEL_TIME))[kind[asking]]
        queries[:, 1:3] = reports[asking, 1:3]
        queries[:, 9] = np.arange(self._queries, self._queries + len(asking))
        days = chance.integers(1, DAYS + 1, len(asking))
        spent = queries[:, 0] == EXPENDITURE
        queries[spent, 4] = xway_of(queries[spent, 2], days[spent], self._xways)
        queries[spent, 14] = days[spent]
        self._queries += len(asking)
        return np.insert(reports, asking + 1, queries, axis=0)


def rates(minutes, xways=1, seed=1, traffic=None):
    """Count the lines of each of the first minutes for an expressway, on the average of all of them."""
    generator = Generator(xways, seed, traffic)
    return [sum(len(generator.second()) for _ in range(60)) / xways for _ in range(minutes)]


def mixed(vids, days):
    """A number that only depends on vehicle and day, and looks as if it were drawn."""
    vids, days = np.asarray(vids, dtype=np.uint64), np.asarray(days, dtype=np.uint64)
    return (vids * np.uint64(DAYS + 1) + days) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(33)


def xway_of(vids, days, xways):
    """The expressway that a vehicle was on, on a day."""
    return (mixed(vids, days) % np.uint64(xways)).astype(np.int64)


def history(vehicles, xways, days=DAYS):
    """Yield the tolls that each vehicle has paid, day by day: lines ``vid,day,xway,toll``."""
    every = np.arange(1, days + 1)
    for vid in range(vehicles):
        numbers = mixed(vid, every)
        for day, number, xway in zip(every, numbers, xway_of(vid, every, xways), strict=True):
            yield f"{vid},{day},{xway},{int(number) // 7 % 100}"


def as_text(lines):
    """Lines of an array as text."""
    return [",".join(map(str, line)) for line in lines.tolist()]

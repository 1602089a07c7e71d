"""The application on columns: the bolts of `linear_road.bolts` that get many tuples, for many at once.

State is declared here, too, and lies in the same numbers. The numbers of a batch are read by adding nothing
to them, and written by adding the difference of each from the one before. So keys that come twice need no
care.
"""

from array import array

import numpy as np
import pyarrow as pa

from linear_road import rules, spouts
from linear_road.bolts import BALANCES, EXPENDITURES, REPORTS, SEEN, Accidents, Expenditures
from linear_road.bolts import Stops as StopsOfTuples
from linear_road.records import BALANCE, EXPENDITURE, FIELDS, REPORT, SEGMENTS, minute_of
from viperstorm import BatchBolt, Block, Stream, ValueState

__all__ = [
    "Accidents",
    "Accounts",
    "Balances",
    "Crossings",
    "Expenditures",
    "Expenses",
    "Generated",
    "Lines",
    "Reports",
    "Stops",
    "Told",
    "Tolls",
]

ROWS = 8192
"""In a block, about."""
ANSWERS = Stream(schema={"answer": "string not null"})


def whole_numbers(fields, name="default"):
    """A stream of them."""
    return Stream(name=name, schema=dict.fromkeys(fields, "int64 not null"))


# -- spouts


class Columns(spouts.Injector):
    """Divides lines among injectors as `Injector` does, and brings them as columns."""

    outputs = [whole_numbers(FIELDS)]

    def blocks(self, partition, start_us):
        waiting, count = [], 0
        for portion in self.portions(partition, start_us):
            waiting.append(portion)
            count += len(portion[0])
            if count >= ROWS:
                yield block_of(waiting)
                waiting, count = [], 0
        if waiting:
            yield block_of(waiting)


class Generated(Columns, spouts.Generated):
    """Brings lines that are drawn from a seed, see `linear_road.spouts`."""


class Lines(Columns, spouts.Lines):
    """Brings the lines of a file."""


def block_of(portions):
    """A block of what `Injector.portions` gives."""
    times = np.concatenate([times for times, _ in portions])
    columns = np.concatenate([rows for _, rows in portions]).T
    batch = pa.record_batch([pa.array(np.ascontiguousarray(column)) for column in columns], list(FIELDS))
    return Block(array("q", times.tobytes()), batch)


# -- helpers


def read(state, keys):
    """The numbers that keys have."""
    return np.asarray(state.add_all(keys, np.zeros(len(keys), np.int64)))


class Runs:
    """The rows of a batch by key, those of each in their order."""

    def __init__(self, keys):
        self.order = np.argsort(keys, kind="stable")
        """The indexes of the rows."""
        self.firsts = np.diff(keys[self.order], prepend=-1) != 0
        """True if a row is the first one of its key; keys are not negative."""
        self._places = np.arange(len(keys))

    def before(self, numbers, stored):
        """For each row the number of the row before of its key, of the first one that which is stored."""
        return np.where(self.firsts, stored, np.roll(numbers, 1))

    def begun(self, begins):
        """For each row where the last one is that begins something, or is the first one of its key."""
        return np.maximum.accumulate(np.where(begins | self.firsts, self._places, 0))

    def since(self, begun):
        """Count the rows between these and each row."""
        return self._places - begun

    def in_rows(self, values):
        """Values in the order of the rows."""
        found = np.empty_like(values)
        found[self.order] = values
        return found

    def write(self, state, keys, numbers, before):
        """Have keys keep the last number of each; keys are those of the rows."""
        changed = np.flatnonzero(numbers != before)
        if len(changed):
            state.add_all(pa.array(keys[self.order[changed]]), numbers[changed] - before[changed])


# -- bolts


class Chosen(BatchBolt):
    """Passes the lines of one type on. There is one such bolt for each type, as columns stay columns where a
    bolt emits to a single stream."""

    config = {"viper.stateless": True}
    kind = REPORT

    def process_rows(self, rows):
        at = np.flatnonzero(rows.numpy("type") == self.kind)
        if len(at):
            lines = {field: rows.numpy(field)[at] for field in FIELDS}
            self.emit_rows(self.columns(lines), at, gives_away=True)

    def columns(self, lines):
        """List the columns of lines that are passed on."""
        return {field: lines[field] for field in self.outputs[0].fields}


class Reports(Chosen):
    """Passes reports on, with the number of their segment."""

    outputs = [whole_numbers(REPORTS)]

    def columns(self, lines):
        segment = rules.segment_of(lines["xway"], lines["dir"], lines["seg"])
        return super().columns({**lines, "segment": segment})


class Balances(Chosen):
    """Passes queries for balances on."""

    outputs = [whole_numbers(BALANCES)]
    kind = BALANCE


class Expenses(Chosen):
    """Passes queries for expenditures on."""

    outputs = [whole_numbers(EXPENDITURES)]
    kind = EXPENDITURE


class Crossings(BatchBolt):
    """Finds for each report the move of its vehicle (`rules.move_of`), and whether it is the first one from
    that segment in its minute."""

    outputs = [Stream(schema={**dict.fromkeys(SEEN, "int64 not null"), "is_new": "bool"})]
    segment = ValueState("int64", default=-1)
    minute = ValueState("int64", default=-1)
    first = ValueState("int64", default=-1)
    between = ValueState("binary", default=b"")

    def process_rows(self, rows):
        vids, keys = rows.numpy("vid"), rows.array("vid")
        runs = Runs(vids)
        order = runs.order
        segment, minute = rows.numpy("segment")[order], minute_of(rows.numpy("time"))[order]
        known_first = read(self.first, keys)[order]
        before = runs.before(segment, read(self.segment, keys)[order])
        before_minute = runs.before(minute, read(self.minute, keys)[order])
        moved, begins = segment != before, minute != before_minute
        first = np.where(begins, segment, known_first)[runs.begun(begins)]
        is_new = begins | (moved & (segment != first))
        self._tell_apart(vids[order], minute, segment, before, first, moved & ~begins, is_new)
        runs.write(self.segment, vids, segment, before)
        runs.write(self.minute, vids, minute, before_minute)
        runs.write(self.first, vids, first, runs.before(first, known_first))
        self._emit(rows, runs.in_rows(is_new), runs.in_rows(moved))

    def _tell_apart(self, vids, minute, segment, before, first, comes, is_new):
        """Mark vehicles as known if the segment is between the first and the last one of their minute."""
        notes, asks = comes & (before != first), comes & (before == first) & (segment != first)
        asking = vids[asks]
        known = np.fromiter(map(bool, self.between.get_all(asking.tolist())), bool, len(asking))
        asks[asks] = known | np.isin(asking, vids[notes])
        for at in np.flatnonzero(notes | asks).tolist():
            vid, last = int(vids[at]), int(before[at]) if notes[at] else None
            known = self.between.get_all([vid])[0]
            between, was_there = rules.seen_between(known, int(minute[at]), last, int(segment[at]))
            if notes[at]:
                self.between.put_all([vid], [between])
            is_new[at] &= not was_there

    def _emit(self, rows, is_new, moved):
        made = {field: rows.array(field) for field in ("segment", "vid", "time", "speed")}
        self.emit_rows({**made, "is_new": is_new, "move": rules.move_of(moved, rows.numpy("lane"))})


class Stops(BatchBolt):
    """Notes each vehicle that has stopped, and each that moves again."""

    outputs = StopsOfTuples.outputs
    standing = ValueState("int64", default=rules.standing(-1, 0))

    def process_rows(self, rows):
        vids = rows.numpy("vid")
        runs = Runs(vids)
        order = runs.order
        stored = read(self.standing, rows.array("vid"))[order]
        place = rules.place_of(*(rows.numpy(name)[order] for name in ("segment", "lane", "pos")))
        known_place, known_reports = rules.stood(stored)
        before = runs.before(place, known_place)
        moved = place != before
        begun = runs.begun(moved)
        reports = runs.since(begun) + 1 + np.where(moved, 0, known_reports)[begun]
        stood = runs.before(reports, known_reports) >= rules.STOPPED_AFTER
        standing = rules.standing(place, np.minimum(reports, rules.STOPPED_AFTER))
        runs.write(self.standing, vids, standing, runs.before(standing, stored))
        stops = ~moved & (reports == rules.STOPPED_AFTER)
        at = np.flatnonzero(stops | (moved & stood))
        at = at[np.argsort(order[at])]
        if len(at):
            where = np.where(stops, place, before)[at]
            of = order[at]
            roads = rules.segment_of_place(where) // SEGMENTS
            told = (roads, rows.numpy("time")[of], where, vids[of], stops[at])
            self.emit_rows(list(zip(*(each.tolist() for each in told), strict=True)), of)


class Tolls(BatchBolt):
    """Finds for each vehicle that comes into a segment the toll, and the accident if there is one ahead; and
    passes on which vehicles leave."""

    outputs = [whole_numbers(("vid", "time", "move", "speed", "toll", "where"))]
    minute = ValueState("int64", default=0)
    vehicles = ValueState("int64", default=0)
    total = ValueState("int64", default=0)
    reports = ValueState("int64", default=0)
    crowd = ValueState("int64", default=0)
    speed = ValueState("int64", default=0)
    last = ValueState("binary", default=rules.NO_SPEEDS)
    accidents = ValueState("binary", default=b"")

    def process_rows(self, rows):
        if rows.component == "accidents":
            for segment, place, minute, happens in rows:
                self._accident(segment, place, minute, happens)
            return
        minutes = minute_of(rows.numpy("time"))
        ends = [*(np.flatnonzero(np.diff(minutes)) + 1).tolist(), len(minutes)]
        columns = {field: rows.numpy(field) for field in SEEN}
        begin, made = 0, []
        for end in ends:
            part = {field: column[begin:end] for field, column in columns.items()}
            made += self._of_minute(int(minutes[begin]), part)
            begin = end
        if made:
            joined = {field: np.concatenate([each[field] for each in made]) for field in made[0]}
            self.emit_rows(joined, np.flatnonzero(columns["move"] != rules.STAYS), gives_away=True)

    def _accident(self, segment, place, minute, happens):
        change = rules.with_accident if happens else rules.cleared
        (known,) = self.accidents.get_all([segment])
        self.accidents.put_all([segment], [change(known, place, minute)])

    def _of_minute(self, minute, part):
        """Take reports of one minute; give the tolls of vehicles that enter, and the vehicles that leave."""
        numbers, group = np.unique(part["segment"], return_inverse=True)
        keys = pa.array(numbers)
        before = read(self.minute, keys)
        self._begin(numbers[before != minute], minute, minute - before[before != minute])
        count = len(numbers)
        for state, of in ((self.vehicles, part["is_new"]), (self.total, part["speed"]), (self.reports, None)):
            state.add_all(keys, np.bincount(group, of, count).astype(np.int64))
        moves = part["move"] != rules.STAYS
        if not moves.any():
            return
        speed, where = read(self.speed, keys), self._accidents_ahead(minute, keys)
        toll = np.where(where < 0, rules.toll_of(read(self.crowd, keys), speed), 0)
        at, move = group[moves], part["move"][moves]
        told = np.where(move == rules.ENTERS, toll[at], 0)
        of_segment = {"speed": speed[at], "toll": told, "where": where[at]}
        yield {"vid": part["vid"][moves], "time": part["time"][moves], "move": move, **of_segment}

    def _begin(self, segments, minute, later):
        """A minute begins in segments, so much later than the one that they know of."""
        if not len(segments):
            return
        keys = pa.array(segments)
        vehicles, total, reports = (read(state, keys) for state in (self.vehicles, self.total, self.reports))
        last = np.frombuffer(b"".join(self.last.get_all(keys)), np.int64).reshape(len(segments), -1)
        last = rules.speeds_later(last, total, reports, later)
        self.last.put_all(keys, [row.tobytes() for row in last])
        self.crowd.put_all(keys, np.where(later == 1, vehicles, 0).tolist())
        self.speed.put_all(keys, rules.speeds(last).tolist())
        self.minute.put_all(keys, [minute] * len(segments))
        for state, numbers in ((self.vehicles, vehicles), (self.total, total), (self.reports, reports)):
            state.add_all(keys, -numbers)

    def _accidents_ahead(self, minute, keys):
        """For each segment that of the accident ahead, -1 for none."""
        found = np.full(len(keys), -1)
        for number, known in enumerate(self.accidents.get_all(keys)):
            where = rules.ahead(known, minute) if known else None
            if where is not None:
                found[number] = where
        return found


class Told(BatchBolt):
    """Writes the answers for tolls and accidents."""

    outputs = [ANSWERS]
    config = {"viper.stateless": True}

    def process_rows(self, rows):
        of = np.flatnonzero(rows.numpy("move") == rules.ENTERS)
        vid, time, where = (rows.numpy(field)[of] for field in ("vid", "time", "where"))
        numbers = vid, time, rows.numpy("speed")[of], rows.numpy("toll")[of]
        texts = list(map(rules.toll_answer, *(column.tolist() for column in numbers)))
        warned = np.flatnonzero(where >= 0)
        if len(warned):
            whom = time[warned], where[warned], vid[warned]
            # Each stands before the answer for the toll of the same vehicle.
            texts = np.insert(np.array(texts, object), warned, list(map(rules.accident_answer, *whom)))
            of = np.insert(of, warned, of[warned])
        self.emit_rows({"answer": texts}, of)


class Accounts(BatchBolt):
    """Charges each vehicle for a segment when it comes into the next one, but not when it has left by the
    segment's own exit; and answers queries for balances."""

    outputs = [ANSWERS]
    total = ValueState("int64", default=0)
    announced = ValueState("int64", default=0)

    def process_rows(self, rows):
        keys = rows.array("vid")
        if rows.component == "tolls":
            self._charge(rows, keys)
            return
        owed = map(int.__sub__, self.total.get_all(keys), self.announced.get_all(keys))
        texts = list(map(rules.balance_answer, rows.column("time"), rows.column("qid"), owed))
        self.emit_rows({"answer": texts})

    def _charge(self, rows, keys):
        vids = rows.numpy("vid")
        runs = Runs(vids)
        stored = read(self.announced, keys)[runs.order]
        toll, move = rows.numpy("toll"), rows.numpy("move")
        before = runs.before(toll[runs.order], stored)
        self.total.add_all(keys, toll - np.where(move == rules.LEAVES, runs.in_rows(before), 0))
        runs.write(self.announced, vids, toll[runs.order], before)

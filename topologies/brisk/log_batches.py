"""Log processing on columns; its bolts emit what `log_processing` does tuple by tuple.

Countries and their cities are counted one after the other, as each of them is a key of its own.
"""

from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from brisk import log_processing, networks
from brisk.columns import RUNS, STATELESS, TEXT, WHOLE, Runs, numbers_of, texts
from viperstorm import BatchBolt, Stream, ValueState

ADDRESS = "^" + r"\.".join(rf"(?P<{part}>\d{{1,3}})" for part in "abcd") + "$"
DASH, ZERO = pa.scalar("-"), pa.scalar("0")


class RequestParser(BatchBolt):
    """Takes requests from lines."""

    outputs = [
        Stream(
            schema={
                "address": TEXT,
                **dict.fromkeys(("time", "minute", "slot"), WHOLE),
                "request": TEXT,
                **dict.fromkeys(("response", "bytes"), WHOLE),
            }
        )
    ]
    config = STATELESS | RUNS

    def process_rows(self, rows):
        found = pc.extract_regex(rows.array("line"), f"^(?:{log_processing.PATTERN})$")
        times = found.field("time").dictionary_encode()
        known = [
            None if text is None else log_processing.seconds_of(text) for text in times.dictionary.to_pylist()
        ]
        read = pa.array(known, pa.int64()).take(times.indices)
        of = np.flatnonzero(pc.and_(found.is_valid(), read.is_valid()))
        if not len(of):
            return
        if len(of) < len(rows):
            found, read = found.take(pa.array(of)), read.take(pa.array(of))
        time = read.to_numpy()
        count = found.field("bytes")
        made = {
            "time": time,
            "minute": time // 60,
            "slot": time // 60 % log_processing.MINUTES,
            "response": found.field("response").cast(pa.int64()),
            "bytes": pc.if_else(pc.equal(count, DASH), ZERO, count).cast(pa.int64()),
        }
        self.emit_rows(
            {name: made[name] if name in made else found.field(name) for name in log_processing.REQUEST}, of
        )


class VolumeCounter(BatchBolt):
    """Emits each minute with how many requests it has had so far."""

    outputs = [Stream(schema={"minute": WHOLE, "count": WHOLE})]
    minute = ValueState("int64", default=-1)
    count = ValueState("int64", default=0)

    def process_rows(self, rows):
        runs, slots = Runs(rows.numpy("slot")), rows.array("slot")
        keys = runs.keys(slots)
        stored, counted = numbers_of(self.minute, keys), numbers_of(self.count, keys)
        minutes = rows.numpy("minute")[runs.order]
        before = np.roll(minutes, 1)
        before[runs.firsts] = stored
        # A place that another minute has taken is counted from that row on; others go on.
        begins = minutes != before
        counts = np.repeat(counted, runs.lengths) + runs.nth
        base = np.where(begins, counts, 0)
        starts = np.maximum.accumulate(np.where(begins | (runs.nth == 0), np.arange(len(minutes)), 0))
        counts = counts - base[starts] + 1
        self.minute.add_all(keys, minutes[runs.lasts()] - stored)
        self.count.add_all(keys, counts[runs.lasts()] - counted)
        self.emit_rows({"minute": rows.array("minute"), "count": runs.in_rows(counts)}, gives_away=True)


class StatusCounter(BatchBolt):
    """Emits each status with how often it has come so far."""

    outputs = [Stream(schema={"response": WHOLE, "count": WHOLE})]
    seen = ValueState("int64", default=0)

    def process_rows(self, rows):
        responses = rows.array("response")
        self.emit_rows({"response": responses, "count": np.asarray(self.seen.add_all(responses))})


class Geography(BatchBolt):
    """Finds where requests come from; those from nowhere end here.

    Args:
        seed: of the table, see `networks.drawn`.
    """

    outputs = [texts("country", "city")]
    config = STATELESS | RUNS

    def __init__(self, seed=1):
        super().__init__()
        self._seed = seed

    def initialize(self, conf, context):
        self._places = networks.Places(networks.drawn(self._seed))
        self._names = [pa.array(names) for names in zip(*self._places.places, strict=True)]

    def process_rows(self, rows):
        addresses = pc.extract_regex(rows.array("address"), ADDRESS)
        of = np.flatnonzero(addresses.is_valid())
        parts = [addresses.field(part).take(pa.array(of)).cast(pa.int64()).to_numpy() for part in "abcd"]
        fits = np.flatnonzero(reduce(np.maximum, parts) <= 255)
        address = reduce(lambda number, part: number << 8 | part, parts)[fits]
        found = self._places.where[np.searchsorted(self._places.starts, address, side="right") - 1]
        known = np.flatnonzero(found >= 0)
        if len(known):
            where = pa.array(found[known])
            country, city = (names.take(where) for names in self._names)
            self.emit_rows({"country": country, "city": city}, of[fits[known]], gives_away=True)


class Countries(BatchBolt):
    """Says of each place how many requests have come from its country so far."""

    outputs = [Stream(schema={"country": TEXT, "country_total": WHOLE, "city": TEXT})]
    total = ValueState("int64", default=0)

    def process_rows(self, rows):
        country = rows.array("country")
        total = np.asarray(self.total.add_all(country))
        self.emit_rows({"country": country, "country_total": total, "city": rows.array("city")})


class Cities(BatchBolt):
    """Says of each city, by its name and its country's, how many requests have come from it so far."""

    outputs = [Stream(schema={"country": TEXT, "country_total": WHOLE, "city": TEXT, "city_total": WHOLE})]
    total = ValueState("int64", default=0)

    def process_rows(self, rows):
        keys = list(zip(rows.column("country"), rows.column("city"), strict=True))
        told = {name: rows.array(name) for name in ("country", "country_total", "city")}
        self.emit_rows({**told, "city_total": np.asarray(self.total.add_all(keys))})

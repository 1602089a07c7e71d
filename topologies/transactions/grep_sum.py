"""Grep & Sum: reads lists of records that others overwrite, and adds up what was read.

An event has ten different records, of 10,000 with about 128 bytes each. All of them are read, and what was
read is added up; or all of them get new values, and the event is passed on as it is.

The published code has 100,000 records of 32 bytes, and an event reads only if an option says so: by default
all of them write. It runs both bolts in one step of one thread; here a sum is made by a bolt of its own.
"""

from transactions.records import ROWS, spare
from viperstorm import Bolt, SharedTable, Stream

SPARE = spare(128, used=1)


def first_records(count=ROWS):
    """The records at the beginning, as key and value."""
    return [(key, key * 7919 % 1_000_000) for key in range(count)]


def loaded():
    """List the rows that the table is loaded with."""
    return [(*row, *[0] * len(SPARE)) for row in first_records()]


records = SharedTable("records", key="int64", columns={"number": "int64", **SPARE}, rows=ROWS, load=loaded)


class Grep(Bolt):
    """Reads the records of an event and passes their values on, or overwrites them."""

    tables = [records]
    outputs = [Stream(["event", "values"], name="read"), Stream(["event", "sum"], name="written")]

    def process(self, tup):
        _, reads, keys, values = tup.values
        with self.transaction(tup) as t:
            if reads:
                t.read_each(records.number, keys)
            else:
                t.set_each(records.number, keys, values)

    def process_result(self, tup, result):
        event, reads, _, _ = tup.values
        if reads:
            self.emit([event, result.values], stream="read")
        else:
            self.emit([event, None], stream="written")


class Sum(Bolt):
    """Adds the values of an event up."""

    outputs = ["event", "sum"]
    config = {"viper.stateless": True}

    def process(self, tup):
        event, values = tup.values
        self.emit([event, sum(values)])

"""The spouts on columns; and lists of numbers, from arrays to columns and back."""

from array import array
from itertools import islice

import numpy as np
import pyarrow as pa

from transactions import spouts
from viperstorm import Block, Stream

PORTIONS = 4
"""Of what is drawn, so many are a block: the longer columns are, the less of the work is Python's."""
LIST = "list<int64 not null> not null"


def stream_of(draws):
    """The stream of what a class draws, as columns."""
    types = {"reads": "bool not null", "transfers": "bool not null"} | dict.fromkeys(draws.lists, LIST)
    return Stream(schema={name: types.get(name, "int64 not null") for name in draws.fields})


def lists_of(values, lengths):
    """A column of lists.

    Args:
        values: an array with a row for each.
        lengths: how many of its values count.
    """
    return joined_lists(values[np.arange(values.shape[1]) < lengths[:, None]], lengths)


def joined_lists(values, lengths):
    """A column of lists.

    Args:
        values: an array of all their values, one list's after the other's.
        lengths: how many of them each has.
    """
    ends = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=ends[1:])
    kind = pa.list_(pa.field("item", pa.int64(), nullable=False))
    return pa.ListArray.from_arrays(pa.array(ends), pa.array(values), type=kind)


def values_of(column, chosen, each):
    """The values of some lists of a column that have equally many: an array with a row for each place.

    Args:
        column: of lists.
        chosen: a mask of those.
        each: how many values they have.
    """
    begins = column.offsets.to_numpy()[:-1][chosen]
    return column.values.to_numpy()[begins + np.arange(each)[:, None]]


class Columns:
    """Brings events as columns, in the place of tuples."""

    def made(self, partition, start_us):
        """Draw the blocks of events from now on."""
        lists = self.draws.lists
        portions = self.portions(partition, start_us)
        while several := list(islice(portions, PORTIONS)):
            mine = {name: np.concatenate([each[name] for each in several]) for name in several[0]}
            columns = [
                lists_of(mine[name], mine[lists[name]]) if name in lists else pa.array(mine[name])
                for name in self.draws.fields
            ]
            batch = pa.record_batch(columns, list(self.draws.fields))
            yield Block(array("q", mine["event"].tobytes()), batch)


class GrepSum(Columns, spouts.GrepSum):
    """The input of Grep & Sum."""

    outputs = [stream_of(spouts.GrepSum.draws)]


class StreamingLedger(Columns, spouts.StreamingLedger):
    """The input of the Streaming Ledger."""

    outputs = [stream_of(spouts.StreamingLedger.draws)]


class OnlineBidding(Columns, spouts.OnlineBidding):
    """The input of Online Bidding."""

    outputs = [stream_of(spouts.OnlineBidding.draws)]


class TollProcessing(Columns, spouts.TollProcessing):
    """The input of Toll Processing."""

    outputs = [stream_of(spouts.TollProcessing.draws)]

"""The topologies of the matrix, for any parallelism of their bolts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from framework import Grouping, TopologyBuilder
from framework.operators.sinks import CollectingSink
from tests.determinism.components import (
    Batches,
    Burst,
    Fork,
    Forward,
    Gather,
    History,
    Join,
    Keep,
    Numbers,
    Polled,
    Settle,
    Ticked,
    Timed,
)
from tests.determinism.special_components import (
    Asks,
    Awaits,
    ByTrail,
    Directs,
    MixedKeys,
    Several,
    Spoil,
    Wares,
    Where,
)
from tests.determinism.state_components import (
    Counted,
    Kept,
    Met,
    Owns,
    Recalls,
    RecallsAny,
    RecallsTicks,
    Sides,
    Stumbles,
)

COUNT = 60
"""Rows from each partition of a spout; where many are made of each they fill jumbo tuples of 1,024."""

Shape = Callable[[int], TopologyBuilder]


def _ended(builder: TopologyBuilder, *sources: str) -> TopologyBuilder:
    """With a single sink that reads these components."""
    sink = builder.set_bolt("sink", CollectingSink)
    for source in sources:
        sink.global_grouping(source)
    return builder


def chain(par: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("split", Forward, par, args=["", 20]).shuffle_grouping("source")
    builder.set_bolt("count", History, par).fields_grouping("split", "key")
    return _ended(builder, "count")


def diamond(par: int) -> TopologyBuilder:
    """Branches of unequal length meet with the stream that they came from."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("long1", Forward, par, args=["a", 3]).shuffle_grouping("source")
    builder.set_bolt("long2", Keep, par, args=[0.5]).shuffle_grouping("long1")
    builder.set_bolt("long3", Forward, par, args=["b", 2]).fields_grouping("long2", "key")
    builder.set_bolt("short", Forward, par, args=["s", 1]).shuffle_grouping("source")
    joined = builder.set_bolt("join", Join, par).shuffle_grouping("long3")
    joined.fields_grouping("short", "key").local_or_shuffle_grouping("source")
    builder.set_bolt("history", History, par).fields_grouping("join", "key")
    return _ended(builder, "history")


def fan(par: int) -> TopologyBuilder:
    """One stream has several subscribers, whose outputs meet again."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    for number in range(4):
        declared = builder.set_bolt(f"way{number}", Forward, par, args=[f"w{number}", number + 1])
        declared.shuffle_grouping("source")
    history = builder.set_bolt("history", History, par)
    for number in range(4):
        history.fields_grouping(f"way{number}", "key")
    return _ended(builder, "history", "way3")


def equal_times(par: int) -> TopologyBuilder:
    """Equal event times in two spouts, one of them with two partitions."""
    builder = TopologyBuilder()
    builder.set_spout("first", Timed, 2, args=[COUNT, "a", 3])
    builder.set_spout("second", Timed, args=[COUNT, "b", 5, 2])
    worked = builder.set_bolt("work", Forward, par, args=["", 3]).shuffle_grouping("first")
    worked.shuffle_grouping("second")
    builder.set_bolt("history", History, par).fields_grouping("work", "key")
    return _ended(builder, "history", "first")


def filtered(par: int, share: float) -> TopologyBuilder:
    """A branch that lets a share of the rows pass meets one that lets all pass."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[3 * COUNT])
    builder.set_bolt("keep", Keep, par, args=[share]).shuffle_grouping("source")
    builder.set_bolt("work", Forward, par, args=["w", 2]).shuffle_grouping("keep")
    builder.set_bolt("join", Join, par).shuffle_grouping("work").shuffle_grouping("source")
    return _ended(builder, "join")


def bursts(par: int) -> TopologyBuilder:
    """Flat-maps whose inputs have none, a few or many outputs."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("burst1", Burst, par).shuffle_grouping("source")
    builder.set_bolt("burst2", Burst, par).fields_grouping("burst1", "key")
    return _ended(builder, "burst2", "burst1")


def streams(par: int) -> TopologyBuilder:
    """Several streams between two components, grouped in different ways, and heard by several."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[2 * COUNT])
    builder.set_bolt("fork", Fork, par).shuffle_grouping("source")
    joined = builder.set_bolt("join", Join, par).fields_grouping("fork", "key", stream="left")
    joined.shuffle_grouping("fork", stream="right")
    both = builder.set_bolt("history", History, par).fields_grouping("fork", "key", stream="left")
    both.fields_grouping("fork", "key", stream="right").fields_grouping("join", "key")
    return _ended(builder, "history", "join")


def broadcast(par: int) -> TopologyBuilder:
    """An ``all`` grouping into replicas that only keep state of it."""
    builder = TopologyBuilder()
    builder.set_spout("settings", Numbers, args=[COUNT // 3, "s"])
    builder.set_spout("data", Numbers, 2, args=[COUNT, "d"])
    builder.set_bolt("work", Settle, par).all_grouping("settings").shuffle_grouping("data")
    builder.set_bolt("again", Forward, par, args=["", 2]).shuffle_grouping("work")
    return _ended(builder, "again")


def keyed(par: int) -> TopologyBuilder:
    """State by keys that equal one another across types, twice."""
    builder = TopologyBuilder()
    builder.set_spout("source", MixedKeys, 2, args=[2 * COUNT])
    builder.set_bolt("first", History, par).fields_grouping("source", "key")
    builder.set_bolt("between", Join, par).shuffle_grouping("first")
    builder.set_bolt("second", History, par).fields_grouping("between", "key")
    return _ended(builder, "second")


def recalled(par: int) -> TopologyBuilder:
    """Declared state of each kind by one field and by two, of several inputs, where some rows are skipped."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2, args=[COUNT])
    builder.set_bolt("sides", Sides, par).shuffle_grouping("source")
    builder.set_bolt("count", Counted, par).fields_grouping("source", "key")
    recalls = builder.set_bolt("recalls", Recalls, par).fields_grouping("sides", "key", "side")
    recalls.fields_grouping("count", "key", "trail")
    stumbles = builder.set_bolt("stumbles", Stumbles, par).fields_grouping("source", "key")
    stumbles.fields_grouping("recalls", "key")
    any_values = builder.set_bolt("any", RecallsAny, par).fields_grouping("sides", "side")
    any_values.fields_grouping("stumbles", "key")
    return _ended(builder, "any", "stumbles", "recalls")


def owned(par: int) -> TopologyBuilder:
    """Declared state in the owner's task of all that get a row, under keys that are equal across types."""
    builder = TopologyBuilder()
    builder.set_spout("source", MixedKeys, 2, args=[COUNT])
    builder.set_bolt("owns", Owns, par).all_grouping("source")
    builder.set_bolt("count", Counted, par).fields_grouping("owns", "key")
    return _ended(builder, "count")


def recalled_ticks(par: int) -> TopologyBuilder:
    """Declared state of one task, which is told at ticks by event time, after state by key."""
    builder = TopologyBuilder()
    builder.set_spout("first", Timed, args=[COUNT, "a", 3, 150])
    builder.set_spout("second", Timed, args=[COUNT // 4, "b", 1, 333])
    count = builder.set_bolt("count", Counted, par).fields_grouping("first", "key")
    count.fields_grouping("second", "key")
    builder.set_bolt("ticked", RecallsTicks).global_grouping("count")
    builder.set_bolt("recalls", Recalls, par).fields_grouping("ticked", "key")
    return _ended(builder, "recalls")


def windows_by_key(par: int) -> TopologyBuilder:
    """Windows by key, the last of which end after the last row; state, a join, and windows after them."""
    builder = TopologyBuilder()
    builder.set_spout("first", Timed, 2, args=[COUNT, "a", 2, 170])
    builder.set_spout("second", Timed, args=[COUNT // 4, "b", 1, 333])
    kept = builder.set_bolt("kept", Kept, par)
    kept.fields_grouping("first", "key").fields_grouping("second", "key")
    count = builder.set_bolt("count", Counted, par).fields_grouping("kept", "key")
    count.fields_grouping("second", "key")
    met = builder.set_bolt("met", Met, par)
    met.fields_grouping("count", "key").fields_grouping("first", "key")
    builder.set_bolt("again", Kept, par).fields_grouping("met", "key")
    return _ended(builder, "again", "met", "count")


def gathered(par: int) -> TopologyBuilder:
    """Batches by count, without ticks."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 3, args=[COUNT])
    builder.set_bolt("gather", Gather, par, args=[4]).fields_grouping("source", "key")
    builder.set_bolt("again", Gather, par, args=[2]).fields_grouping("gather", "key")
    return _ended(builder, "again", "gather")


def uneven_spouts(par: int) -> TopologyBuilder:
    """A spout with nothing to say, one that ends early, a polled one with pauses, and one that continues."""
    builder = TopologyBuilder()
    builder.set_spout("empty", Numbers, args=[0, "e"])
    builder.set_spout("early", Numbers, args=[COUNT // 10, "x"])
    builder.set_spout("polled", Polled, args=[COUNT, "p"])
    builder.set_spout("long", Numbers, 2, args=[2 * COUNT, "l"])
    joined = builder.set_bolt("join", Join, par)
    for spout in ("empty", "early", "polled", "long"):
        joined.shuffle_grouping(spout)
    builder.set_bolt("history", History, par).fields_grouping("join", "key")
    return _ended(builder, "history")


def deep(par: int) -> TopologyBuilder:
    """Many hops, each met by the one before the last."""
    builder = TopologyBuilder()
    builder.set_spout("hop0", Numbers, args=[COUNT // 3])
    builder.set_bolt("hop1", Forward, par).shuffle_grouping("hop0")
    for hop in range(2, 9):
        declared = builder.set_bolt(f"hop{hop}", Keep, par, args=[0.75]).shuffle_grouping(f"hop{hop - 1}")
        declared.fields_grouping(f"hop{hop - 2}", "key")
    return _ended(builder, "hop8")


def groupings(par: int) -> TopologyBuilder:
    """Every grouping there is, into bolts without state."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2, args=[COUNT])
    builder.set_bolt("asks", Asks, par).local_or_shuffle_grouping("source")
    builder.set_bolt("partial", Forward, par, args=["p"]).partial_key_grouping("asks", "key")
    builder.set_bolt("none", Forward, par, args=["n"]).grouping("asks", Grouping.NONE)
    builder.set_bolt("custom", Forward, par, args=["c"]).grouping("asks", Grouping.custom(ByTrail))
    builder.set_bolt("directs", Directs, par).shuffle_grouping("source")
    builder.set_bolt("direct", Forward, par, args=["d"]).direct_grouping("directs")
    return _ended(builder, "partial", "none", "custom", "direct")


def by_value(par: int) -> TopologyBuilder:
    """Values of every kind, which some consumers change while others read them."""
    builder = TopologyBuilder()
    builder.set_spout("source", Wares, args=[COUNT])
    builder.set_bolt("spoil", Spoil, par).shuffle_grouping("source")
    builder.set_bolt("again", Spoil, par).shuffle_grouping("spoil")
    builder.set_bolt("other", Spoil, par).shuffle_grouping("source").fields_grouping("spoil", "key")
    return _ended(builder, "again", "other", "spoil", "source")


def ticks(par: int) -> TopologyBuilder:
    """Ticks by event time at a bolt with one task, after others with many."""
    builder = TopologyBuilder()
    builder.set_spout("first", Timed, args=[COUNT, "a", 3, 150])
    builder.set_spout("second", Timed, args=[COUNT // 4, "b", 1, 333])
    kept = builder.set_bolt("keep", Keep, par, args=[0.3]).shuffle_grouping("first")
    kept.shuffle_grouping("second")
    builder.set_bolt("ticked", Ticked).global_grouping("keep")
    return _ended(builder, "ticked", "second")


def tick_batches(par: int) -> TopologyBuilder:
    """Batches that fire at ticks of event time, in one task after others."""
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, 2, args=[COUNT, "a", 2, 170])
    builder.set_bolt("work", Forward, par, args=["", 2]).shuffle_grouping("source")
    builder.set_bolt("batches", Batches).global_grouping("work")
    builder.set_bolt("history", History, par).fields_grouping("batches", "key")
    return _ended(builder, "history")


def where(par: int) -> TopologyBuilder:
    """Build bolts that tell which replica gets a tuple: no guarantee, but the same for one parallelism."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2, args=[COUNT])
    builder.set_bolt("work", Forward, par, args=["", 3]).shuffle_grouping("source")
    builder.set_bolt("shuffled", Where, par).shuffle_grouping("work")
    builder.set_bolt("partial", Where, par).partial_key_grouping("work", "key")
    return _ended(builder, "shuffled", "partial")


def ticked_replicas(par: int) -> TopologyBuilder:
    """Ticks and batches in several replicas, which each have ticks of their own."""
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, 2, args=[COUNT, "a", 2, 170])
    builder.set_bolt("ticked", Ticked, par).fields_grouping("source", "key")
    builder.set_bolt("batches", Batches, par).fields_grouping("ticked", "key")
    return _ended(builder, "batches", "ticked")


def recalled_replicas(par: int) -> TopologyBuilder:
    """Declared state of several tasks, each with ticks of its own."""
    builder = TopologyBuilder()
    builder.set_spout("source", Timed, 2, args=[COUNT, "a", 2, 170])
    builder.set_bolt("ticked", RecallsTicks, par).shuffle_grouping("source")
    builder.set_bolt("recalls", Recalls, par).fields_grouping("ticked", "key")
    return _ended(builder, "recalls", "ticked")


def all_replicas_emit(par: int) -> TopologyBuilder:
    """An ``all`` grouping whose copies meet again, and a custom one that sends to several."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, 2, args=[COUNT])
    builder.set_bolt("copied", Where, par).all_grouping("source")
    builder.set_bolt("again", Forward, par, args=["", 2]).shuffle_grouping("copied")
    builder.set_bolt("some", Where, par).grouping("source", Grouping.custom(Several))
    return _ended(builder, "again", "some", "copied")


def awaited(par: int) -> TopologyBuilder:
    """Bolts with coroutine functions, behind each other and beside a bolt without."""
    builder = TopologyBuilder()
    builder.set_spout("source", Numbers, args=[COUNT])
    builder.set_bolt("first", Awaits, par).shuffle_grouping("source")
    builder.set_bolt("second", Awaits, par).shuffle_grouping("first").shuffle_grouping("first", stream="side")
    builder.set_bolt("short", Forward, par, args=["s", 1]).shuffle_grouping("source")
    joined = builder.set_bolt("join", Join, par).fields_grouping("short", "key").shuffle_grouping("second")
    joined.shuffle_grouping("second", stream="side")
    builder.set_bolt("history", History, par).fields_grouping("join", "key")
    return _ended(builder, "history")


INSIDE: dict[str, Shape] = {
    **{
        shape.__name__: shape
        for shape in (
            chain,
            diamond,
            fan,
            equal_times,
            bursts,
            streams,
            broadcast,
            keyed,
            recalled,
            owned,
            recalled_ticks,
            windows_by_key,
            gathered,
            uneven_spouts,
            deep,
            groupings,
            by_value,
            ticks,
            tick_batches,
            awaited,
        )
    },
    **{f"filtered_{share}": partial(filtered, share=share) for share in (0, 0.01, 0.5, 1)},
}
"""Inside the order guarantee: the same for every parallelism."""

FOR_ONE_PARALLELISM: dict[str, Shape] = {
    shape.__name__: shape for shape in (where, ticked_replicas, recalled_replicas, all_replicas_emit)
}
"""Outside of it, and still the same for every other choice of a plan."""

TOPOLOGIES = {**INSIDE, **FOR_ONE_PARALLELISM}

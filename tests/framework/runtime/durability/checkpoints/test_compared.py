"""A run that is resumed is compared in full: matched, refused with both, or told, whatever has changed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from datetime import timedelta
from types import FunctionType
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import pytest

from framework import (
    AggregatingState,
    APlus,
    BatchingBolt,
    Bolt,
    JoinBolt,
    JPlus,
    ListState,
    MapState,
    ReducingState,
    StatefulBolt,
    Stream,
    TableState,
    TopologyBuilder,
    ValueState,
    WindowedBolt,
)
from framework.frontends.streams import (
    AggregateByKey,
    AggregateWindow,
    Branch,
    CountByKey,
    KeyBy,
    Map,
    ProcessWindow,
    ReduceByKey,
    ReduceWindow,
    Select,
)
from framework.model.errors import CheckpointError
from framework.model.tables import SharedTable
from framework.operators.components import OPlus, SeekableSpout
from framework.operators.sinks import CollectingSink, JsonLinesSink
from framework.operators.windows import Count as Tuples
from framework.operators.windows import Duration, zones
from framework.operators.windows.aggregates import (
    Aggregate,
    Aggregates,
    ApproximateDistinct,
    Count,
    Max,
    Sum,
    TopK,
)
from framework.operators.windows.joins import Band, Equal, SameWindow, Within
from framework.operators.windows.zones import Zone
from tests.framework.runtime.durability.checkpoints.compared import changes, checkpoint_of
from tests.framework.runtime.partitioned import Partitions

Make = Callable[[], Any]
FIELDS = ["partition", "number", "key"]


def behind(bolt: Any, *, config: dict[str, Any] | None = None, of_spout: dict[str, Any] | None = None,
           spout: Any = None, all_settings: dict[str, Any] | None = None) -> TopologyBuilder:
    """A bolt after a spout, by key."""  # fmt: skip
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions() if spout is None else spout, config=of_spout)
    builder.set_bolt("bolt", bolt, config=config).fields_grouping("source", "key")
    for key, value in (all_settings or {}).items():
        builder.set_config(key, value)
    return builder


def joined(bolt: Any, order: tuple[str, str] = ("left", "right")) -> TopologyBuilder:
    """A bolt after two spouts, by key."""
    builder = TopologyBuilder()
    for name in ("left", "right"):
        builder.set_spout(name, Partitions())
    declarer = builder.set_bolt("bolt", bolt)
    for name in order:
        declarer.fields_grouping(name, "key")
    return builder


def aplus(aggregate: Aggregate[Any, Any], **attributes: Any) -> type[APlus]:
    """The class of an operator, as a user writes it."""

    class Spent(APlus):
        outputs: ClassVar[list[str]] = ["key", *aggregate.names]

    for name, value in {"size": "1h", "aggregate": aggregate, **attributes}.items():
        setattr(Spent, name, value)
    return Spent


def with_state(state: Any) -> type[Bolt]:
    """The class of a bolt that declares a state."""
    return type("Keeping", (Bolt,), {"outputs": ["x"], "kept": state, "process": _process})


def _process(self: Any, tup: Any) -> None:
    self.emit([tup.values.key])


class Windows(WindowedBolt):
    outputs = ["n"]

    def process_window(self, window: Any) -> None:
        self.emit([len(window)])


class Op(OPlus):
    outputs = ["key"]
    size = "1h"

    def update(self, window: Any, tup: Any, side: int = 0) -> None:
        pass

    def slide(self, window: Any) -> None:
        pass


class Both(JPlus):
    fields = ["a", "b", "c", "d", "e", "f"]
    size, advance = "1h", "1m"


class Batches(BatchingBolt):
    outputs = ["n"]

    def process_batch(self, key: Any, tups: Any) -> None:
        self.emit([len(tups)])


class Patient(Batches):
    ticks_between_batches = 5


def both(size: str, advance: str = "1m", **attributes: Any) -> type[JPlus]:
    return type("Both", (Both,), {"size": size, "advance": advance, **attributes})


def join(on: Any, **options: Any) -> JoinBolt:
    return JoinBolt("left", "right", on, list("abcdef"), **options)


def add(one: Any, other: Any) -> Any:
    return one + other


def greater(one: Any, other: Any) -> Any:
    return max(one, other)


def table(columns: dict[str, str] | None = None, **options: Any) -> type[Bolt]:
    made = SharedTable("accounts", columns=columns or {"a": "int64", "b": "int64"}, **{"rows": 9, **options})
    return type("Moving", (Bolt,), {"outputs": ["x"], "tables": [made], "process": _process})


def windowed(form: Callable[[WindowedBolt], Any]) -> Make:
    return lambda: behind(form(Windows()), **INGEST)


INGEST: Any = {"all_settings": {"viper.time": "event"}}
TICKS = "topology.tick.tuple.freq.secs"
INPUTS = ["key", "number", "partition"]
TOTALS = Aggregates(total=Sum("number"), most=Max("number"))
HOUR = {"size": "1h"}
EXACT = {"viper.recovery": "exact"}

REFUSED: dict[str, tuple[Make, Make, str]] = {
    "aggregates exchanged": (
        lambda: behind(aplus(TOTALS)),
        lambda: behind(aplus(Aggregates(most=Max("number"), total=Sum("number")))),
        r"aggregate order was \['total', 'most'\]: found \['most', 'total'\]",
    ),
    "another aggregate": (
        lambda: behind(aplus(TOTALS)),
        lambda: behind(aplus(Aggregates(total=Count(), most=Max("number")))),
        r"'bolt': aggregate total was Sum\(field='number'\): found Count\(\)",
    ),
    "one aggregate for another": (
        lambda: behind(aplus(Sum("number"))),
        lambda: behind(aplus(Count())),
        r"aggregate of windows was Sum\(field='number'\): found Count\(\)",
    ),
    "an aggregate of another field": (
        lambda: behind(aplus(Sum("number"))),
        lambda: behind(aplus(Sum("key"))),
        "aggregate of windows field was 'number': found 'key'",
    ),
    "what an aggregate of a user's own derives from": (
        lambda: behind(aplus(type("Own", (Sum,), {})("number"))),
        lambda: behind(aplus(type("Own", (Max,), {})("number"))),
        "aggregate of windows kind of was 'Sum': found 'Max'",
    ),
    "an aggregate added": (
        lambda: behind(aplus(TOTALS)),
        lambda: behind(aplus(Aggregates(total=Sum("number"), most=Max("number"), n=Count()))),
        r"aggregate order was \['total', 'most'\]: found \['total', 'most', 'n'\]",
    ),
    "an aggregate renamed": (
        lambda: behind(aplus(Aggregates(a=Count()))),
        lambda: behind(aplus(Aggregates(b=Count()))),
        r"aggregate order was \['a'\]: found \['b'\]",
    ),
    "the k of a top k": (
        lambda: behind(aplus(TopK("number", 3))),
        lambda: behind(aplus(TopK("number", 5))),
        "aggregate of windows k was 3: found 5",
    ),
    "the precision of a sketch": (
        lambda: behind(aplus(ApproximateDistinct("number", precision=12))),
        lambda: behind(aplus(ApproximateDistinct("number", precision=14))),
        "aggregate of windows precision was 12: found 14",
    ),
    "the length of windows by key": (
        lambda: behind(aplus(Sum("number"))),
        lambda: behind(aplus(Sum("number"), size="30m")),
        "'bolt': windows length was '1h': found '30m'",
    ),
    "the advance of windows by key": (
        lambda: behind(aplus(Sum("number"), advance="10m")),
        lambda: behind(aplus(Sum("number"), advance="20m")),
        "windows interval was '10m': found '20m'",
    ),
    "the offset of windows by key": (
        lambda: behind(aplus(Sum("number"))),
        lambda: behind(aplus(Sum("number"), offset="5m")),
        "windows offset was '0us': found '5m'",
    ),
    "the zone of windows": (
        lambda: behind(aplus(Sum("number"), size="1d", zone="Europe/Berlin")),
        lambda: behind(aplus(Sum("number"), size="1d", zone="Africa/Lagos")),
        r'windows zone was "Europe/Berlin .*": found "Africa/Lagos .*"',
    ),
    "days without a zone and with one": (
        lambda: behind(aplus(Sum("number"), size="1d")),
        lambda: behind(aplus(Sum("number"), size="1d", zone="UTC")),
        r'windows zone was None: found "UTC .*"',
    ),
    "months of windows": (
        lambda: behind(aplus(Sum("number"), size="1mo", zone="UTC")),
        lambda: behind(aplus(Sum("number"), size="3mo", zone="UTC")),
        "windows length was '1 months': found '3 months'",
    ),
    "the zone of the window of a join": (
        lambda: joined(join(Equal("key") & SameWindow("1d", zone="Europe/Berlin"))),
        lambda: joined(join(Equal("key") & SameWindow("1d", zone="Asia/Tokyo"))),
        "in one window of 1d in Europe/Berlin .*found .*in one window of 1d in Asia/Tokyo",
    ),
    "the offset of the window of a join": (
        lambda: joined(join(Equal("key") & SameWindow("1h"))),
        lambda: joined(join(Equal("key") & SameWindow("1h", offset="5m"))),
        "in one window of 1h.*found .*in one window of 1h, 5m later",
    ),
    "the lateness of windows by key": (
        lambda: behind(Op().with_timestamp_field("number"), of_spout={"viper.timestamp.field": "number"}),
        lambda: behind(
            Op().with_timestamp_field("number").with_allowed_lateness("5s"),
            of_spout={"viper.timestamp.field": "number"},
        ),
        "windows allowed lateness was '0us': found '5s'",
    ),
    "the kind of windows by key": (
        lambda: behind(Op),
        lambda: behind(Op(windows="single")),
        "'bolt': bolt windows was 'multi': found 'single'",
    ),
    "the number of inputs of windows": (
        lambda: joined(type("Op", (Op,), {"inputs": 2})),
        lambda: joined(Op),
        "bolt inputs was 2: found 1",
    ),
    "the gap of sessions by key": (
        lambda: behind(aplus(Sum("number"), size=None, gap="10s")),
        lambda: behind(aplus(Sum("number"), size=None, gap="20s")),
        "windows gap was '10s': found '20s'",
    ),
    "windows by count for sessions": (
        lambda: behind(aplus(Sum("number"), size=Tuples(10))),
        lambda: behind(aplus(Sum("number"), size=None, gap="20s")),
        "windows length was '10 tuples': found None",
    ),
    "windows by count": (
        lambda: behind(aplus(Sum("number"), size=Tuples(10))),
        lambda: behind(aplus(Sum("number"), size=Tuples(20))),
        "windows length was '10 tuples': found '20 tuples'",
    ),
    "the length of a windowed bolt": (
        windowed(lambda bolt: bolt.with_tumbling_window(Duration.seconds(10))),
        windowed(lambda bolt: bolt.with_tumbling_window(Duration.seconds(20))),
        "windows length was '10s': found '20s'",
    ),
    "the interval of a windowed bolt": (
        windowed(lambda bolt: bolt.with_window(Tuples(10), Tuples(2))),
        windowed(lambda bolt: bolt.with_window(Tuples(10), Tuples(5))),
        "windows interval was '2 tuples': found '5 tuples'",
    ),
    "sessions for windows": (
        windowed(lambda bolt: bolt.with_tumbling_window(Duration.seconds(10))),
        windowed(lambda bolt: bolt.with_session_window("10s")),
        "windows gap was None: found '10s'",
    ),
    "a partial window": (
        windowed(lambda bolt: bolt.with_window(Tuples(10), Tuples(20))),
        windowed(lambda bolt: bolt.with_window(Tuples(10), Tuples(20)).with_partial_window()),
        "windows partial window was False: found True",
    ),
    "the time of a join": (
        lambda: joined(join(Equal("key") & Within("1h"))),
        lambda: joined(join(Equal("key") & Within("2h"))),
        r"join on times was \['from 1h before to 1h after'\]: found \['from 2h before to 2h after'\]",
    ),
    "the fields of a join": (
        lambda: joined(join(Equal("key") & Within("1h"))),
        lambda: joined(join(Equal("number") & Within("1h"))),
        r"join on fields was \['key = key'\]: found \['number = number'\]",
    ),
    "the width of a join": (
        lambda: joined(join(Band(number=1) & Within("1h"))),
        lambda: joined(join(Band(number=2) & Within("1h"))),
        r"join on fields was \['\|number - number\| <= 1'\]: found ",
    ),
    "the windows of a join": (
        lambda: joined(join(Equal("key") & SameWindow("1h"))),
        lambda: joined(join(Equal("key") & SameWindow("1m"))),
        r"join on times was \['in one window of 1h'\]: found \['in one window of 1m'\]",
    ),
    "the function of a join": (
        lambda: joined(join([Within("1h"), operator.lt])),
        lambda: joined(join([Within("1h"), operator.gt])),
        "join on functions 1 was the function _operator.lt: found the function _operator.gt",
    ),
    "an outer join": (
        lambda: joined(join(Equal("key") & Within("1h"))),
        lambda: joined(join(Equal("key") & Within("1h"), how="left")),
        "join how was 'inner': found 'left'",
    ),
    "the sides of a join": (
        lambda: joined(join(Equal("key") & Within("1h"))),
        lambda: joined(JoinBolt("right", "left", Equal("key") & Within("1h"), list("abcdef"))),
        r"join left was \['left'\]: found \['right'\]",
    ),
    "the keys of a join": (
        lambda: joined(join(Equal("key") & Within("1h"))),
        lambda: joined(join(Equal("key") & Within("1h"), keys=10)),
        "join keys was 1000: found 10",
    ),
    "the place of pairs": (
        lambda: joined(both("1h")),
        lambda: joined(both("1h", pairs_at="end")),
        "join pairs_at was 'tuple': found 'end'",
    ),
    "the window of a J+": (
        lambda: joined(both("1h")),
        lambda: joined(both("2h")),
        "windows length was '1h': found '2h'",
    ),
    "the condition of a J+": (
        lambda: joined(both("1h", on=Equal("number"))),
        lambda: joined(both("1h", on=Equal("partition"))),
        r"join on fields was \['number = number'\]: found \['partition = partition'\]",
    ),
    "the order of two inputs": (
        lambda: joined(both("1h")),
        lambda: joined(both("1h"), ("right", "left")),
        "keeps its inputs apart by their order, 'default' of 'left' then 'default' of 'right': found",
    ),
    "the type of a state": (
        lambda: behind(with_state(ValueState("int64"))),
        lambda: behind(with_state(ValueState("float64"))),
        "state 'kept' of 'bolt' was value of int64, per key: found value of float64, per key",
    ),
    "the kind of a state": (
        lambda: behind(with_state(ValueState())),
        lambda: behind(with_state(ListState())),
        "state 'kept' of 'bolt' was value of any values, per key: found list of elements",
    ),
    "the default of a state": (
        lambda: behind(with_state(ValueState("int64", default=0))),
        lambda: behind(with_state(ValueState("int64", default=100))),
        "'bolt': state kept default was 0: found 100",
    ),
    "the defaults of a table": (
        lambda: behind(with_state(TableState({"a": "int64", "b": "int64"}))),
        lambda: behind(with_state(TableState({"a": "int64", "b": "int64"}, {"a": 1}))),
        "state kept defaults a was 0: found 1",
    ),
    "the columns of a state exchanged": (
        lambda: behind(with_state(TableState({"a": "int64", "b": "int64"}))),
        lambda: behind(with_state(TableState({"b": "int64", "a": "int64"}))),
        "was table of a: int64, b: int64, per key: found table of b: int64, a: int64",
    ),
    "the types of a map": (
        lambda: behind(with_state(MapState("string", "int64"))),
        lambda: behind(with_state(MapState("int64", "int64"))),
        "was map of string to int64, per key: found map of int64 to int64",
    ),
    "the function of a reducing state": (
        lambda: behind(with_state(ReducingState("int64", add))),
        lambda: behind(with_state(ReducingState("int64", max))),
        "state kept function was the function add: found the function max",
    ),
    "the functions of an aggregating state": (
        lambda: behind(with_state(AggregatingState("int64", create=int, add=add))),
        lambda: behind(with_state(AggregatingState("int64", create=int, add=greater))),
        "state kept functions .*the function add.* found .*the function greater",
    ),
    "the key of a state": (
        lambda: alone(type("K", (with_state(ValueState()),), {"state_key": ["key"]})),
        lambda: alone(type("K", (with_state(ValueState()),), {"state_key": ["number"]})),
        r"state of 'bolt' had the key \['key'\]: found \['number'\]",
    ),
    "the ticks between batches": (
        lambda: behind(Batches, config={TICKS: 1}, all_settings=EXACT),
        lambda: behind(Patient, config={TICKS: 1}, all_settings=EXACT),
        "'bolt': bolt ticks_between_batches was 1: found 5",
    ),
    "the seconds between ticks": (
        lambda: behind(Batches, config={TICKS: 1}, all_settings=EXACT),
        lambda: behind(Batches, config={TICKS: 2}, all_settings=EXACT),
        "'bolt' seconds between ticks was 1: found 2",
    ),
    "a reducer": (
        lambda: behind(ReduceByKey(add, 2, INPUTS)),
        lambda: behind(ReduceByKey(greater, 2, INPUTS)),
        "bolt function was the function add: found the function greater",
    ),
    "a reducer by its path": (
        lambda: behind(ReduceByKey("operator.add", 2, INPUTS)),
        lambda: behind(ReduceByKey("operator.mul", 2, INPUTS)),
        "bolt function was the function _operator.add: found the function _operator.mul",
    ),
    "the width of a key": (
        lambda: behind(ReduceByKey(add, 1, INPUTS)),
        lambda: behind(ReduceByKey(add, 2, INPUTS)),
        "bolt width was 1: found 2",
    ),
    "the initial state of an aggregate by key": (
        lambda: behind(AggregateByKey(add, 1, INPUTS, initial=0)),
        lambda: behind(AggregateByKey(add, 1, INPUTS, initial=1)),
        "bolt initial was 0: found 1",
    ),
    "a step of another kind": (
        lambda: behind(AggregateByKey(add, 1, INPUTS)),
        lambda: behind(ReduceByKey(add, 1, INPUTS)),
        "bolt kind was 'AggregateByKey': found 'ReduceByKey'",
    ),
    "how many fields a count has": (
        lambda: behind(CountByKey(["key", "n"])),
        lambda: behind(CountByKey(["key", "number", "n"])),
        "bolt fields was 2: found 3",
    ),
    "the reducer of windows": (
        lambda: behind(ReduceWindow(add, INPUTS[:2], **HOUR)),
        lambda: behind(ReduceWindow(greater, INPUTS[:2], **HOUR)),
        "the function add: found the function greater",
    ),
    "the fields of windows exchanged": (
        lambda: behind(AggregateWindow({"n": ["sum", "number"]}, ["key", "number", "x"], **HOUR)),
        lambda: behind(AggregateWindow({"n": ["sum", "number"]}, ["key", "x", "number"], **HOUR)),
        r"bolt inputs was \['key', 'number', 'x'\]: found \['key', 'x', 'number'\]",
    ),
    "aggregates of windows as YAML has them": (
        lambda: behind(AggregateWindow({"n": ["sum", "number"]}, ["key", "number", "x"], **HOUR)),
        lambda: behind(AggregateWindow({"n": ["max", "number"]}, ["key", "number", "x"], **HOUR)),
        r"aggregate n was Sum\(field='number'\): found Max\(field='number'\)",
    ),
    "the function of windows": (
        lambda: behind(ProcessWindow(add, INPUTS[:2], **HOUR)),
        lambda: behind(ProcessWindow(greater, INPUTS[:2], **HOUR)),
        "bolt function was the function add: found the function greater",
    ),
    "the width of windows": (
        lambda: behind(AggregateWindow({"n": ["count"]}, ["key", "number", "x"], 1, **HOUR)),
        lambda: behind(AggregateWindow({"n": ["count"]}, ["key", "number", "x"], 2, **HOUR)),
        "bolt width was 1: found 2",
    ),
    "how many fields windows have": (
        lambda: behind(ProcessWindow(add, INPUTS[:2], 1, ["a"], **HOUR)),
        lambda: behind(ProcessWindow(add, INPUTS[:2], 1, ["a", "b"], **HOUR)),
        "bolt fields was 1: found 2",
    ),
    "the bounds of windows": (
        lambda: behind(AggregateWindow({"n": ["count"]}, INPUTS[:2], **HOUR)),
        lambda: behind(AggregateWindow({"n": ["count"]}, INPUTS[:2], bounds=True, **HOUR)),
        "bolt bounds was False: found True",
    ),
    "how many fields a join has": (
        lambda: joined(join(Within("1h"))),
        lambda: joined(JoinBolt("left", "right", Within("1h"), list("abcdefg"))),
        "bolt fields was 6: found 7",
    ),
    "how many fields a J+ has": (
        lambda: joined(both("1h")),
        lambda: joined(both("1h", fields=list("abcdefg"))),
        "bolt fields was 6: found 7",
    ),
    "the function of an aggregate by key": (
        lambda: behind(AggregateByKey(add, 1, INPUTS)),
        lambda: behind(AggregateByKey(greater, 1, INPUTS)),
        "bolt function was the function add: found the function greater",
    ),
    "what makes the state of an aggregate by key": (
        lambda: behind(AggregateByKey(add, 1, INPUTS, make=int)),
        lambda: behind(AggregateByKey(add, 1, INPUTS, make=float)),
        "bolt make name was .int.: found .float.",
    ),
    "the result of an aggregate by key": (
        lambda: behind(AggregateByKey(add, 1, INPUTS)),
        lambda: behind(AggregateByKey(add, 1, INPUTS, result="operator.neg")),
        "bolt result was None: found the function _operator.neg",
    ),
    "the columns of a shared table": (
        lambda: behind(table()),
        lambda: behind(table({"b": "int64", "a": "int64"})),
        r"shared table 'accounts' columns was \[\['a', 'int64'\], \['b', 'int64'\]\]: found \[\['b'",
    ),
    "the key of a shared table": (
        lambda: behind(table()),
        lambda: behind(table(key="text")),
        "shared table 'accounts' key was 'int64': found 'text'",
    ),
    "the default of a shared table": (
        lambda: behind(table(default={"a": 1})),
        lambda: behind(table(default={"a": 2})),
        r"shared table 'accounts' default was \[1, 0\]: found \[2, 0\]",
    ),
    "a shared table that is missing": (
        lambda: behind(table()),
        lambda: behind(Bolt),
        "shared table 'accounts' is missing: name it as it was",
    ),
    "the field of the time": (
        lambda: behind(CollectingSink, of_spout={"viper.timestamp.field": "number"}),
        lambda: behind(CollectingSink, of_spout={"viper.timestamp.field": "key"}),
        "'source' field of the time was 'number': found 'key'",
    ),
    "the unit of the time": (
        lambda: behind(CollectingSink, of_spout={"viper.timestamp.unit": "s"}),
        lambda: behind(CollectingSink, of_spout={"viper.timestamp.unit": "ms"}),
        "'source' unit of the time was 's': found 'ms'",
    ),
    "the time": (
        lambda: behind(CollectingSink, spout=Line, all_settings={"viper.time": "logical"}),
        lambda: behind(CollectingSink, spout=Line, all_settings={"viper.time": "ingest"}),
        "the topology time was 'logical': found 'ingest'",
    ),
    "the form of values": (
        lambda: behind(with_state(ValueState())),
        lambda: behind(with_state(ValueState()), all_settings={"viper.values": "json"}),
        "form of values .* was 'python': found 'json'",
    ),
    "the key groups": (
        lambda: behind(with_state(ValueState())),
        lambda: behind(with_state(ValueState()), all_settings={"viper.key.groups": 64}),
        "there were 256 key groups: found viper.key.groups=64",
    ),
    "the fields that windows hold": (
        lambda: behind(Windows().with_tumbling_window(Tuples(5)), spout=typed("number")),
        lambda: behind(Windows().with_tumbling_window(Tuples(5)), spout=typed("amount")),
        r"'bolt': stream 'default' of 'source' had \(partition, number, key\): found \(partition, amount, k",
    ),
    "the fields that a reducer holds": (
        lambda: behind(ReduceByKey(add, 2, INPUTS), spout=typed_with("key", "a", "b")),
        lambda: behind(ReduceByKey(add, 2, INPUTS), spout=typed_with("key", "b", "a")),
        r"'bolt': stream 'default' of 'source' had \(key, a, b\): found \(key, b, a\)",
    ),
    "the slack of partitions": (
        lambda: behind(CollectingSink),
        lambda: behind(CollectingSink, of_spout={"viper.timestamp.slack": 5}),
        r"spout 'source' had other data, .* \(viper.timestamp.slack 5, late: error\)",
    ),
    "the slack of a spout with offsets": (
        lambda: behind(CollectingSink, spout=Line, of_spout={"viper.timestamp.field": "number"}),
        lambda: behind(
            CollectingSink,
            spout=Line,
            of_spout={"viper.timestamp.field": "number", "viper.timestamp.slack": 5},
        ),
        "put its tuples in order by viper.timestamp.slack 0 .*: found viper.timestamp.slack 5",
    ),
    "the function that makes keys": (
        lambda: behind(KeyBy(add, ["key", "a", "b", "c"])),
        lambda: behind(KeyBy(greater, ["key", "a", "b", "c"])),
        "'bolt': bolt function was the function add: found the function greater",
    ),
    "the grouping": (
        lambda: behind(with_state(ValueState())),
        lambda: by_number(with_state(ValueState())),
        r"had stream 'default' of 'source' grouped by fields\(\['key'\]\): found fields\(\['number'\]\)",
    ),
    "the data of a source": (
        lambda: behind(CollectingSink),
        lambda: behind(CollectingSink, spout=Partitions(seed=5)),
        r"spout 'source' had other data, '4 x 200, seed 0': found .* \(with other arguments: seed\)",
    ),
}
"""By name: what was built, what is to continue, and the message."""


class Line(SeekableSpout):
    outputs = FIELDS

    def __init__(self, path: str = "a.txt") -> None:
        super().__init__()

    def next_tuple(self) -> None: ...

    def offset(self) -> int:
        return 0

    def seek(self, offset: int) -> None: ...


def typed(second: str) -> Partitions:
    class Named(Partitions):
        outputs = ["partition", second, "key"]

    return Named()


def alone(bolt: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions())
    builder.set_bolt("bolt", bolt).global_grouping("source")
    return builder


def by_number(bolt: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions())
    builder.set_bolt("bolt", bolt).fields_grouping("source", "number")
    return builder


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """It is taken as it was, and refused with what was there and what was found when it has changed."""
    before, after, message = REFUSED[name]
    checkpoint = checkpoint_of(before())
    assert changes(checkpoint, before()) == []
    with pytest.raises(CheckpointError, match=rf"cannot go on from kept/checkpoint-000001: .*{message}"):
        changes(checkpoint, after())


def corrected(one: Any, other: Any) -> Any:
    return one + other if other > 0 else one


def renamed(function: Any, name: str) -> Any:
    """A function as if it had that name in the file."""
    made = FunctionType(function.__code__, function.__globals__, name, None, function.__closure__)
    made.__qualname__ = name
    return made


def constant(limit: int) -> Callable[[Any, Any], Any]:
    return renamed(lambda one, other: min(one + other, limit), "limited")


class Configured(Bolt):
    outputs = FIELDS

    def __init__(self, limit: int) -> None:
        super().__init__()

    def process(self, tup: Any) -> None:
        self.emit([tup.values.key, self.storm_conf, 0])


class Corrected(Configured):
    def process(self, tup: Any) -> None:
        self.emit([tup.values.key, self.storm_conf, 1])


Corrected.__qualname__ = "Configured"


class Dealing:
    def __init__(self, by: int = 1) -> None: ...

    def prepare(self, *args: Any) -> None: ...

    def choose_tasks(self, *args: Any) -> list[int]:
        return []


def dealt(by: int) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions())
    builder.set_bolt("bolt", Configured(1)).custom_grouping("source", Dealing, by)
    return builder


def also(*sources: str) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", Partitions())
    builder.set_bolt("between", Configured(1)).shuffle_grouping("source")
    declarer = builder.set_bolt("bolt", with_state(ValueState()))
    for source in sources:
        declarer.fields_grouping(source, "key")
    return builder


TOLD: dict[str, tuple[Make, Make, str]] = {
    "the code of a reducer": (
        lambda: behind(ReduceByKey(renamed(add, "summed"), 2, INPUTS)),
        lambda: behind(ReduceByKey(renamed(corrected, "summed"), 2, INPUTS)),
        "'bolt': bolt function: the code of the function summed has changed",
    ),
    "the name of a reducer": (
        lambda: behind(ReduceByKey(lambda one, other: one - other, 2, INPUTS)),
        lambda: behind(ReduceByKey(renamed(lambda one, other: one - other, "less"), 2, INPUTS)),
        "bolt function was the function .*<lambda>: found the function less",
    ),
    "a value in the closure of a reducer": (
        lambda: behind(ReduceByKey(constant(1), 2, INPUTS)),
        lambda: behind(ReduceByKey(constant(2), 2, INPUTS)),
        "the code of the function limited has changed",
    ),
    "the code of a bolt": (
        lambda: behind(Configured(1)),
        lambda: behind(Corrected(1)),
        "'bolt': the code of Configured has changed",
    ),
    "the class of a bolt": (
        lambda: behind(Configured(1)),
        lambda: behind(type("Other", (Configured,), {})(1)),
        "'bolt': the class was Configured: found Other",
    ),
    "an argument of a user's own": (
        lambda: behind(Configured(1)),
        lambda: behind(Configured(2)),
        "'bolt': arguments are others than before: limit",
    ),
    "an argument of a sink": (
        lambda: behind(JsonLinesSink("a.jsonl")),
        lambda: behind(JsonLinesSink("b.jsonl")),
        "'bolt': arguments are others than before: path",
    ),
    "a configuration key of a user's own": (
        lambda: behind(CollectingSink),
        lambda: behind(CollectingSink, config={"my.rows": 7}),
        "configuration key my.rows is another than before: of bolt",
    ),
    "an argument of a spout with offsets": (
        lambda: behind(CollectingSink, spout=Line("a.txt")),
        lambda: behind(CollectingSink, spout=Line("b.txt")),
        "'source': arguments are others than before: path",
    ),
    "the arguments of a custom grouping": (
        lambda: dealt(1),
        lambda: dealt(2),
        "'bolt': custom groupings are others than before: source/default",
    ),
    "a step without state": (
        lambda: behind(Select([0, 1], ["a", "b"])),
        lambda: behind(Select([0, 2], ["a", "b"])),
        r"'bolt': bolt indexes was \[0, 1\]: found \[0, 2\]",
    ),
    "a function without state": (
        lambda: behind(Map(add, ["a"])),
        lambda: behind(Map(greater, ["a"])),
        "'bolt': bolt function was the function add: found the function greater",
    ),
    "the functions of branches": (
        lambda: behind(Branch([add], ["a"])),
        lambda: behind(Branch([greater], ["a"])),
        "'bolt': bolt functions 1 was the function add: found the function greater",
    ),
    "the time to live": (
        lambda: behind(with_state(ValueState("int64", ttl=10))),
        lambda: behind(with_state(ValueState("int64", ttl=20))),
        "'bolt': state kept ttl was 10: found 20",
    ),
    "an input that is gone": (
        lambda: also("source", "between"),
        lambda: also("source"),
        "'bolt' took stream 'default' of 'between': it takes that no more",
    ),
    "an input that is new": (
        lambda: also("source"),
        lambda: also("source", "between"),
        "'bolt' takes stream 'default' of 'between': it did not before",
    ),
    "the ticks of a bolt without state": (
        lambda: behind(type("T", (Configured,), {"process_tick": _process})(1), config={TICKS: 1}),
        lambda: behind(type("T", (Configured,), {"process_tick": _process})(1), config={TICKS: 2}),
        "'bolt' seconds between ticks was 1: found 2",
    ),
    "the answer to an exception": (
        lambda: behind(Configured(1)),
        lambda: behind(Configured(1), config={"viper.on.error": "skip"}),
        "'bolt' answer to an exception was None: found 'skip'",
    ),
    "a field that no window reads": (
        lambda: behind(aplus(Sum("number")), spout=typed_with("number", "key")),
        lambda: behind(aplus(Sum("number")), spout=typed_with("number", "key", "more")),
        r"'bolt': stream 'default' of 'source' had \(number, key\): found \(number, key, more\)",
    ),
    "the order of components": (
        lambda: joined(Configured(1)),
        lambda: exchanged(Configured(1)),
        r"the topology order of components was \[.left., .right., .bolt.\]: found \[.right., .left., .bo",
    ),
}
"""By name: what was built, what continues, and what is told."""


def typed_with(*fields: str) -> Partitions:
    class Named(Partitions):
        outputs = [Stream([*fields])]

    return Named()


def exchanged(bolt: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    for name in ("right", "left"):
        builder.set_spout(name, Partitions())
    declarer = builder.set_bolt("bolt", bolt)
    for name in ("left", "right"):
        declarer.fields_grouping(name, "key")
    return builder


@pytest.mark.parametrize("name", TOLD)
def test_what_is_told(name: str) -> None:
    """It continues, and says what is not as it was."""
    import re

    before, after, message = TOLD[name]
    checkpoint = checkpoint_of(before())
    assert changes(checkpoint, before()) == []
    told = changes(checkpoint, after())
    assert [change for change in told if re.search(message, change)], told


TAKEN: dict[str, tuple[Make, Make]] = {
    "a length in another unit": (
        lambda: behind(aplus(Sum("number"))),
        lambda: behind(aplus(Sum("number"), size="60m", advance=3_600_000_000)),
    ),
    "a condition as YAML has it": (
        lambda: joined(join(Equal("key") & Within("1h"))),
        lambda: joined(join({"equal": "key", "within": "60m"})),
    ),
    "a condition in another order": (
        lambda: joined(join(Equal("key", "number") & Within("1h"))),
        lambda: joined(join(Within("1h") & Equal("number") & Equal("key"))),
    ),
    "an index, and how columns are compared": (
        lambda: joined(join(Equal("key") & Within("1h"))),
        lambda: joined(join(Equal("key") & Within("1h"), index="key", scan="numpy")),
    ),
    "a function by its path": (
        lambda: behind(ReduceByKey(operator.add, 2, INPUTS)),
        lambda: behind(ReduceByKey("operator.add", 2, INPUTS)),
    ),
    "names of what is put out": (
        lambda: behind(CountByKey(["key", "n"])),
        lambda: behind(CountByKey(["key", "count"])),
    ),
    "room and workers": (
        lambda: behind(table()),
        lambda: behind(table(rows=99), all_settings={"viper.slice.tuples": 7, "viper.state.bytes": 1 << 24}),
    ),
    "an offset of whole intervals more": (
        lambda: behind(aplus(Sum("number"), offset="5m")),
        lambda: behind(aplus(Sum("number"), offset="-55m")),
    ),
    "days of a zone in other words": (
        lambda: behind(aplus(Sum("number"), size="7d", zone="Europe/Berlin")),
        lambda: behind(aplus(Sum("number"), size=timedelta(days=7), zone=ZoneInfo("Europe/Berlin"))),
    ),
    "where values live": (
        lambda: behind(with_state(ValueState(default={}, durable="checkpoint"))),
        lambda: behind(with_state(ValueState(default={}))),
    ),
}
"""By name: what was built, and what means the same."""


@pytest.mark.parametrize("name", TAKEN)
def test_what_means_the_same_is_taken(name: str) -> None:
    before, after = TAKEN[name]
    assert changes(checkpoint_of(before()), after()) == []


def test_the_rules_of_a_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time zone database in which a zone has other changes than in the one of the checkpoint."""

    def built(zone: str) -> TopologyBuilder:
        return behind(aplus(Sum("number"), size="1d", zone=zone))

    kept, other = checkpoint_of(built("Europe/Berlin")), checkpoint_of(built("Asia/Tokyo"))
    known = Zone.offset_us
    changed_us = 2_000_000_000 * 10**6

    def offset_us(self: Zone, instant_us: int) -> int:
        is_other = self.name == "Europe/Berlin" and instant_us >= changed_us
        return known(self, instant_us) + (3_600_000_000 if is_other else 0)

    monkeypatch.setattr(Zone, "offset_us", offset_us)
    zones._rules_of.cache_clear()
    try:
        rules = r"Europe/Berlin \(rules .* of the machine's tzdata\)"
        with pytest.raises(CheckpointError, match=f'windows zone was "{rules}": found "{rules}"'):
            changes(kept, built("Europe/Berlin"))
        assert changes(other, built("Asia/Tokyo")) == []
    finally:
        zones._rules_of.cache_clear()


class TestRenaming:
    """The comparison follows new names."""

    def test_a_join(self) -> None:
        def built(left: str, hours: int) -> TopologyBuilder:
            builder = TopologyBuilder()
            for name in (left, "right"):
                builder.set_spout(name, Partitions())
            bolt = JoinBolt(f"{left}:default", "right", Equal("key") & Within(f"{hours}h"), list("abcdef"))
            declarer = builder.set_bolt("bolt", bolt)
            for name in (left, "right"):
                declarer.fields_grouping(name, "key")
            return builder

        checkpoint = checkpoint_of(built("left", 1))
        assert changes(checkpoint, built("orders", 1), {"left": "orders"}) == []
        with pytest.raises(CheckpointError, match=r"from 1h before to 1h after.*: found .*from 2h before"):
            changes(checkpoint, built("orders", 2), {"left": "orders"})

    def test_a_custom_grouping(self) -> None:
        def built(source: str) -> TopologyBuilder:
            builder = TopologyBuilder()
            builder.set_spout(source, Partitions())
            builder.set_bolt("bolt", Configured(1)).custom_grouping(source, Dealing, 1)
            return builder

        assert changes(checkpoint_of(built("source")), built("rows"), {"source": "rows"}) == []

    def test_a_state_and_its_bolt(self) -> None:
        def built(id: str, name: str, default: int) -> TopologyBuilder:
            cls = type("K", (Bolt,), {name: ValueState("int64", default), "process": _process})
            builder = TopologyBuilder()
            builder.set_spout("source", Partitions())
            builder.set_bolt(id, cls).fields_grouping("source", "key")
            return builder

        checkpoint, rename = checkpoint_of(built("a", "x", 1)), {"a": "b", "a.x": "b.y"}
        assert changes(checkpoint, built("b", "y", 1), rename) == []
        with pytest.raises(CheckpointError, match="'b': state y default was 1: found 2"):
            changes(checkpoint, built("b", "y", 2), rename)


class TestTheVersionBefore:
    """A checkpoint that does not say what windows and others mean."""

    def test_values_are_taken_and_it_is_told(self) -> None:
        checkpoint = checkpoint_of(behind(with_state(ValueState("int64"))))
        del checkpoint.content["fingerprints"]  # type: ignore[attr-defined]
        (told,) = changes(checkpoint, behind(with_state(ValueState("int64"))))
        assert told.startswith("it is in version 2 of the format, so defaults and functions of states")

    @pytest.mark.parametrize(
        ("built", "message"),
        [
            (lambda: behind(aplus(Sum("number"))), "bolt.window_state is a key window, and version 2"),
            (lambda: joined(join(Equal("key") & Within("1h"))), "bolt.joined is a join, and version 2"),
            (lambda: behind(Windows().with_tumbling_window(Tuples(5))), "bolt.window_contents is a window"),
            (lambda: behind(with_state(ReducingState("int64", add))), "bolt.kept is a reducing, and version"),
            (lambda: behind(table()), "shared table 'accounts': version 2 of the format does not say"),
            (lambda: behind(Batches, config={TICKS: 1}, all_settings=EXACT), "batch_contents is a batch"),
        ],
    )
    def test_what_is_made_of_parameters_is_refused(self, built: Make, message: str) -> None:
        checkpoint = checkpoint_of(built())
        del checkpoint.content["fingerprints"]  # type: ignore[attr-defined]
        with pytest.raises(CheckpointError, match=message):
            changes(checkpoint, built())


def test_another_python_compares_no_code() -> None:
    checkpoint = checkpoint_of(behind(ReduceByKey(renamed(add, "summed"), 2, INPUTS)))
    checkpoint.content["fingerprints"]["python"] = "3.9"
    told = changes(checkpoint, behind(ReduceByKey(renamed(corrected, "summed"), 2, INPUTS)))
    assert len(told) == 1 and told[0].startswith("code is not compared: the checkpoint was written by Pyth")


def test_another_version_of_the_program_is_told() -> None:
    """A parameter that it did not know is no reason to refuse."""
    checkpoint = checkpoint_of(behind(Op))
    checkpoint.content["fingerprints"]["version"] = "0.0.1"
    del checkpoint.content["fingerprints"]["components"]["bolt"]["things"]["bolt"]["windows"]
    told = changes(checkpoint, behind(Op))
    assert told[0] == "'bolt': bolt windows was None: found 'multi'"
    assert told[1].startswith("ViperStorm 0.0.1 has written it, and this is ")
    with pytest.raises(CheckpointError, match="windows length was '1h': found '2h'"):
        changes(checkpoint, behind(Op(size="2h")))


def test_stateful_bolts_have_no_parameters() -> None:
    class Remembering(StatefulBolt):
        outputs: ClassVar[list[str]] = ["x"]

        def init_state(self, state: Any) -> None: ...

    assert changes(checkpoint_of(behind(Remembering)), behind(Remembering)) == []

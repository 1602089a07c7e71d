"""The output of a backfill's stages, in this process and without Spark, against a run on one machine."""

from __future__ import annotations

import random
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow")

from framework import Block, Bolt, StreamBuilder, TopologyBuilder, ValueState, Watermark
from framework.model.errors import ComponentError, ViperError
from spark_ingest.backfill.errors import ShardError
from spark_ingest.backfill.planned import plan_shards
from spark_ingest.backfill.shapes import Output
from spark_ingest.backfill.wire import POSITION
from tests.portions import at_every_change
from tests.spark_ingest.backfill.components import Events, Large, PerItem, Sums
from tests.spark_ingest.backfill.engine import Engine
from tests.spark_ingest.backfill.recorded import Placed, difference, recorded
from tests.spark_ingest.backfill.topologies import SHOP, Shop, seeded
from viper.errors import OrderError
from viper.position import Level, Position, Positions


def backfilled(
    topology: object, outputs: tuple[str, ...], shards: int, **bugs: Any
) -> dict[str, list[Placed]]:
    wanted = [Output.parse(name) for name in outputs]
    return Engine(plan_shards(topology, wanted, options={}), shards, **bugs).run(wanted)


def differences(
    topology: object, path: Path, outputs: tuple[str, ...], shards: int, **bugs: Any
) -> list[str]:
    local = recorded(topology, path)
    made = backfilled(topology, outputs, shards, **bugs)
    found = {name: difference(made[name], local[name]) for name in outputs}
    return [f"{name}: {text}" for name, text in found.items() if text is not None]


@pytest.mark.few(2)
@pytest.mark.parametrize("shards", [1, 2, 3, 4])
def test_every_stream_equals_the_run_on_one_machine(tmp_path: Path, shards: int) -> None:
    assert differences(Shop, tmp_path / "recording", SHOP, shards) == []


def test_the_streams_are_no_empty_ones() -> None:
    assert {name: len(rows) > 100 for name, rows in backfilled(Shop, SHOP, 2).items()} == dict.fromkeys(
        SHOP, True
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", at_every_change(range(40), 5))
def test_random_shapes_rows_and_shards(tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    shards, batch = drawn.randint(1, 5), drawn.choice((1, 3, 50, 5000))
    found = differences(seeded(seed), tmp_path / "recording", SHOP, shards, batch=batch, drawn=drawn)
    assert found == [], f"seed {seed}: {shards} shards, batches of {batch}"


class Remembers(Sums):
    """The sum so far of a user, as declared state."""

    total = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.total.value += tup.values.amount
        self.emit([str(tup.values.user), self.total.value, tup.values.id])


@pytest.mark.parametrize("shards", [1, 3])
def test_declared_state_is_by_key_in_shards_as_well(tmp_path: Path, shards: int) -> None:
    builder = StreamBuilder()
    users = builder.new_stream(Events, name="events").key_by("user", name="users")
    users.count_by_key(par=2, name="counts").key_by("user").reduce_by_key(max, name="most")
    users.to(Remembers, par=2, name="sums")
    outputs = ("counts", "most", "sums")
    assert differences(builder.build("kept"), tmp_path / "recording", outputs, shards) == []


class TestPlantedBugs:
    """The comparison would find them."""

    def test_sorted_by_time_only(self) -> None:
        """Not even the comparison is needed: a bolt's input has to be in order."""
        with pytest.raises(OrderError):
            backfilled(Shop, SHOP, 2, sort_key=lambda row: row[POSITION][:8])

    def test_positions_that_begin_anew_in_each_shard(self, tmp_path: Path, monkeypatch: Any) -> None:
        ordinals = iter(range(1, 10**9))

        def placed(positions: Positions, times: Any, clock: Any, level: Level) -> int:
            for ts in times:
                positions.append(Position(ts, 0, next(ordinals)))
            return len(times)

        monkeypatch.setattr(
            "spark_ingest.backfill.spouts.Positions", type("Other", (Positions,), {"extend_timed": placed})
        )
        local = recorded(Shop, tmp_path / "recording")
        assert difference(backfilled(Shop, ("large",), 2)["large"], local["large"]) is not None

    def test_one_key_in_two_shards(self, tmp_path: Path) -> None:
        turns = iter(range(10**9))
        found = differences(
            Shop, tmp_path / "recording", SHOP, 2, shard_of=lambda bucket, shards: next(turns) % shards
        )
        assert any(text.startswith("sums") for text in found)


class SaysHowFar(Events):
    """Tells before and after each block that nothing earlier comes any more."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        for block in super().blocks(partition, start_us):
            if isinstance(block, Block):
                yield Watermark(block.times[0])
                yield block
                yield Watermark(block.times[-1])


class Uneven(Events):
    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | None]:
        yield Block(array("q", [1, 2]), [("a", "ann", 1, 99)])


class Broken(Events):
    """Brings what is no block, or raises."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        if self._what == "initialize":
            raise OSError("no source")

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Any]:
        if self._what == "tuple":
            yield (array("q", [1]), [("a", "ann", 1, 99)], False)
        raise OSError("the source is gone")


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("tuple", "spout 'events', partition 0: blocks gave a tuple: expected a Block, a Watermark or None"),
        ("blocks", "component 'events', task [0-9], in blocks: OSError: the source is gone"),
        ("initialize", "component 'events', task [0-9], in initialize: OSError: no source"),
    ],
)
def test_a_spout_that_fails(what: str, message: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", Broken(what))
    builder.set_bolt("bolt", Sums).fields_grouping("events", "user")
    with pytest.raises(ViperError, match=message):
        backfilled(builder, ("bolt",), 2)


def test_watermarks_have_no_position(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", SaysHowFar, 2)
    builder.set_bolt("bolt", Sums).fields_grouping("events", "user")
    assert differences(builder, tmp_path / "recording", ("bolt",), 2) == []
    plain = TopologyBuilder()
    plain.set_spout("events", Events, 2)
    plain.set_bolt("bolt", Sums).fields_grouping("events", "user")
    assert backfilled(builder, ("bolt",), 2) == backfilled(plain, ("bolt",), 2)


def test_which_shard_a_key_is_in_does_not_show() -> None:
    others = backfilled(Shop, SHOP, 3, shard_of=lambda bucket, shards: (bucket * 7 + 1) % shards)
    assert others == backfilled(Shop, SHOP, 3)


@pytest.mark.parametrize("batch", at_every_change([5, 1], daily=True))
def test_batches_do_not_show(batch: int) -> None:
    assert backfilled(Shop, SHOP, 2, batch=batch) == backfilled(Shop, SHOP, 2, batch=10_000)


def test_components_that_no_output_needs_are_not_run() -> None:
    planned = plan_shards(Shop, [Output("items")], options={})
    assert [stage.component for stage in planned.stages] == ["events", "large", "items"]


class Fails(Bolt):
    outputs = ["id"]

    def process(self, tup: Any) -> None:
        if tup.values.amount == 99:
            raise ValueError("too much")
        self.emit([tup.values.id])


class Ahead(Bolt):
    outputs = ["id"]

    def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
        self.emit(["first"])

    def process(self, tup: Any) -> None:
        pass


class ByObject(Bolt):
    outputs = ["key"]

    def process(self, tup: Any) -> None:
        self.emit([object()])


class Many(Bolt):
    outputs = ["n"]

    def process(self, tup: Any) -> None:
        for n in range(20_000):
            self.emit([n])


def one_bolt(bolt: type, **spout: Any) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("events", Events, kwargs=spout)
    builder.set_bolt("bolt", bolt).fields_grouping("events", "user")
    return builder


class TestWhatGoesWrong:
    def test_a_bolt_that_raises(self) -> None:
        with pytest.raises(
            ComponentError, match=r"component 'bolt'.*in process: ValueError: too much\n.*amount=99"
        ):
            backfilled(one_bolt(Fails, rows=2000), ("bolt",), 2)

    def test_a_block_with_more_times_than_rows(self) -> None:
        builder = TopologyBuilder()
        builder.set_spout("events", Uneven)
        builder.set_bolt("bolt", Sums).fields_grouping("events", "user")
        with pytest.raises(ShardError, match="spout 'events', partition 0: a block with 2 times for 1 rows"):
            backfilled(builder, ("bolt",), 2)

    def test_emits_in_initialize(self) -> None:
        with pytest.raises(ShardError, match="bolt 'bolt' emits outside of process"):
            backfilled(one_bolt(Ahead), ("bolt",), 2)

    def test_a_key_without_a_hash(self) -> None:
        builder = one_bolt(ByObject)
        builder.set_bolt("after", Large).fields_grouping("bolt", "key")
        builder.set_bolt("sums", PerItem).fields_grouping("bolt", "key")
        said = r"component 'bolt', stream 'default', grouped by \['key'\]: .* is no key for a grouping"
        with pytest.raises(ShardError, match=said):
            backfilled(builder, ("sums",), 2)


@pytest.mark.slow(daily=True)
def test_many_outputs_for_one_input(tmp_path: Path) -> None:
    assert differences(one_bolt(Many, partitions=1, rows=5), tmp_path / "recording", ("bolt",), 2) == []


def test_positions_without_room() -> None:
    builder = TopologyBuilder()
    builder.set_spout("events", Events, kwargs={"rows": 5})
    before = "events"
    for depth in range(30):
        name = f"bolt{depth}"
        builder.set_bolt(name, Sums).fields_grouping(before, "user")
        before = name
    builder.set_bolt("many", Many).fields_grouping(before, "user")
    with pytest.raises(ShardError, match="no room is left in the positions"):
        backfilled(builder, ("many",), 2)


def test_components_of_streamparse(tmp_path: Path) -> None:
    streamparse = pytest.importorskip("streamparse")

    class PortedSums(streamparse.Bolt):  # type: ignore[misc, name-defined]
        outputs = ["user", "sum"]

        def initialize(self, conf: dict[str, Any], context: dict[str, Any]) -> None:
            self.sums: dict[Any, int] = {}

        def process(self, tup: Any) -> None:
            user, amount = tup.values[1], tup.values[3]
            self.sums[user] = self.sums.get(user, 0) + amount
            self.emit([str(user), self.sums[user]])

    builder = TopologyBuilder()
    builder.set_spout("events", Events, 2)
    builder.set_bolt("ported", PortedSums, 3).fields_grouping("events", "user")
    assert differences(builder, tmp_path / "recording", ("ported",), 3) == []

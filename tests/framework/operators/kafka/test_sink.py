"""Topics as targets, on a real broker: each message once, whatever is killed."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from framework import Spout, TopologyBuilder, run
from framework.model.errors import SinkError, ViperError
from framework.operators.kafka import KafkaSink, KafkaSource
from tests.framework.operators.kafka.broker import Broker
from tests.framework.operators.kafka.killed import STEPS, KilledSink, Total

START_MS = 1_700_000_000_000
USERS = 7


class Rows(Spout):
    """Emits given rows."""

    outputs = ["user", "cents"]

    def __init__(self, rows: list[Any]) -> None:
        super().__init__()
        self._rows = rows

    def tuples(self) -> Any:
        yield from self._rows


def written(broker: Broker, topic: str, rows: list[Any], tmp_path: Path, **options: Any) -> list[Any]:
    """The messages of the topic, once rows were written there."""
    builder = TopologyBuilder()
    builder.set_spout("rows", Rows(rows))
    sink = KafkaSink(topic, broker.servers, staging=str(tmp_path / "staging"), **options)
    builder.set_bolt("out", sink).global_grouping("rows")
    run(builder)
    return [message for part in broker.read(topic) for message in part]


def test_rows_are_objects_with_a_key(broker: Broker, topic: str, tmp_path: Path) -> None:
    rows = [["ä", 1], ["b", None], [None, 2]]
    found = written(broker, topic, rows, tmp_path, key="user")
    assert sorted(found, key=lambda one: one[0] or b"") == [
        (None, b'{"user":null,"cents":2}'),
        (b"b", b'{"user":"b","cents":null}'),
        ("ä".encode(), '{"user":"ä","cents":1}'.encode()),
    ]


def test_other_clients_find_a_key_in_the_same_partition(broker: Broker, topic: str, tmp_path: Path) -> None:
    """The oracle is librdkafka's own partitioner by the hash of Java's client."""
    rows = [[f"user {number}", number] for number in range(50)]
    written(broker, topic, rows, tmp_path, key="user")
    other = broker.another()
    keys = [{"key": user.encode(), "value": b""} for user, _ in rows]
    broker.put(other, keys, partitioner="murmur2_random")
    ours, theirs = broker.read(topic), broker.read(other)
    assert [[key for key, _ in part] for part in ours] == [[key for key, _ in part] for part in theirs]


def test_a_function_makes_the_value(broker: Broker, topic: str, tmp_path: Path) -> None:
    def encode(user: str, cents: int) -> bytes | None:
        return None if cents == 0 else f"{user}={cents}".encode()

    found = written(broker, topic, [["a", 1], ["a", 0]], tmp_path, key="user", encode=encode)
    assert found == [(b"a", b"a=1"), (b"a", None)]


def test_a_row_that_no_message_can_be_is_refused_when_it_comes(
    broker: Broker, topic: str, tmp_path: Path
) -> None:
    with pytest.raises(ViperError, match=r"ValueError|Out of range float"):
        written(broker, topic, [["a", float("nan")]], tmp_path)
    small = broker.another(**{"max_message_bytes": 2000})
    with pytest.raises(ViperError, match=r"it has 3,0\d\d bytes, and topic .* takes 1,488"):
        written(broker, small, [["a" * 3000, 1]], tmp_path)
    assert broker.read(topic) == broker.read(small) == [[], [], []]


def test_the_largest_message_that_is_taken_is_written(broker: Broker, tmp_path: Path) -> None:
    small = broker.another(**{"max_message_bytes": 2000})
    beside = len(b'{"user":"","cents":1}')
    assert len(written(broker, small, [["a" * (1488 - beside), 1]], tmp_path)) == 1


@pytest.mark.parametrize("step", STEPS)
def test_each_message_comes_once_whatever_is_killed(
    broker: Broker, topic: str, tmp_path: Path, step: str
) -> None:
    found = [{"user": f"u{number % USERS}", "cents": number} for number in range(3000)]
    rows = [(number % 3, START_MS + number, one) for number, one in enumerate(found)]
    broker.put_rows(topic, rows)
    out = broker.another()
    builder = TopologyBuilder()
    source = KafkaSource(topic, broker.servers, "json", ["user", "cents"], until="latest")
    builder.set_spout("orders", source, 2)
    builder.set_bolt("total", Total, 2).fields_grouping("orders", "user")
    sink = KilledSink(out, broker.servers, step, str(tmp_path))
    builder.set_bolt("out", sink, 2).fields_grouping("total", "user")
    conf = {"viper.checkpoint.secs": 0.05, "viper.recovery": "exact"}
    run(builder, worker="process", workers=2, checkpoints=tmp_path / "checkpoints", conf=conf)
    assert (tmp_path / "killed").exists()
    assert totals(broker.objects(out)) == expected(rows)


def totals(objects: list[Any]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for one in objects:
        found[one["user"]].append(one["total"])
    return found


def expected(rows: list[Any]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for _, _, one in rows:
        found[one["user"]].append(one["cents"] + (found[one["user"]] or [0])[-1])
    return found


def test_a_number_that_the_broker_has_forgotten_is_known_here(
    broker: Broker, topic: str, tmp_path: Path
) -> None:
    sink = opened(broker, topic, tmp_path)
    sink.apply(sink.part, 7, iter([(b"k", b"v", 0)]))
    assert sink.applied(sink.part) == 7
    path = next((tmp_path / "staging" / "kafka-numbers").iterdir())
    note = path.read_text()
    sink.forget(sink.part)
    assert sink.applied(sink.part) is None
    path.write_text(note)
    assert sink.applied(sink.part) == 7
    sink.consume([("a", 1)])
    sink.cut(8)
    with pytest.raises(SinkError, match=r"no longer knows the number.*rows of checkpoint 8 may have"):
        sink.applied(sink.part)
    for number in (7, 8):  # as the message says: they are not there, or they are
        path.write_text(json.dumps({"number": number, "known": True}))
        assert sink.applied(sink.part) == number
    path.write_text("{}")
    with pytest.raises(SinkError, match="does not say which checkpoint was written last"):
        sink.applied(sink.part)
    sink.close()


def test_a_second_run_ends_the_first(broker: Broker, topic: str, tmp_path: Path) -> None:
    """Of two that write under one name, only the later one can."""
    first, second = opened(broker, topic, tmp_path / "a"), opened(broker, topic, tmp_path / "b")
    first.apply(first.part, 1, iter([(b"k", b"1", 0)]))
    assert second.applied(second.part) == 1
    with pytest.raises(SinkError, match="another run writes under the same name, or the transaction"):
        first.apply(first.part, 2, iter([(b"k", b"2", 0)]))
    second.apply(second.part, 2, iter([(b"k", b"3", 0)]))
    assert [value for part in broker.read(topic) for _, value in part] == [b"1", b"3"]


def opened(broker: Broker, topic: str, folder: Path) -> KafkaSink:
    sink = KafkaSink(topic, broker.servers, ["user", "cents"], staging=str(folder / "staging"))
    sink.wait_for_checkpoints(True)
    sink.initialize({"viperstorm.sink.run": f"run of {topic}"}, {})
    return sink


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": ["user"], "key": "id"}, "unknown field 'id'"),
        ({"columns": ["a", "b"], "encode": "utf8"}, "encode='utf8' writes one value"),
        ({"columns": ["a"], "encode": "xml"}, "encode is 'xml': expected"),
        ({"transaction_secs": 0}, "transaction_secs is 0: expected 1 to 900"),
        ({"acks": 1}, "unknown option 'acks'"),
        ({"client": {"transactional.id": "x"}}, "'transactional.id' is not to be set here"),
    ],
)
def test_arguments_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(SinkError, match=message):
        KafkaSink("topic", "127.0.0.1:1", **options)

"""Topics as sources, on a real broker: the rows that come of them, their order, and what may be missing."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from framework import Bolt, TopologyBuilder, run
from framework.model.errors import ComponentError, SourceError, ViperError
from framework.operators.kafka import KafkaSource
from framework.operators.kafka.reader import Reader
from framework.operators.sinks import CollectingSink
from tests.framework.operators.kafka.broker import Broker

START_MS = 1_700_000_000_000
Row = tuple[int, int, dict[str, Any]]
"""The partition of a message, its time in milliseconds, and its object."""


def drawn(seed: int, count: int, jitter: int = 0, apart_ms: int = 0) -> list[Row]:
    """Messages of three partitions, whose times rise but for the jitter; many are equal."""
    chance, rows = random.Random(seed), []
    times = [START_MS + number * apart_ms for number in range(3)]
    for number in range(count):
        partition = chance.randrange(3)
        times[partition] += chance.choice([0, 0, 1, 5])
        time_ms = times[partition] - chance.randrange(jitter + 1)
        rows.append((partition, time_ms, {"n": number, "p": partition}))
    return rows


def in_order(rows: Sequence[Row]) -> list[tuple[int, int]]:
    """By time, then by partition, then as they came: the order of the guarantee."""
    return [(found["n"], found["p"]) for _, _, found in sorted(rows, key=lambda row: (row[1], row[0]))]


def collected(source: KafkaSource, par: int = 1, stream: str = "default", **options: Any) -> list[Any]:
    """The rows that a run brings."""
    builder = TopologyBuilder()
    builder.set_spout("source", source, par)
    builder.set_bolt("sink", CollectingSink).global_grouping("source", stream)
    found: list[Any] = run(builder, **options).result("sink")
    return found


def source_of(broker: Broker, topic: str | list[str], **options: Any) -> KafkaSource:
    """A source of objects with the fields n and p, up to what is there."""
    given = {"decode": "json", "fields": ["n", "p"], "until": "latest", **options}
    return KafkaSource(topic, broker.servers, given.pop("decode"), given.pop("fields"), **given)


@pytest.mark.parametrize("par", [1, 2, 5])
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.filterwarnings("ignore")
def test_the_same_offsets_give_the_same_rows(broker: Broker, topic: str, par: int, typed: bool) -> None:
    """With partitions that lie an hour apart, too: none is read far ahead of the others."""
    rows = drawn(1, 3000, apart_ms=3_600_000)
    broker.put_rows(topic, rows)
    types = {"n": "int64", "p": "int64"}
    assert collected(source_of(broker, topic, types=types, typed=typed), par) == in_order(rows)


def test_a_partition_that_is_far_ahead_is_not_read_on(
    broker: Broker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of the first one comes before the others; so these are held, and no more of them is fetched."""
    monkeypatch.setattr("framework.operators.kafka.reader.AT_ONCE", 50)
    monkeypatch.setattr("framework.operators.kafka.reader.MOST_HELD", 100)
    held: list[int] = []
    go_on = Reader._go_on

    def seen(self: Reader, name: str, partition: int) -> None:
        held.append(max(map(len, self._held.values())))
        go_on(self, name, partition)

    monkeypatch.setattr(Reader, "_go_on", seen)
    rows = drawn(6, 3000, apart_ms=3_600_000)
    broker.put_rows(topic, rows)
    assert collected(source_of(broker, topic)) == in_order(rows)
    assert 50 < max(held) <= 150


def test_an_idle_partition_is_passed_over_and_may_be_late(broker: Broker, topic: str) -> None:
    """Its message comes behind one that has been let go meanwhile, and counts as late."""
    broker.put_rows(topic, [(0, START_MS + 5, {"n": 1, "p": 0})])
    builder = TopologyBuilder()
    builder.set_spout("source", source_of(broker, topic, until=None, idle_secs=0.2))
    builder.set_bolt("late", Answering, args=[broker.servers, topic]).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    report = run(builder, conf={"viper.timestamp.late": "admit"}, max_tuples=2)
    assert report.result("sink") == [(1, 0), (2, 1)]
    assert report.components["source"].late == 1


class Answering(Bolt):
    """Writes an earlier message into another partition, as soon as the first one has come."""

    def __init__(self, servers: str, topic: str) -> None:
        super().__init__()
        self._where = servers, topic

    def process(self, tup: Any) -> None:
        from confluent_kafka import Producer

        servers, topic = self._where
        if tup.values[0] == 1:
            producer = Producer({"bootstrap.servers": servers})
            producer.produce(topic, b'{"n":2,"p":1}', partition=1, timestamp=START_MS)
            producer.flush(30)


def test_processes_bring_the_same(broker: Broker, topic: str) -> None:
    rows = drawn(2, 2000)
    broker.put_rows(topic, rows)
    assert collected(source_of(broker, topic), 3, worker="process", workers=2) == in_order(rows)


def test_times_that_fall_are_put_in_order(broker: Broker, topic: str) -> None:
    rows = drawn(3, 2000, jitter=50)
    broker.put_rows(topic, rows)
    conf = {"viper.timestamp.slack": 50}
    assert collected(source_of(broker, topic), 2, conf=conf) == in_order(rows)
    with pytest.raises(ViperError, match=rf"{topic}\[\d\]@\d+: event time goes back.*viper.timestamp.slack"):
        collected(source_of(broker, topic))


def test_a_field_may_be_the_time(broker: Broker, topic: str) -> None:
    broker.put_rows(topic, [(0, START_MS, {"n": 1, "p": 7}), (1, START_MS, {"n": 2, "p": 5})])
    assert collected(source_of(broker, topic, timestamp="p", unit="s")) == [(2, 5), (1, 7)]


def test_rows_have_what_is_asked_of_their_messages(broker: Broker, topic: str) -> None:
    message = {"value": b"a", "key": b"k", "headers": [("h", b"1")]}
    broker.put(topic, [{**message, "partition": 1, "timestamp": START_MS}])
    metadata = ["topic", "partition", "offset", "key", "timestamp", "headers"]
    source = KafkaSource(topic, broker.servers, metadata=metadata, until="latest")
    assert collected(source) == [("a", topic, 1, 0, b"k", START_MS * 1000, (("h", b"1"),))]


def test_a_tombstone_has_none_for_values(broker: Broker, topic: str) -> None:
    tombstone = {"value": None, "key": b"k", "partition": 0}
    broker.put(topic, [tombstone, {"value": b'{"n":1,"p":2}', "partition": 0}])
    assert collected(source_of(broker, topic, metadata=["key"])) == [(None, None, b"k"), (1, 2, None)]
    refused = rf"{topic}\[0\]@0: it has no value \(a tombstone\), and 'n' is int64"
    with pytest.raises(ViperError, match=refused):
        collected(source_of(broker, topic, types={"n": "int64 not null", "p": "int64"}, typed=True))


def test_a_run_begins_and_ends_where_it_is_told(broker: Broker, topic: str) -> None:
    rows = [(0, START_MS + number, {"n": number, "p": 0}) for number in range(10)]
    broker.put_rows(topic, rows)
    bounds = {"start": {0: 3, 1: 0, 2: 0}, "until": {"0": 6, "1": 0, "2": 0}}
    assert [n for n, _ in collected(source_of(broker, topic, **bounds))] == [3, 4, 5]
    assert [n for n, _ in collected(source_of(broker, topic, start=START_MS + 7))] == [7, 8, 9]
    assert collected(source_of(broker, topic, start="latest")) == []
    with pytest.raises(ViperError, match=rf"until: {topic}\[1\] has None there: expected an offset for each"):
        collected(source_of(broker, topic, until={0: 6}))


def test_the_end_is_seen_behind_a_transaction_that_was_aborted(broker: Broker, topic: str) -> None:
    from confluent_kafka import Producer

    producer = Producer({"bootstrap.servers": broker.servers, "transactional.id": f"{topic}-aborts"})
    producer.init_transactions(30)
    for commits in (True, False):
        producer.begin_transaction()
        producer.produce(topic, json.dumps({"n": int(commits), "p": 0}).encode(), partition=0)
        producer.flush(30)
        producer.commit_transaction(30) if commits else producer.abort_transaction(30)
    assert collected(source_of(broker, topic)) == [(1, 0)]
    uncommitted = collected(source_of(broker, topic, isolation="read_uncommitted"))
    assert uncommitted == [(1, 0), (0, 0)]


def test_several_topics_are_merged(broker: Broker) -> None:
    first, second = broker.another(2), broker.another(1)
    broker.put_rows(first, [(1, START_MS + 1, {"n": 1, "p": 1}), (0, START_MS + 3, {"n": 3, "p": 0})])
    broker.put_rows(second, [(0, START_MS + 2, {"n": 2, "p": 0})])
    assert [n for n, _ in collected(source_of(broker, [first, second]))] == [1, 2, 3]


# -- messages that cannot be decoded


def test_a_malformed_message_ends_the_run(broker: Broker, topic: str) -> None:
    broker.put(topic, [{"value": b"{}", "partition": 2}, {"value": b"[", "partition": 2}])
    with pytest.raises(ViperError, match=rf"{topic}\[2\]@0: no 'n' in {{}}.*on_malformed='skip' leaves"):
        collected(source_of(broker, topic))


def test_malformed_messages_are_left_out_or_emitted(broker: Broker, topic: str) -> None:
    good, bad = b'{"n":1,"p":1}', b"\xff"
    broker.put(topic, [{"value": value, "partition": 0} for value in (bad, good, bad, good)])
    assert collected(source_of(broker, topic, on_malformed="skip")) == [(1, 1), (1, 1)]
    assert collected(source_of(broker, topic, on_malformed="stream")) == [(1, 1), (1, 1)]
    found = collected(source_of(broker, topic, on_malformed="stream"), stream="malformed")
    assert [row[:4] for row in found] == [(topic, 0, 0, bad), (topic, 0, 2, bad)]
    assert all("UnicodeDecodeError" in row[4] or "utf-8" in row[4] for row in found)


# -- offsets that are gone


def test_an_offset_that_is_gone_is_refused(broker: Broker, topic: str) -> None:
    rows = [(0, START_MS + number, {"n": number, "p": 0}) for number in range(10)]
    broker.put_rows(topic, rows)
    broker.cut_off(topic, 0, 4)
    bounds = {"start": {0: 2, 1: 0, 2: 0}}
    gone = rf"{topic}\[0\]: offset 2 is gone: the broker has 4 to 10 \(retention\)"
    with pytest.raises(ViperError, match=gone):
        collected(source_of(broker, topic, **bounds))
    found = collected(source_of(broker, topic, on_lost="earliest", **bounds))
    assert [n for n, _ in found] == [4, 5, 6, 7, 8, 9]
    with pytest.raises(ViperError, match=rf"{topic}\[0\]: offset 11 is not there yet: the broker has 4"):
        collected(source_of(broker, topic, start={0: 11, 1: 0, 2: 0}, until={0: 12, 1: 0, 2: 0}))


def test_a_topic_that_was_made_again_is_another_one(broker: Broker, topic: str) -> None:
    """So no run goes on in it: an offset there may be that of any other row."""
    before = source_of(broker, topic).identity
    assert source_of(broker, topic).identity == before
    broker.delete(topic)
    broker.make_again(topic)
    assert source_of(broker, topic).identity != before


# -- what cannot be


def test_a_topic_that_is_not_there_is_named(broker: Broker) -> None:
    with pytest.raises(ViperError, match="has no topic 'nothing-here': make it first"):
        collected(source_of(broker, "nothing-here"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"client": {"group.id": "x"}}, "'group.id' is not to be set here: places are in checkpoints"),
        ({"on_lost": "late"}, "on_lost is 'late': expected"),
        ({"idle_secs": 0}, "idle_secs is 0: expected more than 0"),
        ({"start": "last"}, "start is 'last': expected earliest, latest"),
        ({"start": None}, "start is None: expected earliest, latest"),
        ({"until": "last"}, "until is 'last': expected earliest, latest"),
        ({"until": -1}, "until is -1: expected earliest, latest"),
        ({"until": True}, "until is True: expected earliest, latest"),
        ({"slack": 1}, "unknown option 'slack'"),
        ({"metadata": ["offsets"]}, "metadata: unknown field 'offsets'"),
        ({"metadata": ["n"], "fields": ["n"]}, "metadata: unknown field 'n'"),
        ({"fields": ["offset"], "metadata": ["offset"]}, "'offset' is a field of the messages as well"),
        ({"types": {"n": "int64"}, "decode": "utf8", "fields": None}, "types: expected decode='json'"),
        ({"decode": "avro", "fields": None}, "decode is 'avro': expected"),
        ({"decode": len, "fields": None}, "decode is a function: name the fields"),
        ({"timestamp": "at", "decode": "utf8", "fields": None}, "timestamp names a field"),
        ({"typed": True, "metadata": ["headers"]}, "'headers' has no type"),
        ({"on_malformed": "drop"}, "on_malformed is 'drop': expected"),
    ],
)
def test_arguments_that_cannot_be_are_refused(options: dict[str, Any], message: str) -> None:
    given = {"decode": "json", "fields": ["n"], **options}
    with pytest.raises(SourceError, match=message.replace("(", r"\(")):
        KafkaSource("topic", "127.0.0.1:1", given.pop("decode"), given.pop("fields"), **given)


def test_servers_that_nobody_listens_on_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("confluent_kafka")
    monkeypatch.setattr("framework.operators.kafka.client.ANSWER_SECS", 1.0)
    with pytest.raises((ViperError, ComponentError), match=r"127.0.0.1:1: .*no broker answers"):
        collected(KafkaSource("topic", "127.0.0.1:1", until="latest"))


def test_a_setting_that_librdkafka_does_not_know_is_told(broker: Broker, topic: str) -> None:
    with pytest.raises(ViperError, match=r'No such .* property: "sasl.passwrd".*settings in client'):
        collected(source_of(broker, topic, client={"sasl.passwrd": "x"}))

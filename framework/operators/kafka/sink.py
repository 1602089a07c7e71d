"""A sink that writes messages into a topic of Kafka, those of a checkpoint in one transaction."""

from __future__ import annotations

import hashlib
import json
import marshal
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from framework.model.errors import SinkError, TransientError
from framework.model.topology import unknown
from framework.operators.kafka.client import ANSWER_SECS, Cluster, Topic
from framework.operators.kafka.encoding import Encoder, Message
from framework.operators.sinks.arrival import check_whole, refused
from framework.operators.sinks.columns import Chosen
from framework.operators.sinks.sink import Row
from framework.operators.sinks.staging import write_whole
from framework.operators.sinks.transactional import TransactionalSink

_MARSHAL: Final = 4
_BESIDE_VALUE: Final = 512
"""Bytes that a message takes in a batch beside its key and value; 70 are usual."""
_NUMBERS: Final = "kafka-numbers"
"""The folder, beside those of staged rows, with the number of each part that was applied last."""
_STEP_SECS: Final = 10.0
"""Seconds for which the end of a transaction may take, once its rows are there.

A producer whose broker was started again in between may wait for minutes; a new one takes a second.
"""
_OPTIONS: Final = ("staging", "transaction_secs", "timestamp", "client")


class KafkaSink(TransactionalSink):
    """Writes a message for each row into a topic of Kafka.

        KafkaSink("totals", "localhost:9092", ["user", "total"], key="user")

    The rows of a checkpoint are one transaction, and its number is in it, as the offset of a group of the
    sink's own. So whoever reads with ``isolation.level=read_committed`` gets each message once, whatever is
    killed. Messages with a key go to the partition that other clients would choose for it (murmur2), and all
    others to a partition by their value. So each is in the same one in every run.

    With one task (`global_grouping`) the messages of each partition are in the order of the run. With
    several, those of each key are, if their rows are grouped by it.

    Args:
        topic: its name; it has to be there.
        servers: addresses of brokers, as ``host:port``, with commas between them.
        columns: the fields that are written, in this order; None: all.
        key: the field that is a message's key, or several, as a list of JSON; None: messages have none.
        encode: ``json`` for an object of all columns, ``utf8`` or ``bytes`` for the only one, or a function
            of their values that returns bytes, or None for a tombstone.
        **options: further ones by name.

            - ``timestamp``: the field with the time of a message, in microseconds since 1970; None: that of
              writing.
            - ``transaction_secs``: the longest that a transaction may take (60); a killed run's is aborted
              after it, unless it is started again before.
            - ``staging``: as of `TransactionalSink`.
            - ``client``: further settings of librdkafka, e.g. ``{"security.protocol": "SASL_SSL"}``.

    Raises:
        SinkError: an argument cannot be.
    """

    form = "marshal"

    def __init__(
        self,
        topic: str,
        servers: str,
        columns: Sequence[str] | None = None,
        key: str | Sequence[str] | None = None,
        *,
        encode: str | Callable[..., bytes | None] = "json",
        **options: Any,
    ) -> None:
        for name in options:
            if name not in _OPTIONS:
                raise SinkError(unknown("option", name, _OPTIONS))
        super().__init__(options.get("staging"))
        self._topic = topic
        self._columns = columns
        self._make: Callable[[Sequence[str]], Encoder] = lambda names: Encoder(
            names, encode, key, options.get("timestamp")
        )
        if columns is not None:
            self._make(columns)
        self._secs = float(options.get("transaction_secs", 60.0))
        if not 1 <= self._secs <= 900:
            raise SinkError(f"transaction_secs is {options['transaction_secs']!r}: expected 1 to 900")
        self._cluster = Cluster(servers, options.get("client"), SinkError, self.logger)
        self._where: tuple[str, Topic] | None = None
        self._encoder: Encoder | None = None
        self._most_bytes = 0
        self._producers: dict[str, Any] = {}
        """By part: one that has fenced all before it."""

    # -- as a component

    @property
    def target(self) -> str:
        """As in the base class: the topic, by its id and that of the cluster."""
        cluster, topic = self._found
        return f"topic {topic.name!r} ({topic.id}) of the Kafka cluster {cluster}"

    def choose(self, context: Mapping[str, Any]) -> None:
        """As in the base class."""
        self._chosen = Chosen(context, self._columns)
        self._encoder = self._make(self._chosen.names)

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Connect.

        Raises:
            SinkError: no broker answers, or there is no such topic.
        """
        super().initialize(storm_conf, context)
        try:
            self._most_bytes = self._patiently(self._largest) - _BESIDE_VALUE
        except BaseException:
            self.close()
            raise

    def encode(self, rows: Sequence[Row]) -> bytes:
        """The messages of rows.

        Raises:
            SinkError: a row that cannot be written, or that is larger than the topic takes.
        """
        assert self._encoder is not None, "the fields are chosen in initialize"
        message, most = self._encoder.message, self._most_bytes
        made: list[Message] = []

        def write(some: Sequence[Row]) -> bytes:
            made[:] = map(message, some)
            return b""

        chosen = self._chosen.of(rows)
        check_whole(chosen, write)
        for row, (key, value, _) in zip(chosen, made, strict=True):
            if (size := len(key or b"") + len(value or b"")) > most:
                takes = f"topic {self._topic!r} takes {most:,} (max.message.bytes)"
                raise refused(f"it has {size:,} bytes, and {takes}: make it smaller", row)
        return marshal.dumps(made, _MARSHAL)

    def decode(self, entry: bytes) -> Iterable[Row]:
        """The messages of an entry."""
        messages: list[Row] = marshal.loads(entry)
        return messages

    def close(self) -> None:
        """As in the base class."""
        super().close()
        self._producers.clear()

    # -- transactions

    def applied(self, part: str) -> int | None:
        """As in the base class.

        The part is fenced before, if it is this task's or that of a task that is no more. Then all that its
        dead owner has left is committed or aborted. That of a living task is not, as this would kill it.

        Raises:
            SinkError: the broker has forgotten the number, and rows are staged that may have been written.
        """
        from confluent_kafka import TopicPartition

        is_ours = self._is_ours(part)
        if is_ours:
            self._producer(part)
        # A stable offset would wait for another task's open transaction, and that task may wait for us.
        isolation = "read_committed" if is_ours else "read_uncommitted"
        consumer = self._cluster.consumer(group_id=self._id(part), isolation_level=isolation)
        try:
            with self._explained("the number of what was written"):
                (found,) = consumer.committed([TopicPartition(self._topic, 0)], ANSWER_SECS)
        finally:
            consumer.close()
        if found.error is not None:  # which has no offset either, and is no proof that there is none
            raise TransientError(f"{self._cluster.servers}: {self._cluster.advice(found.error)}")
        if found.offset >= 0:
            return int(found.offset)
        return self._noted_here(part) if is_ours else None

    def apply(self, part: str, number: int, rows: Iterator[Row]) -> None:
        """Write messages and the number in one transaction.

        Raises:
            TransientError: the broker is away; `applied` tells whether it was committed.
            SinkError: another run writes under the same name, or the transaction took too long.
        """
        from confluent_kafka import TopicPartition

        producer = self._producer(part)
        consumer = self._cluster.consumer(group_id=self._id(part))
        try:
            with self._explained("a transaction"):
                producer.begin_transaction()
                for key, value, time_ms in rows:
                    self._produce(producer, key, value, time_ms)
                producer.flush(self._secs)
                marker = TopicPartition(self._topic, 0, number)
                group = consumer.consumer_group_metadata()
                producer.send_offsets_to_transaction([marker], group, _STEP_SECS)
                producer.commit_transaction(_STEP_SECS)
        except BaseException:
            self._producers.pop(part, None)  # the next one ends what this one has left open
            raise
        finally:
            consumer.close()
        self._note(part, number)

    def forget(self, part: str) -> None:
        """As in the base class."""
        from confluent_kafka import KafkaError, KafkaException

        with self._explained("forgetting a number"), self._cluster.administered() as admin:
            for future in admin.delete_consumer_groups([self._id(part)]).values():
                try:
                    future.result(ANSWER_SECS)
                except KafkaException as error:
                    if error.args[0].code() != KafkaError.GROUP_ID_NOT_FOUND:
                        raise
        self._note_path(part).unlink(missing_ok=True)

    # -- within

    @property
    def _found(self) -> tuple[str, Topic]:
        if self._where is None:
            self._where = self._cluster.id(), self._cluster.topic(self._topic)
        return self._where

    def _id(self, part: str) -> str:
        """The name of a part's transactions and of its group; two runs of one topology have others."""
        run = self._run or f"{zlib.crc32(f'{os.uname().nodename}:{self._staging.absolute()}'.encode()):08x}"
        return f"viper/{run}/{self._topic}/{part}"

    def _is_ours(self, part: str) -> bool:
        name, _, index = part.rpartition("/")
        if name != self.part.rpartition("/")[0]:
            return True  # a former name of this sink, of which no task lives
        return int(index) == self._task_index or int(index) >= self._task_count

    def _producer(self, part: str) -> Any:
        """The producer of a part, which has ended all transactions of those before it."""
        found = self._producers.get(part)
        if found is None:
            with self._explained("the end of what an earlier run has left open"):
                found = self._cluster.producer(
                    transactional_id=self._id(part),
                    transaction_timeout_ms=round(self._secs * 1000),
                    message_max_bytes=self._most_bytes + _BESIDE_VALUE if self._most_bytes > 0 else 1_000_000,
                    partitioner="murmur2_random",
                    linger_ms=5,
                )
                found.init_transactions(ANSWER_SECS)
            self._producers[part] = found
        return found

    def _produce(self, producer: Any, key: bytes | None, value: bytes | None, time_ms: int) -> None:
        where = {"partition": zlib.crc32(value or b"") % self._found[1].partitions} if key is None else {}
        while True:
            try:
                producer.produce(self._topic, value, key, timestamp=time_ms, **where)
                return
            except BufferError:
                producer.poll(0.05)

    def _largest(self) -> int:
        """The most bytes of a message that the topic takes."""
        from confluent_kafka import admin as administration

        with self._explained("the settings of the topic"), self._cluster.administered() as admin:
            kind: Any = administration  # which exports them without saying so
            resource = kind.ConfigResource(kind.ResourceType.TOPIC, self._topic)
            found = admin.describe_configs([resource])[resource].result(ANSWER_SECS)
        return int(found["max.message.bytes"].value)

    # -- numbers on this side

    def _note_path(self, part: str) -> Path:
        name = hashlib.sha256(self._id(part).encode()).hexdigest()[:32]
        return self._staging / _NUMBERS / f"{name}.json"

    def _note(self, part: str, number: int) -> None:
        """Note the number of what was written: a broker forgets it after some days without a run."""
        path = self._note_path(part)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps({"id": self._id(part), "number": number}).encode())

    def _noted_here(self, part: str) -> int | None:
        path = self._note_path(part)
        try:
            found = json.loads(path.read_text())
            number = int(found["number"])
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise SinkError(
                f"{path} does not say which checkpoint was written last ({error}): expected "
                '{"number": 7}, say'
            ) from None
        later = [] if self._open_stage is None else [cut for cut in self._open_stage.cuts if cut > number]
        if later and found.get("known") is not True:
            raise SinkError(
                f"{part}: the broker no longer knows the number of what was written (it forgets it after "
                f"offsets.retention.minutes), and the rows of checkpoint {later[0]} may have been written or "
                f"not: look whether they are in topic {self._topic!r}. If they are, write "
                f'{{"number": {later[0]}, "known": true}} into {path}; if they are not, '
                f'{{"number": {number}, "known": true}}'
            )
        return number

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Raise errors of the library as ours: those that pass by themselves as `TransientError`."""
        from confluent_kafka import KafkaError, KafkaException

        try:
            yield
        except KafkaException as error:
            found = error.args[0]
            told = f"{self._cluster.servers}: {what}: {self._cluster.advice(found)}"
            if found.code() in (KafkaError._FENCED, KafkaError.INVALID_PRODUCER_EPOCH):
                raise SinkError(
                    f"{told}: another run writes under the same name, or the transaction took longer than "
                    f"{self._secs:g} s: end the other run, or raise transaction_secs"
                ) from error
            if found.code() in (KafkaError._INVALID_ARG, KafkaError.INVALID_TRANSACTION_TIMEOUT):
                raise SinkError(told) from error
            if found.retriable() or found.txn_requires_abort() or found.code() in _passing(KafkaError):
                raise TransientError(told) from error
            raise SinkError(told) from error
        except TimeoutError as error:  # of a future, which waits a little longer than its request
            raise TransientError(f"{self._cluster.servers}: {what}: no broker has answered") from error


def _passing(errors: Any) -> Sequence[int]:
    """The codes of errors that pass by themselves, and are not said to: of a broker that has just started."""
    away = errors._TRANSPORT, errors._ALL_BROKERS_DOWN, errors._TIMED_OUT, errors._STATE
    starting = (
        *(errors.NOT_COORDINATOR, errors.COORDINATOR_NOT_AVAILABLE, errors.COORDINATOR_LOAD_IN_PROGRESS),
        *(errors.LEADER_NOT_AVAILABLE, errors.NOT_LEADER_FOR_PARTITION, errors.CONCURRENT_TRANSACTIONS),
    )
    return *away, *starting

"""One consumer for all partitions that a task brings."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

from framework.model.errors import SourceError
from framework.operators.kafka.client import ANSWER_SECS, Cluster

AT_ONCE: Final = 10_000
"""The most messages that one call takes. A call for each message takes three times as long."""
MOST_HELD: Final = 20_000
"""Messages of a partition that wait while others are asked; with more, no more of it are fetched."""


class Reader:
    """Reads partitions side by side, and keeps what comes of one until it is asked for.

    Args:
        cluster: where they are.
        isolation: ``read_committed``, or ``read_uncommitted`` to get the rows of open transactions, too.
        group: a name for the broker, which wants one although nothing is committed.
        logger: takes what happens to the connection.
    """

    def __init__(self, cluster: Cluster, isolation: str, group: str, logger: logging.Logger) -> None:
        self._cluster = cluster
        self._logger = logger
        self._consumer = cluster.consumer(isolation_level=isolation, group_id=group, error_cb=self._failed)
        self._held: dict[tuple[str, int], deque[Any]] = {}
        self._paused: set[tuple[str, int]] = set()
        self._explain: dict[tuple[str, int], Callable[[], str]] = {}
        self.trouble: str | None = None
        """The last trouble of the consumer in words, since messages have come; it goes on trying."""

    def begin(self, topic: str, partition: int, offset: int, explain: Callable[[], str]) -> None:
        """Read a partition from an offset on.

        Args:
            topic: the topic.
            partition: its number there.
            offset: the first that is wanted.
            explain: says why there is none, where the broker says so later.

        Raises:
            SourceError: the consumer refuses it.
        """
        from confluent_kafka import TopicPartition

        self._held[topic, partition] = deque()
        self._explain[topic, partition] = explain
        with self._cluster.explained(f"{topic}[{partition}]"):
            self._consumer.incremental_assign([TopicPartition(topic, partition, offset)])

    def end(self, topic: str, partition: int) -> None:
        """Read a partition no more."""
        from confluent_kafka import TopicPartition

        if self._held.pop((topic, partition), None) is not None:
            self._paused.discard((topic, partition))
            del self._explain[topic, partition]
            with self._cluster.explained(f"{topic}[{partition}]"):
                self._consumer.incremental_unassign([TopicPartition(topic, partition)])

    def take(self, topic: str, partition: int) -> Sequence[Any]:
        """The messages of a partition that have come; none if there are none for now.

        Raises:
            SourceError: the broker has refused to go on.
        """
        held = self._held[topic, partition]
        if not held:
            self._fetch()
        if not held:
            return ()
        taken = list(held)
        held.clear()
        self._go_on(topic, partition)
        return taken

    @property
    def partitions(self) -> Collection[tuple[str, int]]:
        """The topics and numbers of the partitions that are read."""
        return self._held.keys()

    def position(self, topic: str, partition: int) -> int | None:
        """The offset behind all that was taken, also behind what is no message; None where nobody knows.

        Behind the last message there may be the mark of a transaction, so its own offset says less.
        """
        from confluent_kafka import TopicPartition

        if self._held[topic, partition]:
            return None
        with self._cluster.explained(f"{topic}[{partition}]"):
            (found,) = self._consumer.position([TopicPartition(topic, partition)])
        return found.offset if found.offset >= 0 else None

    def watermarks(self, topic: str, partition: int) -> tuple[int, int]:
        """The first offset that the broker has, and the one behind the last that may be read.

        Raises:
            SourceError: it does not answer.
        """
        from confluent_kafka import TopicPartition

        with self._cluster.explained(f"{topic}[{partition}]"):
            low, high = self._consumer.get_watermark_offsets(
                TopicPartition(topic, partition), timeout=ANSWER_SECS
            )
        return int(low), int(high)

    def known_end(self, topic: str, partition: int) -> int | None:
        """The offset behind the last message, as the last answer of the broker had it; None before that."""
        from confluent_kafka import TopicPartition

        _, high = self._consumer.get_watermark_offsets(TopicPartition(topic, partition), cached=True)
        return int(high) if high >= 0 else None

    def at_time(self, topic: str, partition: int, time_ms: int) -> int:
        """The first offset of a message that is not earlier; that behind the last one where all are.

        Raises:
            SourceError: the broker does not answer.
        """
        from confluent_kafka import TopicPartition

        with self._cluster.explained(f"{topic}[{partition}]"):
            (found,) = self._consumer.offsets_for_times(
                [TopicPartition(topic, partition, time_ms)], timeout=ANSWER_SECS
            )
        return int(found.offset) if found.offset >= 0 else self.watermarks(topic, partition)[1]

    def close(self) -> None:
        """Disconnect."""
        self._consumer.close()

    def _fetch(self) -> None:
        from confluent_kafka import TopicPartition

        with self._cluster.explained("reading"):
            found = self._consumer.consume(AT_ONCE, 0)
        for message in found:
            if message.error() is not None:
                self._refused(message)
                continue
            held = self._held.get((message.topic(), message.partition()))
            if held is not None:
                held.append(message)
        if found and self.trouble is not None:
            self._logger.warning("%s answers again", self._cluster.servers)
            self.trouble = None
        for place, held in self._held.items():
            if len(held) > MOST_HELD and place not in self._paused:
                self._paused.add(place)
                self._consumer.pause([TopicPartition(*place)])

    def _go_on(self, topic: str, partition: int) -> None:
        from confluent_kafka import TopicPartition

        if (topic, partition) in self._paused:
            self._paused.discard((topic, partition))
            self._consumer.resume([TopicPartition(topic, partition)])

    def _refused(self, message: Any) -> None:
        from confluent_kafka import KafkaError

        error, place = message.error(), (message.topic(), message.partition())
        told = f"{place[0]}[{place[1]}]" if place[0] is not None else self._cluster.servers
        if error.code() in (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE):
            raise SourceError(self._explain[place]() if place in self._explain else f"{told}: {error.str()}")
        if error.retriable() or error.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN):
            self._failed(error)
            return
        raise SourceError(f"{told}: {self._cluster.advice(error)}")

    def _failed(self, error: Any) -> None:
        """Note that a client is in trouble, which it tries to get out of by itself."""
        advice = self._cluster.advice(error)
        if error.fatal():
            raise SourceError(f"{self._cluster.servers}: {advice}")
        if self.trouble is None:
            self._logger.warning("%s: %s; trying again until it answers", self._cluster.servers, advice)
        self.trouble = advice

"""A spout that reads topics of Kafka."""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from dataclasses import fields as fields_of
from functools import partial
from typing import Any, Final, NamedTuple

from framework.common.units import MICROS_PER_SECOND
from framework.model.errors import SourceError
from framework.model.topology import Stream, did_you_mean, one_of, unknown
from framework.operators.components import Block, Later, PartitionedSpout, Watermark
from framework.operators.kafka.client import Cluster, Topic
from framework.operators.kafka.decoding import Decoded, Decoder, decoder_of
from framework.operators.kafka.reader import Reader
from framework.operators.sources.portion import MALFORMED, NO_TIME, Malformed, Mixing, Portion, Refusals
from framework.operators.sources.times import event_time_of

TOPICS: Final = "viperstorm.kafka.topics"
"""The configuration key with the topics as they were when the run began: name, id and partitions of each."""
BOUNDS: Final = "viperstorm.kafka.bounds"
"""The configuration key with the first offset, and that behind the last or None, of each partition."""
METADATA: Final[Mapping[str, str]] = {
    "topic": "string not null",
    "partition": "int32 not null",
    "offset": "int64 not null",
    "key": "binary",
    "timestamp": "timestamp[us]",
    "headers": "",
}
"""The fields that a row can have of its message, each with its type in a schema."""
MALFORMED_FIELDS: Final = ("topic", "partition", "offset", "raw", "reason")
_ADVICE: Final = ": on_malformed='skip' leaves such messages out, 'stream' emits them"
_LAG_EVERY_S: Final = 1.0
_WARN_AFTER_S: Final = 10.0
"""Seconds without a message after which a warning says that others wait for it."""


class Bounds(NamedTuple):
    """The offsets of a partition that a run reads."""

    first: int
    end: int | None
    """The offset behind the last; None for no end."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The options of a `KafkaSource` about how partitions are read."""

    start: Any = "earliest"
    until: Any = None
    idle_secs: float | None = None
    on_lost: str = "error"
    isolation: str = "read_committed"
    client: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        for name, choices in (("on_lost", ("error", "earliest")), ("isolation", _ISOLATIONS)):
            if getattr(self, name) not in choices:
                found = getattr(self, name)
                expected = f"expected {one_of(choices)}{did_you_mean(str(found), choices)}"
                raise SourceError(f"{name} is {found!r}: {expected}")
        if self.idle_secs is not None and not self.idle_secs > 0:
            raise SourceError(f"idle_secs is {self.idle_secs!r}: expected more than 0")
        for name in ("start", "until"):
            _check_bound(name, getattr(self, name))


def _check_bound(name: str, found: Any) -> None:
    is_none = found is None and name == "until"
    is_time = type(found) is int and found >= 0
    if not (is_none or is_time or isinstance(found, Mapping) or found in ("earliest", "latest")):
        raise SourceError(
            f"{name} is {found!r}: expected earliest, latest, milliseconds since 1970, or a mapping from "
            "partition to offset"
        )


_ISOLATIONS: Final = ("read_committed", "read_uncommitted")
_OF_READING: Final = frozenset(field.name for field in fields_of(Reading))
_OF_TIME: Final = ("timestamp", "unit", "timestamp_format")
_OF_JSON: Final = ("types", "typed", "defaults")


class KafkaSource(PartitionedSpout):
    """Reads topics of Kafka, a row for each message.

        KafkaSource("orders", "localhost:9092", "json", ["user", "cents"], idle_secs=30)

    Each partition of a topic is one of the spout, so the output is the same at every parallelism. Its place
    is an offset in the run's checkpoints, so a run that goes on from one reads each message once. Nothing is
    committed to the broker.

    The event time of a message is the one that Kafka has for it, or a field of the row. Messages whose times
    fall need `viper.timestamp.slack`.

    Args:
        topics: the name of a topic, or a list of names.
        servers: addresses of brokers, as ``host:port``, with commas between them.
        decode: ``json``, ``utf8`` or ``bytes`` for what a message's value is, or a function of its bytes. It
            returns a tuple, a list, a dict, or the value of the only field.
        fields: the keys of JSON, or the names of what the function returns; ``value`` for text and bytes.
            None with JSON: a row has the whole object, as a dict, in a field ``object``.
        metadata: further fields: ``topic``, ``partition``, ``offset``, ``key``, ``timestamp`` (microseconds),
            ``headers`` (pairs of a name and bytes).
        **options: further ones by name.

            - ``timestamp``, ``unit``, ``timestamp_format``: the field with the event time, as of
              `FileSource`; by default it is the message's own.
            - ``types``, ``typed``, ``defaults``: of JSON's fields, as of `JsonLinesSource`.
            - ``on_malformed``: ``error`` to end the run at a message that cannot be decoded, ``skip`` to
              count and leave out such messages, or ``stream``. That emits them on the stream ``malformed``,
              with the fields ``topic``, ``partition``, ``offset``, ``raw`` and ``reason``.
            - ``start``: where a new run begins: ``earliest``, ``latest``, a number of milliseconds since
              1970, or a mapping from partition to offset (with several topics, from topic to such a
              mapping).
            - ``until``: where the partitions end, likewise; ``latest`` for what is there when the run begins.
              None: they never end.
            - ``idle_secs``: after so many seconds without a message a partition holds the others back no
              longer. Its later messages with earlier times than theirs are late (`viper.timestamp.late`).
              None: its next message is waited for.
            - ``on_lost``: ``error`` or ``earliest``, for an offset that the broker no longer has.
            - ``isolation``: ``read_committed``, or ``read_uncommitted`` for messages of open transactions,
              too.
            - ``client``: further settings of librdkafka, e.g. ``{"security.protocol": "SASL_SSL"}``.

    Raises:
        SourceError: an argument cannot be.
    """

    never_late = (MALFORMED,)

    def __init__(
        self,
        topics: str | Sequence[str],
        servers: str,
        decode: str | Callable[[bytes], Any] = "utf8",
        fields: Sequence[str] | None = None,
        *,
        metadata: Sequence[str] = (),
        **options: Any,
    ) -> None:
        super().__init__()
        self._topics = [topics] if isinstance(topics, str) else list(topics)
        if not self._topics or len(set(self._topics)) < len(self._topics):
            raise SourceError(f"topics is {topics!r}: expected the names of different topics")
        known = [*_OF_TIME, *_OF_JSON, *sorted(_OF_READING), "on_malformed"]
        for name in options:
            if name not in known:
                raise SourceError(unknown("option", name, known))
        reading = {name: value for name, value in options.items() if name in _OF_READING}
        self._reading = Reading(**reading)
        self._event_time = event_time_of(*(options.get(name) for name in _OF_TIME))
        of_json: dict[str, Any] = {name: options[name] for name in _OF_JSON if name in options}
        self._decoder: Decoder = decoder_of(decode, fields, self._event_time, of_json)
        self._refusals = Refusals(options.get("on_malformed", "error"), _ADVICE)
        self._metadata = _metadata(metadata, self._decoder)
        self._cluster = Cluster(servers, self._reading.client, SourceError, self.logger)
        self._found: Sequence[Topic] | None = None
        self._bounds: Sequence[Bounds] | None = None
        self._reader: Reader | None = None
        self._brought: dict[int, Sequence[int]] = {}
        """By partition the offsets of the last block."""
        self._warned: set[int] = set()
        """The partitions of which a warning has said that others wait for them."""
        self._lag_at_s = 0.0

    # -- what the runtime asks for

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The fields of a row, and those of malformed messages if they have a stream."""
        names, schema = [*self._decoder.fields, *self._metadata], self._decoder.schema
        if schema is None:
            made = [Stream(names)]
        else:
            made = [Stream(names, schema={**schema, **{name: METADATA[name] for name in self._metadata}})]
        malformed = Stream(MALFORMED_FIELDS, MALFORMED)
        return [*made, malformed] if self._refusals.has_stream else made

    @property
    def partitions(self) -> int:
        """As many as the topics have together."""
        return sum(topic.partitions for topic in self._known)

    @property
    def identity(self) -> str:
        """Names the topics by their ids, and how messages are decoded."""
        # Partitions of the last one may be added: their numbers follow all others.
        told = [f"{topic.name} ({topic.id}, {topic.partitions} partitions)" for topic in self._known[:-1]]
        last = self._known[-1]
        decoded = self._decoder.definition, self._decoder.fields, self._metadata
        event_time = None if self._event_time is None else (self._event_time.field, self._event_time.expected)
        how = f"{decoded}, {event_time}, {self._refusals.choice}, {self._reading.isolation}"
        return f"Kafka topics {', '.join([*told, f'{last.name} ({last.id})'])}; read as {how}"

    @property
    def compared(self) -> str:
        """As in the base class."""
        return (
            "topics are known by the ids that the cluster gave them, which one that was deleted and made "
            "again does not share, and by how messages are decoded: start from the beginning"
        )

    def companion(self, conf: Mapping[str, Any]) -> AbstractContextManager[Mapping[str, Any]]:
        """Nothing runs beside the tasks; they get the topics, and the offsets, that there were when the run
        began.

        Raises:
            SourceError: no broker answers, or there is no such topic, partition or offset.
        """
        reader = self._new_reader()
        try:
            bounds = [self._bounds_of(reader, number) for number in range(self.partitions)]
        finally:
            reader.close()
        topics = [list(topic) for topic in self._known]
        return nullcontext({TOPICS: topics, BOUNDS: [list(one) for one in bounds]})

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Connect; the topics are those that the run began with.

        Raises:
            SourceError: confluent-kafka is missing, or a setting is wrong.
        """
        if TOPICS in storm_conf:
            self._found = [Topic(*found) for found in storm_conf[TOPICS]]
            self._bounds = [Bounds(*found) for found in storm_conf[BOUNDS]]
        self._cluster = Cluster(self._cluster.servers, self._reading.client, SourceError, self.logger)
        self._reader = self._new_reader()

    def first_offset(self, partition: int) -> int | None:
        """As in the base class."""
        return self._of(partition).first

    def blocks_from(
        self, partition: int, offset: int | None, latest_us: int | None
    ) -> Iterator[Block | Watermark | Later | None]:
        """The messages of a partition.

        Raises:
            SourceError: an offset is gone, a message is malformed, or the broker refuses to go on.
        """
        bounds, (topic, number) = self._of(partition), self._at(partition)
        first = self._opened.watermarks(topic, number)[0] if offset is None else offset
        if bounds.end is None or first < bounds.end:
            return self._blocks(partition, self._checked(topic, number, first), bounds.end, latest_us)
        return iter(())

    def place_of(self, partition: int, index: int) -> str:
        """The topic, the partition and the offset of a message."""
        return self._place(partition, self._brought[partition][index])

    def time_of(self, row: Mapping[str, Any]) -> int | None:
        """The time in the row's timestamp field."""
        return None if self._event_time is None else self._event_time.one(row.get(self._event_time.field))

    def close(self) -> None:
        """Disconnect, and report how many messages were malformed."""
        if self._refusals.count:
            self.report_metric("malformed messages", self._refusals.count)
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    # -- topics and offsets

    @property
    def _known(self) -> Sequence[Topic]:
        if self._found is None:
            self._found = [self._cluster.topic(name) for name in self._topics]
        return self._found

    def _at(self, partition: int) -> tuple[str, int]:
        """The topic of a partition of the spout, and its number there."""
        for topic in self._known:
            if partition < topic.partitions:
                return topic.name, partition
            partition -= topic.partitions
        raise SourceError(f"the topics have {self.partitions} partitions: found number {partition}")

    def _place(self, partition: int, offset: int) -> str:
        topic, number = self._at(partition)
        return f"{topic}[{number}]@{offset}"

    def _new_reader(self) -> Reader:
        group = f"viperstorm-{self.component_name or 'source'}"
        return Reader(self._cluster, self._reading.isolation, group, self.logger)

    @property
    def _opened(self) -> Reader:
        if self._reader is None:
            raise SourceError(f"{self._cluster.servers} is not connected: call initialize first")
        return self._reader

    def _of(self, partition: int) -> Bounds:
        if self._bounds is None:
            reader = self._opened
            self._bounds = [self._bounds_of(reader, number) for number in range(self.partitions)]
        return self._bounds[partition]

    def _bounds_of(self, reader: Reader, partition: int) -> Bounds:
        topic, number = self._at(partition)
        first = self._offset(reader, topic, number, self._reading.start, "start")
        until = self._reading.until
        end = None if until is None else self._offset(reader, topic, number, until, "until")
        return Bounds(first, end)

    def _offset(self, reader: Reader, topic: str, number: int, wanted: Any, name: str) -> int:
        """The offset that an option means for a partition.

        Raises:
            SourceError: it says nothing about the partition.
        """
        if isinstance(wanted, int):
            return reader.at_time(topic, number, wanted)
        low, high = reader.watermarks(topic, number)
        if isinstance(wanted, str):
            return low if wanted == "earliest" else high
        found = wanted
        if len(self._topics) > 1:
            found = found.get(topic, {})
        offset = found.get(number, found.get(str(number)))  # keys of JSON are texts
        if not isinstance(offset, int) or offset < 0:
            raise SourceError(
                f"{name}: {topic}[{number}] has {offset!r} there: expected an offset for each partition, as "
                f"in {{{number}: {low}}}, or 'earliest' or 'latest'"
            )
        return offset

    def _checked(self, topic: str, number: int, first: int) -> int:
        """The offset from which on a partition is read, where the broker has it.

        Raises:
            SourceError: it does not.
        """
        low, high = self._opened.watermarks(topic, number)
        if low <= first <= high:
            return first
        if first < low and self._reading.on_lost == "earliest":
            told = "%s[%d]: offset %d is gone: going on at %d; the rows between are lost"
            self.logger.warning(told, topic, number, first, low)
            return low
        raise SourceError(self._lost(topic, number, first, low, high))

    def _lost(self, topic: str, number: int, first: int, low: int, high: int) -> str:
        there = f"the broker has {low} to {high}"
        if first > high:
            return (
                f"{topic}[{number}]: offset {first} is not there yet: {there}: was the topic's end cut off, "
                "or are these other servers? Start from the beginning, or at an offset that is there"
            )
        return (
            f"{topic}[{number}]: offset {first} is gone: {there} (retention): the rows between are lost; "
            f"on_lost='earliest' goes on at {low}"
        )

    # -- blocks

    def _blocks(
        self, partition: int, first: int, end: int | None, latest_us: int | None
    ) -> Iterator[Block | Watermark | Later | None]:
        reader, (topic, number) = self._opened, self._at(partition)
        mixing = Mixing(by_number=False)
        latest = NO_TIME if latest_us is None else latest_us
        asked = first

        def explain() -> str:
            return self._lost(topic, number, asked, *reader.watermarks(topic, number))

        reader.begin(topic, number, first, explain)
        since_s = time.monotonic()
        try:
            while end is None or asked < end:
                messages = reader.take(topic, number)
                if messages and end is not None:
                    messages = [message for message in messages if message.offset() < end]
                    asked = end if not messages else asked
                if not messages:
                    position = reader.position(topic, number)
                    asked = max(asked, position or 0)
                    if end is None or asked < end:
                        yield self._nothing(partition, since_s)
                    continue
                since_s = time.monotonic()
                asked = messages[-1].offset() + 1
                portion, mutable = self._portion(partition, messages)
                times = array("q", portion.times or ())
                for block, offsets in mixing.blocks(portion, times, 0, latest, mutable=mutable):
                    self._brought[partition] = offsets
                    yield block._replace(offsets=array("q", offsets))
                latest = max(latest, max(times, default=NO_TIME))
                self._report_lag()
        finally:
            if self._reader is reader:
                reader.end(topic, number)
        mixing.check_end(lambda found: self._place(partition, found.number))

    def _nothing(self, partition: int, since_s: float) -> Watermark | None:
        """Nothing has come of a partition: wait, or pass it over."""
        self._report_lag()
        idle_s, waited_s = self._reading.idle_secs, time.monotonic() - since_s
        if idle_s is None and waited_s > _WARN_AFTER_S and partition not in self._warned:
            self._warned.add(partition)
            topic, number = self._at(partition)
            trouble = self._opened.trouble
            because = f" ({trouble})" if trouble else ""
            told = "%s[%d] has had no message for %g s%s: later messages of other partitions wait for it; " \
                "idle_secs passes it over"
            self.logger.warning(told, topic, number, waited_s, because)
        if idle_s is None or waited_s < idle_s:
            return None
        return Watermark(round((time.time() - idle_s) * MICROS_PER_SECOND))

    def _report_lag(self) -> None:
        """Report for each partition how many messages are behind what was read, once a second."""
        now_s = time.monotonic()
        if now_s < self._lag_at_s:
            return
        self._lag_at_s = now_s + _LAG_EVERY_S
        reader = self._opened
        for topic, number in list(reader.partitions):
            end, position = reader.known_end(topic, number), reader.position(topic, number)
            if end is not None and position is not None:
                self.report_metric(f"lag of {topic}[{number}]", max(end - position, 0))

    def _portion(self, partition: int, messages: Sequence[Any]) -> tuple[Portion, bool]:
        """The rows of messages, and whether they may hold a value that a consumer can change."""
        offsets = array("q", [message.offset() for message in messages])
        values = [message.value() for message in messages]
        try:
            if None in values:
                raise ValueError("a message without a value")
            rows, times = self._decoder.many(values)
            if times is None:
                times = [_time_us(message) for message in messages]
        except Exception:  # of a user's function, perhaps: which message it was, and why, is told then
            return self._sifted(partition, messages, values), self._decoder.is_mutable
        if self._metadata:
            if not isinstance(rows, list):
                rows = zip(*(column.to_pylist() for column in rows.columns), strict=True)
            rows = [(*row, *self._about(one)) for row, one in zip(rows, messages, strict=True)]
        return Portion(rows, offsets, times, offsets[-1] + 1), self._decoder.is_mutable

    def _sifted(self, partition: int, messages: Sequence[Any], values: Sequence[bytes | None]) -> Portion:
        rows: list[tuple[Any, ...]] = []
        offsets, times = array("q"), array("q")
        malformed: list[Malformed] = []
        for message, value in zip(messages, values, strict=True):
            try:
                row, time_us = self._tombstone if value is None else self._decoder.one(value)
                made, at_us = (*row, *self._about(message)), _time_us(message) if time_us is None else time_us
            except Exception as error:
                about = partial(self._described, partition, message)
                malformed += self._refusals.refuse(message.offset(), error, about, self.logger)
                continue
            rows.append(made)
            offsets.append(message.offset())
            times.append(at_us)
        return Portion(rows, offsets, times, messages[-1].offset() + 1, malformed)

    def _described(self, partition: int, message: Any) -> tuple[str, tuple[Any, ...]]:
        """The place of a message, and its values for the stream of malformed ones."""
        place = self._place(partition, message.offset())
        return place, (message.topic(), message.partition(), message.offset(), message.value())

    @property
    def _tombstone(self) -> Decoded:
        """The row of a message without a value.

        Raises:
            ValueError: the stream has a field without None.
        """
        for name, kind in (self._decoder.schema or {}).items():
            if kind.endswith("not null"):
                raise ValueError(f"it has no value (a tombstone), and {name!r} is {kind}")
        return Decoded((None,) * len(self._decoder.fields), None)

    def _about(self, message: Any) -> Iterator[Any]:
        """The values that a row has of its message."""
        return (_OF_MESSAGE[name](message) for name in self._metadata)


def _time_us(message: Any) -> int:
    kind, time_ms = message.timestamp()
    if not kind:
        raise ValueError("it has no time of its own: name the field that has it (timestamp=)")
    return int(time_ms) * 1000


_OF_MESSAGE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "topic": lambda message: message.topic(),
    "partition": lambda message: message.partition(),
    "offset": lambda message: message.offset(),
    "key": lambda message: message.key(),
    "timestamp": _time_us,
    "headers": lambda message: tuple(message.headers() or ()),
}


def _metadata(names: Sequence[str], decoder: Decoder) -> Sequence[str]:
    for name in names:
        if name not in METADATA:
            raise SourceError(f"metadata: {unknown('field', name, list(METADATA))}")
        if name in decoder.fields:
            raise SourceError(f"metadata: {name!r} is a field of the messages as well: leave one of them out")
        if decoder.schema is not None and not METADATA[name]:
            raise SourceError(f"metadata: {name!r} has no type that a stream with a schema (typed) can have")
    return list(names)

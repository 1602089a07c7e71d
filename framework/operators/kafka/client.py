"""Clients of Kafka: their settings, their errors in our words, and what a cluster says of a topic."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from framework.model.errors import ViperError

ANSWER_SECS: Final = 30.0
"""Seconds for which a broker may take to answer."""
_NOBODY: Final = "no broker answers ({}): is it running, and is its address right?"
_OWNED: Final[Mapping[str, str]] = {
    "bootstrap.servers": "it is the argument servers",
    "group.id": "places are in checkpoints, and a sink's groups are named by it",
    "enable.auto.commit": "places are in checkpoints",
    "enable.auto.offset.store": "places are in checkpoints",
    "auto.offset.reset": "an offset that is gone is told by on_lost, and a new run begins at start",
    "enable.partition.eof": "the source sees by itself that it has read all",
    "isolation.level": "it is the argument isolation",
    "partition.assignment.strategy": "partitions belong to tasks, not to a group",
    "transactional.id": "it is named by the run, the topic and the task",
    "enable.idempotence": "a transaction wants it",
    "acks": "a transaction wants all",
}
"""The settings that are ours, each with the reason."""


class Topic(NamedTuple):
    """A topic as a cluster has it."""

    name: str
    id: str
    """The identity by which one that was deleted and made again is told from the first."""
    partitions: int


class Cluster:
    """The brokers of a cluster, and how clients connect to them.

    Nothing is connected before it is asked for, as a client does not survive a fork.

    Args:
        servers: addresses of brokers, as ``host:port``, with commas between them.
        client: further settings of librdkafka, e.g. ``security.protocol``.
        error: the class of the errors that are raised.
        logger: takes what clients log.

    Raises:
        ViperError: there are no servers, or a setting is ours.
    """

    def __init__(
        self, servers: str, client: Mapping[str, Any] | None, error: type[ViperError], logger: logging.Logger
    ) -> None:
        self._error = error
        self._logger = logger
        self.servers = servers
        self._client = dict(client or {})
        if not isinstance(servers, str) or not servers.strip():
            raise error(f"servers is {servers!r}: expected addresses of brokers, e.g. 'localhost:9092'")
        for name in self._client:
            if name in _OWNED:
                raise error(f"client: {name!r} is not to be set here: {_OWNED[name]}")

    def settings(self, **own: Any) -> dict[str, Any]:
        """The settings of a client; those given by name have underscores in the place of dots."""
        ours = {name if callable(own[name]) else name.replace("_", "."): own[name] for name in own}
        # Trouble is told once, by us; the library tells of each attempt to connect, hundreds in a second. By
        # itself it would wait for up to 10 s before the next one.
        usual = {"log_level": 2, "log.connection.close": False, "reconnect.backoff.max.ms": 1000}
        return {**usual, **self._client, "bootstrap.servers": self.servers, **ours}

    def consumer(self, **own: Any) -> Any:
        """A consumer that commits nothing by itself.

        Raises:
            ViperError: a setting is wrong, or confluent-kafka is missing.
        """
        kafka = self._library()
        own = {"enable_auto_commit": False, "auto_offset_reset": "error", **own}
        with self.explained("the consumer"):
            return kafka.Consumer(self.settings(**own), logger=self._logger)

    def producer(self, **own: Any) -> Any:
        """A producer.

        Raises:
            ViperError: a setting is wrong, or confluent-kafka is missing.
        """
        kafka = self._library()
        with self.explained("the producer"):
            return kafka.Producer(self.settings(**own), logger=self._logger)

    @contextmanager
    def administered(self) -> Iterator[Any]:
        """A client for questions about the cluster, which lives as long as the block.

        It has a name in here, as a future of one that was collected would never end.
        """
        self._library()
        from confluent_kafka.admin import AdminClient

        with self.explained("the client"):
            admin = AdminClient(self.settings(), logger=self._logger)
        yield admin  # whoever asks explains what goes wrong then

    def id(self) -> str:
        """The identity of the cluster.

        Raises:
            ViperError: no broker answers.
        """
        with self.administered() as admin, self.explained("the cluster"):
            return str(admin.list_topics(timeout=ANSWER_SECS).cluster_id)

    def topic(self, name: str) -> Topic:
        """A topic as the cluster has it.

        Raises:
            ViperError: no broker answers, or there is no such topic.
        """
        from confluent_kafka import KafkaError, KafkaException, TopicCollection

        with self.administered() as admin, self.explained(f"topic {name!r}"):
            try:
                found = admin.describe_topics(
                    TopicCollection([name]), request_timeout=ANSWER_SECS
                )[name].result(ANSWER_SECS)
            except KafkaException as error:
                if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                    raise self._error(
                        f"{self.servers} has no topic {name!r}: make it first "
                        f"(kafka-topics.sh --create --topic {name}), or check its name"
                    ) from None
                raise
        return Topic(name, str(found.topic_id), len(found.partitions))

    @contextmanager
    def explained(self, what: str) -> Iterator[None]:
        """Raise errors of the library as ours, with what was tried and what to do.

        Args:
            what: the client or the request that may fail.
        """
        from confluent_kafka import KafkaException

        try:
            yield
        except KafkaException as error:
            raise self._error(f"{self.servers}: {what}: {self.advice(error.args[0])}") from error
        except TimeoutError as error:  # of a future, which waits a little longer than its request
            raise self._error(f"{self.servers}: {what}: {_NOBODY.format('it was waited for')}") from error

    @staticmethod
    def advice(error: Any) -> str:
        """An error of the library in words, with what to do."""
        from confluent_kafka import KafkaError

        told, code = str(error.str() if hasattr(error, "str") else error), error.code()
        if code in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT,
                    KafkaError._RESOLVE):
            return _NOBODY.format(told)
        if code in (KafkaError._AUTHENTICATION, KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._SSL):
            return f"it does not let us in ({told}): check the settings in client (sasl.*, ssl.*)"
        if code == KafkaError._INVALID_ARG:
            return f"{told}: check the settings in client, which are librdkafka's"
        if code in (KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.GROUP_AUTHORIZATION_FAILED,
                    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED):
            return f"it does not allow us that ({told}): give the user of client the right to it"
        return told

    def _library(self) -> Any:
        try:
            import confluent_kafka
        except ImportError as error:
            raise self._error(
                f"Kafka wants confluent-kafka ({error}): pip install '/path/to/viperstorm[kafka]'"
            ) from None
        return confluent_kafka

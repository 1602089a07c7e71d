"""A broker of Kafka for tests: one process of Java, with its data in a folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

LIBRARIES = Path(__file__).parents[4] / "build" / "kafka" / "lib"
"""Kafka's own libraries, which ``make kafka`` fetches."""
ANSWER_S = 60.0
Message = tuple[bytes | None, bytes | None]


def reason_to_skip() -> str | None:
    """The reason for which there can be no broker here; None if there can."""
    if shutil.which("java") is None:
        return "a broker of Kafka wants Java"
    if not LIBRARIES.is_dir():
        return f"there is no {LIBRARIES}: make kafka fetches Kafka, and wants Maven"
    try:
        import confluent_kafka  # noqa: F401
    except ImportError:
        return "confluent-kafka is not installed"
    return None


def free_ports(count: int) -> Sequence[int]:
    """Ports that nobody listens on, below those that the system gives to clients."""
    found = []
    for port in range(21_000 + os.getpid() % 5_000, 32_000):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            return found
    raise OSError("there is no free port")


class Broker:
    """One broker, which is a cluster of its own.

    Args:
        folder: for its data and its log.
        properties: settings beside the usual ones.
    """

    def __init__(self, folder: Path, **properties: Any) -> None:
        self.folder = folder
        port, controller = free_ports(2)
        self.servers = f"127.0.0.1:{port}"
        self._topics = 0
        self._process: subprocess.Popen[bytes] | None = None
        ours = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@127.0.0.1:{controller}",
            "listeners": f"PLAINTEXT://{self.servers},CONTROLLER://127.0.0.1:{controller}",
            "advertised.listeners": f"PLAINTEXT://{self.servers}",
            "controller.listener.names": "CONTROLLER",
            "log.dirs": folder / "data",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 3,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.num.partitions": 3,
            "transaction.state.log.min.isr": 1,
            "group.initial.rebalance.delay.ms": 0,
            **{name.replace("_", "."): value for name, value in properties.items()},
        }
        folder.mkdir(parents=True, exist_ok=True)
        self._settings = folder / "server.properties"
        self._settings.write_text("".join(f"{name}={value}\n" for name, value in ours.items()))
        self._java("kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qk", "-c", self._settings)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        with open(self.folder / "broker.log", "ab") as log:
            self._process = subprocess.Popen(
                self._command("kafka.Kafka", self._settings), stdout=log, stderr=log, start_new_session=True
            )
        until_s = time.monotonic() + ANSWER_S
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until_s:
                said = (self.folder / "broker.log").read_text()
                raise OSError(f"the broker does not start: {said[-2000:]}")
            time.sleep(0.1)

    def kill(self) -> None:
        """Kill it; what it has said is on disk stays."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def restart(self) -> None:
        """Kill it, and start it again with the same data."""
        self.kill()
        self.start()

    # -- topics

    def make(self, topic: str, partitions: int = 3, **config: Any) -> None:
        """Make a topic, whose messages stay whatever their times are."""
        from confluent_kafka.admin import NewTopic

        settings = {"retention.ms": "-1", **{name.replace("_", "."): str(config[name]) for name in config}}
        admin = self._admin()
        for future in admin.create_topics([NewTopic(topic, partitions, 1, config=settings)]).values():
            future.result(ANSWER_S)

    def another(self, partitions: int = 3, **config: Any) -> str:
        """Make a topic that nobody else has; returns its name."""
        self._topics += 1
        name = f"topic-{self._topics}"
        self.make(name, partitions, **config)
        return name

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        admin = self._admin()
        for future in admin.delete_topics([topic]).values():
            future.result(ANSWER_S)

    def make_again(self, topic: str, partitions: int = 3) -> None:
        """Make a topic that is being deleted, as soon as it is gone."""
        from confluent_kafka import KafkaException

        until_s = time.monotonic() + ANSWER_S
        while True:
            try:
                return self.make(topic, partitions)
            except KafkaException:
                if time.monotonic() > until_s:
                    raise
                time.sleep(0.1)

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        from confluent_kafka.admin import NewPartitions

        admin = self._admin()
        for future in admin.create_partitions([NewPartitions(topic, partitions)]).values():
            future.result(ANSWER_S)

    def cut_off(self, topic: str, partition: int, offset: int) -> None:
        """Delete the messages before an offset, as retention does."""
        from confluent_kafka import TopicPartition

        admin = self._admin()
        for future in admin.delete_records([TopicPartition(topic, partition, offset)]).values():
            future.result(ANSWER_S)

    def put(self, topic: str, messages: Iterable[Mapping[str, Any]], **settings: Any) -> None:
        """Write messages, each as arguments of `Producer.produce`, in order."""
        from confluent_kafka import Producer

        # Else a batch that comes before a new topic has a leader would be written behind the next one.
        usual = {"bootstrap.servers": self.servers, "linger.ms": 5, "enable.idempotence": True}
        producer = Producer({**usual, **settings})
        for message in messages:
            while True:
                try:
                    producer.produce(topic, **message)
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(ANSWER_S) == 0

    def put_rows(self, topic: str, rows: Iterable[tuple[int, int, Any]]) -> None:
        """Write objects of JSON: the partition, the time in milliseconds, and the object of each."""
        self.put(
            topic,
            (
                {"value": json.dumps(found), "partition": partition, "timestamp": time_ms}
                for partition, time_ms, found in rows
            ),
        )

    def read(self, topic: str, partitions: int = 3) -> list[list[Message]]:
        """The committed messages of each partition: key and value, in order."""
        from confluent_kafka import Consumer, TopicPartition

        consumer = Consumer(
            {
                "bootstrap.servers": self.servers,
                "group.id": "test",
                "auto.offset.reset": "earliest",
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
            }
        )
        found: list[list[Message]] = [[] for _ in range(partitions)]
        ended: set[int] = set()
        try:
            consumer.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
            until_s = time.monotonic() + ANSWER_S
            while len(ended) < partitions:
                assert time.monotonic() < until_s, f"{topic} was read up to {list(map(len, found))}"
                for message in consumer.consume(10_000, 0.2):
                    if message.error() is not None:
                        ended.add(message.partition())
                    else:
                        found[message.partition()].append((message.key(), message.value()))
        finally:
            consumer.close()
        return found

    def objects(self, topic: str, partitions: int = 3) -> list[Any]:
        """The committed objects of JSON of all partitions, one partition after the other."""
        return [json.loads(value or b"null") for part in self.read(topic, partitions) for _, value in part]

    # -- within

    def _admin(self) -> Any:
        from confluent_kafka.admin import AdminClient

        return AdminClient({"bootstrap.servers": self.servers, "log_level": 0})

    def _answers(self) -> bool:
        from confluent_kafka import KafkaException

        try:
            admin = self._admin()
            return bool(admin.list_topics(timeout=2).brokers)
        except KafkaException:
            return False

    def _command(self, name: str, *arguments: Any) -> list[str]:
        return ["java", "-Xmx512m", "-cp", f"{LIBRARIES}/*", name, *map(str, arguments)]

    def _java(self, name: str, *arguments: Any) -> None:
        subprocess.run(self._command(name, *arguments), check=True, capture_output=True)

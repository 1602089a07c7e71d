"""Writes orders into the topic that the topology reads, or reads the totals that it has written."""

import json
import os
import random
import sys

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

SERVERS = os.environ.get("KAFKA", "localhost:9092")
PARTITIONS = 3


def write(count):
    """Make both topics if they are not there, and write so many orders."""
    admin = AdminClient({"bootstrap.servers": SERVERS})
    there = admin.list_topics(timeout=10).topics
    new = [NewTopic(name, PARTITIONS) for name in ("orders", "totals") if name not in there]
    for future in admin.create_topics(new).values() if new else ():
        future.result(10)
    producer = Producer({"bootstrap.servers": SERVERS})
    for _ in range(count):
        order = {"user": random.choice(["ann", "bob", "cem"]), "cents": random.randrange(100, 1000)}
        producer.produce("orders", json.dumps(order), order["user"])
    producer.flush()
    print(f"wrote {count} orders")


def read():
    """Print the last total of each user."""
    settings = {"group.id": "read", "isolation.level": "read_committed", "enable.partition.eof": True}
    consumer = Consumer({"bootstrap.servers": SERVERS, **settings})
    consumer.assign([TopicPartition("totals", number, 0) for number in range(PARTITIONS)])
    totals, left = {}, PARTITIONS
    while left:
        message = consumer.poll(10)
        if message is None or message.error():
            left -= 1
        else:
            total = json.loads(message.value())
            totals[total["user"]] = total["cents"]
    consumer.close()
    for user, cents in sorted(totals.items()):
        print(user, cents)


if __name__ == "__main__":
    read() if "--read" in sys.argv else write(1000)

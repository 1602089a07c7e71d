"""The total of each user: from a topic of Kafka into another one."""

import os

from bolts.totals import Total

from viperstorm import TopologyBuilder
from viperstorm.sinks import KafkaSink
from viperstorm.sources import KafkaSource

SERVERS = os.environ.get("KAFKA", "localhost:9092")

builder = TopologyBuilder()
# A partition without orders holds the others back for 5 seconds.
orders = KafkaSource("orders", SERVERS, "json", ["user", "cents"], types={"cents": "int64"}, idle_secs=5)
builder.set_spout("orders", orders, 2)
builder.set_bolt("total", Total, 2).fields_grouping("orders", "user")
builder.set_bolt("totals", KafkaSink("totals", SERVERS, key="user")).global_grouping("total")
topology = builder.build("$name")

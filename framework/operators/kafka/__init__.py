"""Topics of Kafka as sources and sinks.

- `client`: the settings of clients, their errors in our words, and what a cluster says of a topic
- `decoding`: rows of messages; `encoding`: messages of rows
- `reader`: one consumer for all partitions that a task brings
- `source`, `sink`: the spout and the bolt

The library confluent-kafka is the extra ``kafka``. It is imported where it is used, in the process that uses
it, as no client of it survives a fork.
"""

from framework.operators.kafka.sink import KafkaSink
from framework.operators.kafka.source import KafkaSource

__all__ = ["KafkaSink", "KafkaSource"]

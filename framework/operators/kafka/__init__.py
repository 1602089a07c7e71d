"""Topics of Kafka as sources and sinks.

- `client`: the settings of clients, their errors in our words, and what a cluster says of a topic
- `decoding`: rows of messages; `encoding`: messages of rows
- `reader`: one consumer for all partitions that a task brings
- `source`, `sink`: the spout and the bolt

Only `client` imports confluent-kafka, which is the extra ``kafka``.
"""

"""Rows as components emit them and records as components receive them, in C.

`Outbox.emit` snapshots one row of exactly immutable values and leaves everything else to a Python callable.
An `Inbox` turns rows into named records and notes how many rows the outbox held after each. Output positions
are made of these counts. `encode_rows` and a `Decoder` carry rows of such values to other processes. Readers
skip those rows of `encode_addressed` that do not concern them, as `own_rows` does within a process. A
`SlotTable` and `bits_of_mask` read Arrow arrays; `is_ascii` examines their texts, and `descent` times.
"""

from viper._rows import (
    Decoder,
    Inbox,
    Outbox,
    SlotTable,
    are_ends,
    bits_of_mask,
    call_choosing,
    call_each,
    call_flat,
    copy_batch,
    count_up,
    descent,
    encode_addressed,
    encode_rows,
    ends,
    ends_of_bits,
    exchange,
    fold,
    gather,
    interleave,
    interleave_tags,
    is_ascii,
    is_plain,
    is_valid,
    kept,
    misfit,
    own_rows,
    partition,
    plain_rows,
    select,
)

__all__ = [
    "Decoder",
    "Inbox",
    "Outbox",
    "SlotTable",
    "are_ends",
    "bits_of_mask",
    "call_choosing",
    "call_each",
    "call_flat",
    "copy_batch",
    "count_up",
    "descent",
    "encode_addressed",
    "encode_rows",
    "ends",
    "ends_of_bits",
    "exchange",
    "fold",
    "gather",
    "interleave",
    "interleave_tags",
    "is_ascii",
    "is_plain",
    "is_valid",
    "kept",
    "misfit",
    "own_rows",
    "partition",
    "plain_rows",
    "select",
]

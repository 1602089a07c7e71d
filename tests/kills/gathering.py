"""Batching bolts of runs that are killed; see `tests.kills.components`."""

from __future__ import annotations

from typing import Any

from framework import BatchingBolt, ValueState
from tests.kills.components import mixed
from tests.kills.sources import FIELDS, KEYS


class Gathers(BatchingBolt):
    """Gathers rows in a few batches, and chains each of these."""

    outputs = FIELDS
    config: dict[str, Any] = {"topology.tick.tuple.freq.secs": 0.000017}
    chain = ValueState("int64", default=0, per="task")

    def group_key(self, tup: Any) -> int:
        return int(tup.values[0]) % 5

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        values = [tup.values[1] for tup in tups]
        self.chain.value = mixed(self.chain.value, values)
        for value in values[::3]:
            self.emit([(key + value) % KEYS, mixed(self.chain.value, value)])


class StumblesOverBatches(Gathers):
    """As `Gathers`; raises at some batches, which are left out, when their state has changed."""

    config = {**Gathers.config, "viper.on.error": "skip"}
    exit_on_exception = False

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        super().process_batch(key, tups)
        if len(tups) % 5 == 3:
            raise ValueError(tups)

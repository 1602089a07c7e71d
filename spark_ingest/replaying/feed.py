"""The feed from which a `SparkSpout` has its rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from framework.operators.components.partitioned import Block, Watermark

if TYPE_CHECKING:
    import pyarrow as pa


class Feed(Protocol):
    """A prepared dataset, or a Spark job that runs meanwhile; see `PartitionedSpout` as well."""

    read: dict[int, int]
    """The number of rows of each stream that this task has read."""

    @property
    def late(self) -> int:
        """The number of rows of a stream that have come too late; one task reports it for all of them."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the columns that rows have, in order."""

    def types(self) -> pa.Schema | None:
        """The types of these columns, where they are known before the run."""

    def bring_columns(self) -> None:
        """From now on, bring blocks of record batches."""

    @property
    def partitions(self) -> int:
        """The number of streams."""

    @property
    def rows_total(self) -> int | None:
        """The number of rows of all streams together; None if nobody knows."""

    @property
    def identity(self) -> str:
        """Names the data."""

    def companion(self, conf: Mapping[str, Any]) -> AbstractContextManager[Mapping[str, Any]]:
        """Runs beside the tasks; refuses the run where it can already be seen that it would fail."""

    def open(self, conf: Mapping[str, Any]) -> None:
        """Called once in each task, first of all; what the companion gave is in the configuration."""

    def origin_us(self) -> int | None:
        """The earliest event time of all partitions, asked after `open`; None where there is no row."""

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | None]:
        """All rows of a partition, in order."""

    def close(self) -> None:
        """Called once in each task that was opened."""

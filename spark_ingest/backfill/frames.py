"""From stages to DataFrames: who feeds whom, which rows meet in a shard, and in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

from framework.model.config import Settings
from framework.model.importing import importable
from framework.model.instantiate import Beans
from framework.model.topology import PythonImplementation, Role, one_of
from framework.operators.components.partitioned import PartitionedSpout
from framework.planning import Plan
from spark_ingest.backfill.executing import bolt_stage, frame_spout_stage, own_spout_stage
from spark_ingest.backfill.shapes import Feed, Output, Stage
from spark_ingest.backfill.shipping import ship
from spark_ingest.backfill.typed import full_schema, typed_at_once, typed_stage
from spark_ingest.backfill.wire import POSITION, ROW, SOURCE, STREAM, key_column, sent_schema
from spark_ingest.errors import JobError
from spark_ingest.job.stream_spec import TIME, named

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

_BUCKET = "_bucket"


@dataclass(frozen=True, slots=True)
class Given:
    """The rows of a spout as a DataFrame, whose partitions are those of the spout."""

    rows: DataFrame
    """The time in microseconds, then the spout's fields; each partition in the order of time."""
    unit: str = "us"
    """The unit that timestamps among the values are converted to."""


@dataclass(frozen=True, slots=True)
class Step:
    """The function of a stage, over the rows that it receives."""

    rows: DataFrame
    function: partial[Iterator[Any]]


class Frames:
    """Makes the DataFrames of a backfill.

    Args:
        spark: where they are.
        plan: of the whole topology.
        settings: the configuration it was planned with, without the tracking of tuples.
        stages: each after those that feed it.
        given: the rows of spouts that executors do not read by themselves.
        shards: into how many the keys of a bolt are divided.
    """

    def __init__(
        self,
        spark: SparkSession,
        plan: Plan,
        settings: Settings,
        stages: Sequence[Stage],
        given: Mapping[str, Given],
        shards: int,
    ) -> None:
        self._spark = spark
        self._plan = plan
        self._settings = settings
        self._stages = {stage.component: stage for stage in stages}
        self._given = given
        self._shards = shards
        self._uses: Counter[str] = Counter()
        self._steps: dict[str, Step] = {}
        self._sent: dict[str, DataFrame] = {}
        self._kept: list[DataFrame] = []

    def make(self, outputs: Sequence[Output]) -> None:
        """Make the DataFrame of every stage; nothing runs as yet.

        Frames that are used more than once are kept on the executors' disks, so that they are not made again.

        Raises:
            JobError: the rows given for a spout are not as they should be.
            BackfillError: something cannot be carried to the executors.
        """
        self._uses.update(output.component for output in outputs)
        for stage in self._stages.values():
            self._uses.update({feed.source for feed in stage.feeds})
        for stage in self._stages.values():
            step = self._spout(stage) if stage.role is Role.SPOUT else self._bolt(stage)
            made = self._mapped(step.rows, sent_schema(len(stage.keys)), step.function)
            if self._uses[stage.component] > 1 and not self._is_read_by_executors(stage):
                made = self._keep(made)
            self._steps[stage.component], self._sent[stage.component] = step, made

    def rows(self, output: Output) -> DataFrame:
        """The rows of an output: position and pickled values."""
        stage = self._stages[output.component]
        return self._of_stream(stage, output.stream).select(POSITION, ROW)

    def typed(self, output: Output, schema: StructType) -> DataFrame:
        """The rows of an output as columns: time, position, and the fields by their types."""
        columns = full_schema(schema)
        if self._uses[output.component] > 1:
            return self._mapped(self.rows(output), columns, typed_stage, output, schema)
        # Nobody else wants them, so that the process that makes them can do it.
        step = self._steps[output.component]
        return self._mapped(step.rows, columns, typed_at_once, step.function, output, schema)

    def _mapped(self, rows: DataFrame, schema: Any, function: Any, *arguments: Any) -> DataFrame:
        return rows.mapInArrow(ship(self._plan.topology, function, *arguments), schema)

    def close(self) -> None:
        """Keep nothing any more."""
        for kept in self._kept:
            kept.unpersist()
        self._kept.clear()

    def _keep(self, made: DataFrame) -> DataFrame:
        from pyspark import StorageLevel

        self._kept.append(made.persist(StorageLevel.DISK_ONLY))
        return made

    def _of_stream(self, stage: Stage, stream: str) -> DataFrame:
        sent = self._sent[stage.component]
        if stage.streams == (stream,):
            return sent
        return sent.where(sent[STREAM] == self._tag(stage.component, stream))

    def _tag(self, component: str, stream: str) -> int:
        outputs = self._plan.topology.component(component).outputs or ()
        return [declared.name for declared in outputs].index(stream)

    # -- spouts

    def _is_read_by_executors(self, stage: Stage) -> bool:
        return stage.role is Role.SPOUT and stage.component not in self._given

    def _spout(self, stage: Stage) -> Step:
        given = self._given.get(stage.component)
        if given is None:
            return self._own_spout(stage)
        fields = self._fields(stage)
        if given.rows.columns != [TIME, *fields]:
            raise JobError(
                f"the rows given for spout {stage.component!r} have columns {one_of(given.rows.columns)}: "
                f"expected {TIME!r}, then its fields {list(fields)}, as as_streams makes them"
            )
        kind = given.rows.schema[TIME].dataType.simpleString()
        if kind != "bigint":
            raise JobError(
                f"the rows given for spout {stage.component!r} have {TIME!r} as {kind}: "
                "expected bigint, microseconds since 1970 UTC, as as_streams makes it"
            )
        rows = given.rows.select(TIME, *map(named, fields))
        return Step(rows, partial(frame_spout_stage, self._plan, stage, given.unit))

    def _own_spout(self, stage: Stage) -> Step:
        count = self._partitions(stage)
        return Step(self._spark.range(0, count, 1, count), partial(own_spout_stage, self._plan, stage))

    def _partitions(self, stage: Stage) -> int:
        topology = self._plan.topology
        implementation = topology.component(stage.component).implementation
        assert isinstance(implementation, PythonImplementation)
        with importable(topology.import_paths):
            spout: PartitionedSpout = Beans(topology.beans).make(implementation.definition)
            return spout.partitions

    def _fields(self, stage: Stage) -> tuple[str, ...]:
        outputs = self._plan.topology.component(stage.component).outputs or ()
        return outputs[0].fields if outputs else ()

    # -- bolts

    def _bolt(self, stage: Stage) -> Step:
        sources = sorted({feed.source for feed in stage.feeds})
        parts = [self._received(feed, sources.index(feed.source)) for feed in stage.feeds]
        received = reduce(lambda one, other: one.union(other), parts)
        if stage.is_sharded:
            # What has no shard of its own by key (see `make_stages`) keeps the order that it was made in.
            received = received.repartition(self._shards, _BUCKET).sortWithinPartitions(POSITION)
        rows = received.select(POSITION, SOURCE, STREAM, ROW)
        return Step(rows, partial(bolt_stage, self._plan, self._settings, stage))

    def _received(self, feed: Feed, index: int) -> DataFrame:
        from pyspark.sql import functions as F

        source = self._stages[feed.source]
        bucket: Any = F.lit(0) if feed.key is None else F.col(key_column(source.keys.index(feed.key)))
        sent = self._of_stream(source, feed.stream)
        return sent.select(POSITION, F.lit(index).alias(SOURCE), STREAM, ROW, bucket.alias(_BUCKET))

"""A topology over a history, inside Spark's executors."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from spark_ingest.backfill.asking import Asked, ask
from spark_ingest.backfill.errors import understood
from spark_ingest.backfill.frames import Frames, Given
from spark_ingest.backfill.jobs import rows_of_jobs
from spark_ingest.backfill.planned import Planned
from spark_ingest.backfill.schemas import SAMPLE_ROWS, declared_schema, inferred_schema
from spark_ingest.backfill.shapes import Output
from spark_ingest.backfill.wire import ROW
from spark_ingest.engine.session import make_session

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class Backfill(Mapping[str, "DataFrame"]):
    """The streams of a topology as DataFrames, by the names that they were asked for.

    Columns are ``_time_us`` (microseconds since 1970 UTC), ``_position`` (24 bytes that sort as positions do)
    and the fields. Nothing has run as yet: each use runs what it needs. If a component raises then, it is
    Spark that raises; `understood` makes a `BackfillError` of that. Close it, or use it as a context manager:
    it may hold a session, and rows that are used more than once.
    """

    def __init__(self, spark: SparkSession, frames: Mapping[str, DataFrame], stack: ExitStack) -> None:
        """
        Args:
            spark: where the frames are.
            frames: by name.
            stack: gives back what is held.
        """
        self.spark = spark
        self._frames = frames
        self._stack = stack

    def __getitem__(self, name: str) -> DataFrame:
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def close(self) -> None:
        """Give back what is held; where the session was started for it, the DataFrames end with that."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def backfill(
    topology: object,
    outputs: Sequence[str],
    *,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, Any] | None = None,
    shards: int | None = None,
    schemas: Mapping[str, str] | None = None,
    rows: Mapping[str, DataFrame] | None = None,
    settings: Mapping[str, Any] | None = None,
    environment: str | None = None,
) -> Backfill:
    """Run a topology over the history of its spouts, one shard of the keys in each of Spark's tasks.

    Every stream is the same set of positions and values as in a run on one machine. Each key's tuples are
    processed in the same order, by the same bolts. A topology that cannot be run so is refused before
    anything starts.

    Args:
        topology: a topology class, ours or streamparse's, a `TopologyBuilder`, a function that returns one,
            a topology, or a target as on the command line (``topologies/x.yaml``).
        outputs: the streams that are wanted, as ``component`` or ``component/stream``. Components that none
            of them comes from or through are not run, such as sinks.
        spark: the caller's session; None uses the active one, or starts one.
        master: Spark's master, for a session that is started; None: that of the spout's job, or ``local[*]``.
        conf: Spark's configuration, for a session that is started.
        shards: into how many the keys of each bolt are divided; None: as many as Spark has cores.
        schemas: for outputs by name the types of their fields, as in SQL: ``carrier string, hour bigint``.
            If one is missing, a sample shows the types; for that, the components before it run twice.
        rows: for spouts by id the rows that they bring, in place of what they would read. They are DataFrames
            whose first column is ``_time_us``, and whose partitions are the spout's, each in the order of
            time. Timestamps among the other columns arrive in microseconds.
        settings: configuration of the topology, as by ``-o`` on the command line.
        environment: chooses from a ``par`` that is given per environment.

    Raises:
        TopologyError: the topology cannot be run so; the error has all problems.
        JobError: an argument that is refused, or a sample that does not show the types.
        SparkError: Spark does not start, or failed.
        BackfillError: a component raised when types were looked for.
    """
    return opened(
        ask(
            topology,
            outputs,
            spark=spark,
            master=master,
            conf=conf,
            shards=shards,
            schemas=schemas,
            rows=rows,
            settings=settings,
            environment=environment,
        )
    )


def opened(asked: Asked, look: Callable[[SparkSession], object] = lambda spark: None) -> Backfill:
    """The DataFrames of what is asked for.

    Args:
        asked: from `ask`.
        look: is called with the session before anything runs in it; refuses by raising.

    Raises:
        ViperError: as of `backfill`.
    """
    planned = asked.planned
    with ExitStack() as stack:
        name = f"viper backfill {planned.plan.topology.name}"
        session = stack.enter_context(make_session(asked.master, asked.conf, name, asked.spark))
        look(session)
        types = _types(asked)
        frames = _frames(session, asked)
        stack.callback(frames.close)
        made = {output.name: _typed(planned, frames, output, schema) for output, schema in types.items()}
        return Backfill(session, made, stack.pop_all())


def _frames(spark: SparkSession, asked: Asked) -> Frames:
    planned, given = asked.planned, {spout: Given(frame) for spout, frame in asked.rows.items()}
    rows = {**rows_of_jobs(spark, asked.jobs), **given}
    number = asked.shards or spark.sparkContext.defaultParallelism
    frames = Frames(spark, planned.plan, planned.settings, planned.stages, rows, number)
    frames.make(asked.outputs)
    return frames


def _types(asked: Asked) -> dict[Output, StructType | None]:
    """The declared schemas, checked before anything runs; None where a sample has to show them."""
    return {
        output: declared_schema(output, asked.planned.fields(output), asked.schemas[output.name])
        if output.name in asked.schemas
        else None
        for output in asked.outputs
    }


def _typed(planned: Planned, frames: Frames, output: Output, declared: StructType | None) -> DataFrame:
    schema = declared or _inferred(frames.rows(output), output, planned.fields(output))
    return frames.typed(output, schema)


def _inferred(rows: DataFrame, output: Output, fields: Sequence[str]) -> StructType:
    with understood(f"the sample of output {output.name!r}"):
        sample = rows.select(ROW).limit(SAMPLE_ROWS).collect()
    return inferred_schema(output, fields, [pickle.loads(row[0]) for row in sample])

"""ViperStorm: each workload in several variants, which differ in how the bolts are written.

A further variant is a function that makes its topology, and an entry in `VARIANTS`; the registry says how it
is run.

Options of a job are the ``variant``; ``par``, the parallelism of each bolt between source and sink, or by
their ids; and ``config``, the topology's configuration. The ids of bolts are the same in all variants of a
workload, so that placements hold for each.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.peers.jobs import Job
from benchmarks.peers.programs import columns, components
from benchmarks.peers.workloads import KEPT_FROM
from framework import StreamBuilder, TopologyBuilder
from framework.model.config import resolve
from framework.model.topology import Grouping, Topology
from framework.optimizer.planned import planned
from framework.runtime import run as run_plan

Make = Callable[[Job], Topology]

Bolts = Mapping[str, tuple[type, str | None]]
"""By id, in order: the class of each bolt between source and sink, and the field that groups its input, None
where tuples are shuffled."""


def of_bolts(bolts: Bolts, source: type = components.Source, sink: type = components.TallySink) -> Make:
    """Make the maker of a chain of bolts between a source and a sink; a bolt that wants the job gets it."""

    def make(job: Job) -> Topology:
        text, builder, before = job.to_json(), TopologyBuilder(), "source"
        builder.set_spout(before, source, args=[text])
        for name, (cls, field) in bolts.items():
            args = [text] if issubclass(cls, components.WithJob) else []
            declarer = builder.set_bolt(name, cls, par_of(job, name), args=args)
            if field is None:
                declarer.shuffle_grouping(before)
            else:
                declarer.fields_grouping(before, field)
            before = name
        builder.set_bolt("sink", sink, args=[text]).global_grouping(before)
        return builder.build("workload")

    return make


def par_of(job: Job, name: str) -> int:
    """The parallelism of a bolt."""
    par = job.option("par", 1)
    return int(par if isinstance(par, int) else par.get(name, 1))


def words_of_functions(job: Job) -> Topology:
    """Word count with functions."""
    builder = StreamBuilder()
    lines = builder.new_stream(components.Source(job.to_json()), name="source")
    words = lines.flat_map(str.split, fields=["word"], par=par_of(job, "split"), name="split")
    counted = words.key_by("word").count_by_key(par=par_of(job, "count"), name="count")
    counted.to(components.TallySink(job.to_json()), grouping=Grouping.GLOBAL, name="sink")
    return builder.build("workload")


def is_kept(ts: int, key: int, value: float) -> bool:
    """True if the value is large enough."""
    return value >= KEPT_FROM


def is_wide_kept(*record: Any) -> Any:
    """True if the last value is large enough, of a record of any width."""
    return record[-1] >= KEPT_FROM


def filter_of_functions(job: Job) -> Topology:
    """The filter with a function."""
    builder = StreamBuilder()
    records = builder.new_stream(components.Source(job.to_json()), name="source")
    function = is_kept if job.workload == "filter" else is_wide_kept
    kept = records.filter(function, par=par_of(job, "keep"), name="keep")
    kept.to(components.TallySink(job.to_json()), grouping=Grouping.GLOBAL, name="sink")
    return builder.build("workload")


Latest = tuple[int, int | None, bool]
"""An id's last record without the id, and whether it has changed anything."""

NO_RECORD: Latest = (0, None, False)


def latest(state: Latest, ts: int, segment: int) -> Latest:
    """The next state of an id."""
    return ts, segment, segment != state[1]


def has_changed(key: int, ts: int, segment: int, changed: bool) -> bool:
    """True if a record is emitted."""
    return changed


def as_record(key: int, ts: int, segment: int, changed: bool) -> tuple[int, int, int]:
    """The record as it came."""
    return ts, key, segment


def changes_of_functions(job: Job) -> Topology:
    """Keyed state with functions."""
    builder = StreamBuilder()
    records = builder.new_stream(components.Source(job.to_json()), name="source")
    fields = ["ts", "segment", "changed"]
    states = records.key_by("id", name="key").aggregate_by_key(
        NO_RECORD, latest, fields=fields, par=par_of(job, "change"), name="change"
    )
    changed = states.filter(has_changed, name="changed").map(
        as_record, fields=["ts", "id", "segment"], name="record"
    )
    changed.to(components.TallySink(job.to_json()), grouping=Grouping.GLOBAL, name="sink")
    return builder.build("workload")


IN_COLUMNS = (columns.ColumnSource, columns.ColumnSink)


def words_of(split: type, count: type, *ends: type) -> Make:
    """Make the maker of a word count by two bolts."""
    return of_bolts({"split": (split, None), "count": (count, "word")}, *ends)


def latency_of(count: type) -> Make:
    """Make the maker of a count of what comes on a schedule."""
    bolts = {"forward": (components.Forward, None), "count": (count, "key")}
    return of_bolts(bolts, components.PacedSource)


VARIANTS: dict[tuple[str, str], Make] = {
    ("words", "tuples"): words_of(components.Split, components.Count),
    ("words", "tuples with state"): words_of(components.Split, components.CountDeclared),
    ("words", "functions"): words_of_functions,
    ("words", "batches"): words_of(components.SplitRows, components.CountRows),
    ("words", "batches with state"): words_of(components.SplitRows, components.CountRowsDeclared),
    ("filter", "tuples"): of_bolts({"keep": (components.Keep, None)}),
    ("filter", "functions"): filter_of_functions,
    ("filter", "batches"): of_bolts({"keep": (components.KeepRows, None)}),
    ("changes", "tuples"): of_bolts({"change": (components.Change, "id")}),
    ("changes", "tuples with state"): of_bolts({"change": (components.ChangeDeclared, "id")}),
    ("changes", "functions"): changes_of_functions,
    ("changes", "batches"): of_bolts({"change": (components.ChangeRows, "id")}),
    ("changes", "batches with state"): of_bolts({"change": (components.ChangeRowsDeclared, "id")}),
    ("words", "columns"): words_of(columns.SplitColumns, columns.CountColumns, *IN_COLUMNS),
    ("words", "columns with state"): words_of(
        columns.SplitColumns, columns.CountColumnsDeclared, *IN_COLUMNS
    ),
    ("filter", "columns"): of_bolts({"keep": (columns.KeepColumns, None)}, *IN_COLUMNS),
    ("changes", "columns"): of_bolts({"change": (columns.ChangeColumns, "id")}, *IN_COLUMNS),
    ("latency", "tuples"): latency_of(components.CountPaced),
    ("latency", "tuples with state"): latency_of(components.CountPacedDeclared),
}
"""By kind of workload, and variant."""


def topology_of(job: Job) -> Topology:
    """The topology of a job.

    Raises:
        KeyError: there is no such variant.
    """
    return VARIANTS[job.task.kind, job.option("variant")](job)


def run(job: Job) -> None:
    """Run a job."""
    topology = topology_of(job)
    settings, problems = resolve(topology, options={"viper.worker": "inline", **job.option("config", {})})
    assert not problems, problems
    run_plan(planned(topology, settings), settings)


if __name__ == "__main__":
    run(Job.given())

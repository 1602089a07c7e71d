"""Snapshots of a run as metrics for Prometheus: in base units, by component, with totals as counters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from framework.runtime.observation import ComponentSnapshot, RunSnapshot, TaskSnapshot
from framework.runtime.observation.counters import Counts, bound_s
from framework.web.watch import RunWatch

_PREFIX = "viperstorm_"
_BOUNDS_S = (1e-5, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 60.0)

_TUPLE_SECONDS = (
    "Of a bolt from taking a tuple to handing its output on; of a spout from emit to ack, one at a time."
)

_TOTALS: tuple[tuple[str, str, Callable[[ComponentSnapshot], float]], ...] = (
    ("emitted_tuples", "Tuples emitted.", lambda each: each.emitted),
    ("processed_tuples", "Tuples processed.", lambda each: each.processed),
    ("acked_tuples", "Tuples acked; of a spout, tracked ones.", lambda each: each.acked),
    ("failed_tuples", "Tuples failed; of a spout, tracked ones.", lambda each: each.failed),
    ("lost_tuples", "Untracked tuples lost because of an exception.", lambda each: each.lost),
    ("late_tuples", "Tuples later than their slack allows.", lambda each: each.late),
    ("errors", "Exceptions that did not end the run.", lambda each: each.errors),
    ("restarts", "Tasks made again.", lambda each: each.restarts),
    ("blocked_seconds", "Time in which tasks found no room for output.", lambda each: each.blocked_s),
)
_GAUGES: tuple[tuple[str, str, Callable[[ComponentSnapshot], float]], ...] = (
    ("waiting_tuples", "Tuples that wait in its channels.", lambda each: each.waiting),
    ("queue_fill_ratio", "How full its fullest input is.", lambda each: each.fill),
    ("tasks", "Tasks that get tuples.", lambda each: each.parallelism),
)


class RunCollector(Collector):
    """Collects the metrics of one run, each time somebody asks.

    Args:
        watch: what was seen.
    """

    def __init__(self, watch: RunWatch) -> None:
        self._watch = watch

    def collect(self) -> Iterator[Metric]:
        """All metrics, from the last look."""
        look = self._watch.last
        topology = self._watch.description.topology
        components = look.snapshot.components
        yield self._about()
        yield from _of_run(topology, look.snapshot, is_up=self._watch.state not in ("ended", "silent"))
        for name, help, value in _TOTALS:
            counter = CounterMetricFamily(_PREFIX + name, help, labels=("topology", "component", "role"))
            for each in components:
                counter.add_metric((topology, each.id, each.role), value(each))
            yield counter
        for name, help, value in _GAUGES:
            gauge = GaugeMetricFamily(_PREFIX + name, help, labels=("topology", "component", "role"))
            for each in components:
                gauge.add_metric((topology, each.id, each.role), value(each))
            yield gauge
        yield from _claims(topology, components)
        yield from self._work(topology, components)

    def _work(self, topology: str, components: Sequence[ComponentSnapshot]) -> Iterator[Metric]:
        """Yield totals that keep growing when a worker process is replaced, as sums over tasks would not."""
        labels = ("topology", "component", "role")
        done, rates = self._watch.history.total, self._watch.last.rates
        busy = CounterMetricFamily(_PREFIX + "busy_seconds", "Time of the turns of tasks.", labels=labels)
        waited = CounterMetricFamily(
            _PREFIX + "waited_seconds", "Part of it in which they did not compute, but waited.", labels=labels
        )
        capacity = _gauge("capacity_ratio", "Share of time for which its busiest task can no more.", labels)
        histogram = HistogramMetricFamily(_PREFIX + "tuple_seconds", _TUPLE_SECONDS, labels=labels)
        for each in components:
            named, counts = (topology, each.id, each.role), done[each.id].times
            busy.add_metric(named, done[each.id].busy_s)
            waited.add_metric(named, done[each.id].waited_s)
            if each.id in rates:
                capacity.add_metric(named, rates[each.id].capacity)
            total_s = sum(bound_s(bucket) * count for bucket, count in counts)
            histogram.add_metric(named, _buckets(counts), total_s)
        yield from (busy, waited, capacity, histogram)

    def _about(self) -> Metric:
        description = self._watch.description
        about = InfoMetricFamily(_PREFIX + "run", "The run.")
        about.add_metric(
            (),
            {
                "topology": description.topology,
                "version": description.version,
                "pid": str(description.pid),
                "worker": description.worker,
            },
        )
        return about


def exposed(watch: RunWatch, accept: str) -> tuple[bytes, str]:
    """The metrics as bytes, and their content type.

    Args:
        watch: what was seen.
        accept: the header of the request that says which formats are understood.
    """
    registry = CollectorRegistry()
    registry.register(RunCollector(watch))
    encode, content_type = choose_encoder(accept)
    return encode(registry), content_type


def _of_run(topology: str, snapshot: RunSnapshot, *, is_up: bool) -> Iterator[Metric]:
    gauges: Iterable[tuple[str, str, float]] = (
        ("up", "Whether the run answers.", is_up),
        ("elapsed_seconds", "Time since its spouts were activated.", snapshot.elapsed_s),
        ("active", "Whether its spouts are asked for tuples.", snapshot.active),
        ("draining", "Whether it was asked to end.", snapshot.draining),
        *([] if snapshot.share is None else [("done_ratio", "How much of it is over.", snapshot.share)]),
    )
    for name, help, value in gauges:
        gauge = _gauge(name, help, labels=("topology",))
        gauge.add_metric((topology,), float(value))
        yield gauge
    for name, help, value in (
        ("worker_deaths", "Worker processes that have died.", snapshot.deaths),
        ("checkpoints", "Checkpoints that it has written.", snapshot.checkpoints),
        ("tuples_lost_with_workers", "Untracked tuples lost with worker processes.", snapshot.lost),
    ):
        counter = CounterMetricFamily(_PREFIX + name, help, labels=("topology",))
        counter.add_metric((topology,), value)
        yield counter


def _claims(topology: str, components: Sequence[ComponentSnapshot]) -> Iterator[Metric]:
    """Yield the claims of the bolts whose tasks have claimed anything; nothing where none has."""
    claiming = [each for each in components if each.tuples_a_claim is not None]
    totals: Iterable[tuple[str, str, Callable[[TaskSnapshot], int]]] = (
        ("claims", "Claims of input that tasks share.", lambda task: task.claims),
        ("claimed_tuples", "Tuples of these claims.", lambda task: task.claimed),
    )
    for name, help, of_task in totals:
        counter = CounterMetricFamily(_PREFIX + name, help, labels=("topology", "component", "role"))
        for each in claiming:
            counter.add_metric((topology, each.id, each.role), sum(map(of_task, each.tasks)))
        yield from [counter] if claiming else []


def _gauge(name: str, help: str, labels: tuple[str, ...]) -> GaugeMetricFamily:
    return GaugeMetricFamily(_PREFIX + name, help, labels=labels)


def _buckets(counts: Counts) -> list[tuple[str, float]]:
    """Cumulative counts by upper bound, as Prometheus has them."""
    within = [
        (str(limit_s), float(sum(count for bucket, count in counts if bound_s(bucket) <= limit_s)))
        for limit_s in _BOUNDS_S
    ]
    return [*within, ("+Inf", float(sum(count for _, count in counts)))]

"""The task that stands in for a spout's: brings recorded tuples at their recorded positions."""

from __future__ import annotations

from framework.components import Spout
from framework.planning import Task
from framework.recording import Brought
from framework.runtime.edges.collector import TaskCollector
from framework.runtime.edges.destination import Row
from framework.runtime.edges.output import Output
from framework.runtime.hosts.faults import Recovery
from framework.runtime.hosts.host import Host, Identity
from framework.runtime.tasks.source_task import SourceTask
from viper.quota import Quota


class ReplayTask(SourceTask):
    """Replays one partition of a recording; the spout itself is not made."""

    def __init__(
        self,
        task: Task,
        collector: TaskCollector,
        output: Output,
        identity: Identity,
        recovery: Recovery,
        *,
        source: Brought,
        quota: Quota,
    ) -> None:
        """
        Args:
            task: the spout's.
            collector: counts what is brought.
            output: routes it.
            identity: the spout's.
            recovery: has nothing to do.
            source: what was recorded.
            quota: bounds it.
        """
        super().__init__(task, Host(Spout()), collector, output, identity, recovery)
        self._source = source
        self._quota = quota
        self._stopped = False

    @property
    def has_ended(self) -> bool:
        """Whether there will be no more input."""
        return self._stopped or self._source.exhausted

    def run(self, limit: int) -> int:
        """Bring so many tuples at most."""
        granted = self._quota.take(limit)
        batch = self._source.take(granted)
        count = len(batch.rows)
        self._quota.settle(granted, count)
        if count:
            self.collector.counters.emitted += count
            self.last_us = batch.positions.last().ts
            self._record(batch.rows, batch.tags, batch.positions)
            self.output.deliver(batch.rows, batch.tags, batch.positions, batch.mutable)
        self.unblock()
        if not self._source.exhausted:
            self.publish(self._source.frontier)
        return count

    def end(self) -> None:
        """Bring no more."""
        self._stopped = True

    def _take_placed(self) -> tuple[list[Row], bytes | None, bool]:
        return [], None, False

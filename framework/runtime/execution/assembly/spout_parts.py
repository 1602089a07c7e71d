"""Makes the parts of a spout's task that deal with time, with tracked tuples and with checkpoints."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from framework.model.config import Settings
from framework.model.topology import Role
from framework.planning import Plan, TimeMode
from framework.planning.out_of_order import holds_back
from framework.runtime.coordination.alignment import SourceAlignment
from framework.runtime.coordination.source_cut import SourceCut
from framework.runtime.durability.recovery import Commits
from framework.runtime.exchange.output import Output
from framework.runtime.execution.assembly.network import Network
from framework.runtime.order.positions.event_times import EventTimes
from framework.runtime.order.positions.slack import Lateness
from framework.runtime.order.tracking.pending import Pending
from framework.runtime.order.tracking.withheld import WithheldAcks
from framework.runtime.tasks.aligned_spout import AlignedSpout
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.emitter import Emitter
from framework.runtime.tasks.holdback import Holdback
from framework.runtime.tasks.outcomes import Outcomes
from framework.runtime.tasks.spout_assigner import SpoutAssigner


class SpoutParts:
    """Makes parts of tasks.

    Args:
        plan: the whole run.
        settings: the configuration it was planned with.
        network: what the tasks of the run share, as this process sees it.
    """

    def __init__(self, plan: Plan, settings: Settings, network: Network) -> None:
        self._plan = plan
        self._settings = settings
        self._network = network

    # -- time

    def times(self, context: TaskContext, output: Output) -> EventTimes:
        """What tells the event time of a spout's tuples."""
        fields = _time_fields(output, context.conf)
        unit = context.conf["viper.timestamp.unit"]
        return EventTimes(context.name, fields, unit, _time_units(output, fields))

    def holds_back(self, context: TaskContext) -> bool:
        """Whether a task's tuples are put in order before they are placed."""
        is_spout = context.spec.role is Role.SPOUT
        return is_spout and self._plan.time is TimeMode.EVENT and holds_back(context.conf)

    def lateness(self, context: TaskContext, output: Output) -> Lateness | None:
        """The lateness that its tuples may have; None where they come in order."""
        if not self.holds_back(context):
            return None
        return Lateness.configured(context.conf, [port.stream.name for port in output.ports])

    def holdback(self, context: TaskContext, output: Output, times: EventTimes) -> Holdback | None:
        """What puts its tuples in order; None where they come in order."""
        lateness = self.lateness(context, output)
        if lateness is None:
            return None
        return Holdback(lateness, times, self._most_pending(context), tagged=len(output.ports) > 1)

    # -- tracked tuples

    def pending(self, context: TaskContext, commits: Commits | None) -> Pending | None:
        """Its tracked tuples; None where none are tracked."""
        forest, conf = self._network.forest, context.conf
        if forest is None:
            return None
        most = self._most_pending(context)
        times_out = conf["topology.enable.message.timeouts"]
        timeout_s = conf["topology.message.timeout.secs"] if times_out else None
        pending = Pending(forest, context.spec.id - 1, most, timeout_s, context.times)
        if commits is not None:
            pending.wait_for(commits)
        return pending

    def withheld(self, context: TaskContext) -> WithheldAcks | None:
        """The acks of a spout that wait for checkpoints; None where they do not."""
        alignment = self._network.alignment
        waits = context.conf["viper.ack.after"] != "commit" and self._network.forest is not None
        if alignment is None or not waits or not self._network.makes_checkpoints:
            return None
        return WithheldAcks(self._settings["viper.tracked.max"], lambda: alignment.completed)

    def _most_pending(self, context: TaskContext) -> int:
        configured: int | None = context.conf["topology.max.spout.pending"]
        most_tracked: int = self._settings["viper.tracked.max"]
        return min(configured or sys.maxsize, most_tracked)

    # -- checkpoints

    def aligned(
        self, context: TaskContext, emitter: Emitter, assigner: SpoutAssigner, outcomes: Outcomes
    ) -> AlignedSpout:
        """What has a task come to the time of a checkpoint."""
        alignment, task = self._network.alignment, context.spec.id
        cut = None if alignment is None else SourceCut(alignment.cut, task)
        agreeing = SourceAlignment(alignment, task), cut
        return AlignedSpout(*agreeing, emitter, assigner, outcomes, context.checkpoints)


def _time_fields(output: Output, conf: Mapping[str, Any]) -> dict[int, int]:
    """The index of the timestamp field for each port whose stream has one."""
    name = conf.get("viper.timestamp.field")
    return {
        port.tag: port.stream.fields.index(name)
        for port in output.ports
        if name and name in port.stream.fields
    }


def _time_units(output: Output, fields: Mapping[int, int]) -> dict[int, str]:
    """The unit of the timestamp field for each port whose schema declares it as a timestamp."""
    types = {
        port.tag: port.stream.schema.types[fields[port.tag]]
        for port in output.ports
        if port.tag in fields and port.stream.schema is not None
    }
    return {tag: kind.unit for tag, kind in types.items() if kind.name == "timestamp"}

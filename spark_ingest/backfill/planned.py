"""From what the user names to a plan that can be run shard by shard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.frontends.loading import load_any
from framework.model.config import Settings, resolve
from framework.model.errors import TopologyError
from framework.model.topology import Topology
from framework.planning import Plan, make_plan
from framework.planning.validation import check_runnable, validate
from spark_ingest.backfill.checking import check_outputs, check_shardable
from spark_ingest.backfill.shapes import Output, Stage, make_stages
from spark_ingest.errors import JobError

_ONE_PROCESS = {"viper.worker": "inline"}
_UNTRACKED = {"topology.acker.executors": 0}


@dataclass(frozen=True, slots=True)
class Planned:
    """A topology that can be run shard by shard."""

    plan: Plan
    """As for a run in one process: its confs and contexts are those of the components."""
    settings: Settings
    """The same settings, but that no tuple is tracked, as nobody waits for an answer."""
    stages: tuple[Stage, ...]
    """Each after those that feed it."""

    def fields(self, output: Output) -> tuple[str, ...]:
        """The fields of a stream."""
        stream = self.plan.topology.component(output.component).stream(output.stream)
        return stream.fields if stream is not None else ()

    @property
    def spouts(self) -> list[str]:
        """Ids of the spouts that take part."""
        spouts = {spout.id for spout in self.plan.topology.spouts}
        return [stage.component for stage in self.stages if stage.component in spouts]


def plan_shards(
    topology: object,
    outputs: Sequence[Output],
    *,
    options: Mapping[str, Any],
    given: Sequence[str] = (),
    environment: str | None = None,
) -> Planned:
    """Load, configure, validate and plan a topology.

    Args:
        topology: whatever stands for one.
        outputs: the streams that are wanted.
        options: configuration on top of what the topology says.
        given: ids of spouts whose rows are given as DataFrames.
        environment: chooses from a ``par`` that is given per environment.

    Raises:
        TopologyError: it cannot be run so; the error has all problems.
        JobError: rows are given for what is no spout.
    """
    loaded = _loaded(topology, environment)
    settings, problems = resolve(loaded, options={**options, **_ONE_PROCESS}, environment=environment)
    problems += [*validate(loaded, settings), *check_runnable(loaded)]
    errors = [problem for problem in dict.fromkeys(problems) if not problem.warning]
    if errors:
        raise TopologyError(errors)
    check_outputs(loaded, outputs)
    _check_given(loaded, given)
    plan = make_plan(loaded, settings)
    check_shardable(plan, outputs, given)
    untracked, _ = resolve(loaded, options={**options, **_ONE_PROCESS, **_UNTRACKED}, environment=environment)
    stateless = {name: found.stateless for name, found in plan.traits.items()}
    return Planned(plan, untracked, make_stages(loaded, outputs, stateless))


def _check_given(topology: Topology, given: Sequence[str]) -> None:
    spouts = {spout.id for spout in topology.spouts}
    for name in given:
        if name not in spouts:
            raise JobError(f"rows are given for {name!r}, which is no spout of topology {topology.name!r}")


def _loaded(topology: object, environment: str | None) -> Topology:
    found = load_any(topology, environment=environment)
    errors = [problem for problem in found.problems if not problem.warning]
    if found.topology is None or errors:
        raise TopologyError(errors)
    return found.topology

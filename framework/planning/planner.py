"""From the logical topology to the physical plan: its tasks, the chained ones and the movable ones."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.model.config import Settings, component_conf
from framework.model.errors import InternalError, TopologyError
from framework.model.importing import importable
from framework.model.topology import GroupingKind, Problem, ShellImplementation, Topology, about
from framework.operators.windows.key_input import KEYS, MODE, InputMode, key_input_of
from framework.planning.connections import (
    aligned_sources,
    cycles,
    emits_outside_input,
    make_channels,
    make_subscriptions,
)
from framework.planning.coroutines import coroutine_problems
from framework.planning.evaluation import evaluation_of
from framework.planning.keys import group_problems, state_problems, with_keys
from framework.planning.layout import Layout, make_layout
from framework.planning.merge_bolts import MergeLayer, merge_layer_problems, with_merge_bolts
from framework.planning.placement import Placement, WorkerKind, is_auto, workers_of
from framework.planning.plan import Channel, Plan, Subscription, TaskSpec
from framework.planning.recovery import recovery_problems
from framework.planning.routing import MOST_CHOSEN
from framework.planning.scaling import (
    CONTROLLER,
    MOST,
    controlled,
    controller_problems,
    most_tasks,
    obstacles,
    scalable,
    scaling_problems,
)
from framework.planning.sharing import CLAIMS, SHARING, chosen_sharing, sharing_problems, with_claims
from framework.planning.strategy import (
    AsConfigured,
    Draft,
    Strategy,
    configured_blocking,
    placement_problems,
    worker_kind,
)
from framework.planning.time_mode import choose_time, deadlock_problems, time_problems, with_late_streams
from framework.planning.traits import Batching, Traits, traits_of
from framework.planning.transactions import table_groups, transaction_problems
from framework.planning.windows import join_problems, window_problems


def make_plan(topology: Topology, settings: Settings, strategy: Strategy | None = None) -> Plan:
    """Plan a valid topology.

    Args:
        topology: one that validation has accepted.
        settings: its configuration.
        strategy: decides how many tasks there are and where they run; by default as configured.

    Raises:
        TopologyError: what only shows when the parts are put together, e.g. spouts of which
            only some declare a timestamp field.
        LoadError: a component's class that cannot be imported.
    """
    topology = with_late_streams(topology, settings)
    with importable(topology.import_paths):
        draft = _draft(topology, settings)
    confs, traits = draft.confs, draft.traits
    problems = time_problems(topology, confs, traits) + placement_problems(draft)
    if problems:
        raise TopologyError(problems)
    strategy = strategy or AsConfigured()
    begins_with = strategy.task_counts(draft)
    kind = worker_kind(settings, traits)
    movable = frozenset(movable_bolts(topology, settings, confs, traits, kind))
    with_spare_tasks(confs, begins_with, movable, workers_of(settings), settings["viper.key.groups"])
    draft = replace(draft, movable=movable)
    if problems := list(scaling_problems(topology, settings, confs, traits, begins_with)):
        raise TopologyError(problems)
    can_be_scaled = scalable(confs, begins_with)
    with importable(topology.import_paths):
        if problems := list(controller_problems(topology, confs, can_be_scaled)):
            raise TopologyError(problems)
    counts = most_tasks(topology, confs, begins_with)
    problems = [
        *merge_layer_problems(topology, settings, can_be_scaled),
        *group_problems(topology, settings, counts),
        *state_problems(topology, settings, confs, traits, counts),
        *key_input_problems(topology, confs, traits),
        *sharing_problems(topology, settings, confs, traits),
        *coroutine_problems(topology, confs, traits),
        *transaction_problems(topology, settings, confs, traits),
    ]
    if problems:
        raise TopologyError(problems)
    time = choose_time(topology, confs, traits, sum(counts[spout.id] for spout in topology.spouts))
    if problems := deadlock_problems(topology, confs, traits, time):
        raise TopologyError(problems)
    if problems := [one for one in window_problems(topology, confs, traits, time) if not one.warning]:
        raise TopologyError(problems)
    if problems := join_problems(topology, counts, confs, traits, time):
        raise TopologyError(problems)
    if problems := recovery_problems(topology, settings, confs, traits, time):
        raise TopologyError(problems)
    windowed = any(found.windowed or found.joins_outer for found in traits.values())
    by_key = frozenset(name for name, found in traits.items() if found.key_windows or found.joins_outer)
    layout = make_layout(
        topology,
        _ticked(topology, draft),
        has_windows=windowed,
        by_key=by_key,
        groups=settings["viper.key.groups"],
    )
    tasks = _tasks(topology, counts, layout)
    channels = make_channels(topology, tasks, draft.subscriptions)
    placement = _complete(strategy.placement(draft, tasks), tasks)
    cyclic = {task.id for task in tasks if task.component in cycles(draft.subscriptions)}
    plan = Plan(
        topology=topology,
        time=time,
        tasks=tasks,
        subscriptions=draft.subscriptions,
        channels=channels,
        placement=placement,
        layout=layout,
        confs=confs,
        traits=traits,
        emits_outside_input=emits_outside_input(topology, confs, traits, time, draft.subscriptions),
        aligned_sources=aligned_sources(tasks, draft.subscriptions),
        scalable=can_be_scaled,
        movable=movable,
        controlled=controlled(confs, can_be_scaled),
        table_groups=(groups := table_groups(topology, traits)),
        evaluation=evaluation_of(placement, settings) if groups else None,
    )
    plan = with_merge_bolts(plan, settings)
    return replace(plan, channels=with_chains(plan.channels, plan.placement, cyclic, settings))


def _ticked(topology: Topology, draft: Draft) -> frozenset[str]:
    """The bolts that may emit at ticks, for batches or when windows end; none where cycles put an end to one
    order anyway."""
    if any(subscription.cyclic for subscription in draft.subscriptions):
        return frozenset()
    return frozenset(
        bolt.id
        for bolt in topology.bolts
        if draft.confs[bolt.id]["topology.tick.tuple.freq.secs"]
        or draft.traits[bolt.id].batching is not Batching.NONE
        or draft.traits[bolt.id].windowed
    )


def _draft(topology: Topology, settings: Settings) -> Draft:
    confs = {c.id: component_conf(settings, topology, c) for c in topology.components}
    traits = {c.id: traits_of(c, confs[c.id]) for c in topology.components}
    for component in topology.components:
        blocking = configured_blocking(component, settings, confs[component.id], traits)
        confs[component.id]["viper.blocking"] = blocking
        confs[component.id]["topology.workers"] = workers_of(settings)
    for name, sharing in chosen_sharing(topology, settings, confs, traits).items():
        confs[name][SHARING] = sharing
    subscriptions = with_keys(topology, make_subscriptions(topology), traits)
    subscriptions = with_claims(with_key_input(subscriptions, confs, traits), confs)
    confs.update(_waiting_for_programs(topology, settings, confs, subscriptions))
    return Draft(topology, settings, confs, traits, subscriptions)


def _waiting_for_programs(
    topology: Topology,
    settings: Settings,
    confs: Mapping[str, dict[str, Any]],
    subscriptions: Sequence[Subscription],
) -> dict[str, dict[str, Any]]:
    """The configurations of components that are programs, whose tasks wait for these on threads of their own.

    They do not where the user has configured otherwise, nor in a cycle, which runs on one thread.
    """
    cyclic = {name for s in subscriptions if s.cyclic for name in (s.source, s.target)}
    programs = [c for c in topology.components if isinstance(c.implementation, ShellImplementation)]
    return {
        program.id: {**confs[program.id], "viper.blocking": True}
        for program in programs
        if program.id not in cyclic
        and program.config.get("viper.blocking", settings["viper.blocking"]) is None
    }


def _tasks(topology: Topology, counts: Mapping[str, int], layout: Layout) -> tuple[TaskSpec, ...]:
    tasks: list[TaskSpec] = []
    for component in sorted(topology.components, key=lambda c: c.id):
        if counts[component.id] < 1:
            raise InternalError(f"component {component.id!r} was planned with {counts[component.id]} tasks")
        depth = layout.components[component.id].depth
        for index in range(counts[component.id]):
            tasks.append(TaskSpec(len(tasks) + 1, component.id, index, component.role, depth))
    return tuple(tasks)


def _complete(placement: Placement, tasks: Sequence[TaskSpec]) -> Placement:
    """The placement, if it has every task once."""
    placed = sorted(task for executor in placement.executors for task in executor.tasks)
    if placed != [task.id for task in tasks]:
        raise InternalError(f"the tasks 1 to {len(tasks)} were to be placed once each, and were so: {placed}")
    return placement


def with_chains(
    channels: Sequence[Channel], placement: Placement, cyclic: Container[int], settings: Settings
) -> tuple[Channel, ...]:
    """The channels, of which some are chained.

    Args:
        channels: all channels of a plan.
        placement: which executor runs which task.
        cyclic: ids of the tasks that belong to a cycle.
        settings: the configuration; ``viper.chains`` may say that nothing is chained.
    """
    if not settings["viper.chains"]:
        return tuple(channels)
    return tuple(replace(channel, chained=_can_be(channel, placement, cyclic)) for channel in channels)


def _can_be(channel: Channel, placement: Placement, cyclic: Container[int]) -> bool:
    """True if a channel can be chained: nothing has to be merged, and one thread runs both of its ends.

    A worker process may die. Another one then takes its place, and has to know how far each task was and what
    was lost, so everything between its tasks lies in shared memory. In a cycle, no task may wait for room.
    """
    if placement.kind is WorkerKind.PROCESS or channel.feedback:
        return False
    if len(channel.sources) > 1 or len(channel.readers) > 1:
        return False
    (source,), (reader,) = channel.sources, channel.readers
    if source in cyclic and reader in cyclic:
        return False
    executor = placement.executor_of(source)
    return executor == placement.executor_of(reader) and placement.executors[executor].threads == 1


Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


def with_key_input(
    subscriptions: Sequence[Subscription], confs: Confs, traits: Mapping[str, Traits]
) -> tuple[Subscription, ...]:
    """Subscriptions with how tuples come to consumers that derive their keys.

    Args:
        subscriptions: of a valid topology.
        confs: each component's resolved configuration, by id.
        traits: by id.
    """
    return tuple(
        replace(found, key_input=key_input_of(confs[found.target]))
        if traits[found.target].derives_keys
        else found
        for found in subscriptions
    )


def key_input_problems(topology: Topology, confs: Confs, traits: Mapping[str, Traits]) -> Iterator[Problem]:
    """Bolts for which a way of input is configured that they cannot have.

    Args:
        topology: a valid topology.
        confs: each component's resolved configuration, by id.
        traits: by id.
    """
    for bolt in topology.bolts:
        conf = confs[bolt.id]
        of_bolt = _of_operator(conf) if traits[bolt.id].derives_keys else _of_others(bolt.config)
        yield from (about(topology, bolt, message) for message in of_bolt)


def _of_operator(conf: Mapping[str, Any]) -> Iterator[str]:
    if conf[MODE] == InputMode.KEYED and conf[KEYS] == "instance":
        yield (
            f"has {MODE}: keyed and {KEYS}: instance, but producers that copy a tuple for each key must "
            f"derive the keys: expected {KEYS}: producer, or another {MODE}"
        )
    if conf[MODE] != InputMode.SHARED and conf[MOST] is not None:
        yield (
            f"has {MODE}: {conf[MODE]} and {MOST}: {conf[MOST]}, but producers copy tuples for tasks that do "
            f"not change: expected {MODE}: shared, or no {MOST}"
        )


def _of_others(config: Mapping[str, Any]) -> Iterator[str]:
    for name in (MODE, KEYS):
        if config.get(name) is not None:
            yield (
                f"has {name}: {config[name]}, which is for operators that define keys(), and its tuples go "
                "by its groupings: remove it, or derive the bolt from OPlus and define keys()"
            )


def movable_bolts(
    topology: Topology,
    settings: Settings,
    confs: Mapping[str, Mapping[str, Any]],
    traits: Mapping[str, Traits],
    kind: WorkerKind,
) -> Iterator[str]:
    """Yield the ids of the bolts that the run moves by itself.

    These are all bolts that can be scaled while the run lasts, with exceptions. It leaves out bolts that may
    have one task only, bolts with a controller, with transactions, with claims, or with a process or a
    thread to themselves, and bolts each of whose tasks gets every tuple: more tasks than one would only do
    more.

    Args:
        topology: a valid topology.
        settings: its configuration.
        confs: each component's resolved configuration, by id.
        traits: by id.
        kind: of the workers. Threads of one process take turns, so nothing is moved between them.
    """
    if not is_auto(settings) or kind is not WorkerKind.PROCESS or workers_of(settings) == 1:
        return
    if settings["viper.merge.layer"] != MergeLayer.COMMUNICATION or settings["viper.key.groups"] == 1:
        return
    for bolt in topology.bolts:
        copied = any(found.grouping.kind is GroupingKind.ALL for found in bolt.inputs)
        own, conf = traits[bolt.id], confs[bolt.id]
        apart = own.isolated or conf["viper.blocking"] or own.tables or conf[SHARING] == CLAIMS
        if copied or apart or conf[CONTROLLER] is not None or conf[MOST] == 1:
            continue
        if not obstacles(topology, settings, confs, traits, bolt):
            yield bolt.id


def with_spare_tasks(
    confs: Mapping[str, dict[str, Any]],
    counts: Mapping[str, int],
    movable: frozenset[str],
    workers: int,
    groups: int,
) -> None:
    """Give each of these bolts a task for each worker, as far as there can be, unless it says how many.

    Args:
        confs: each component's resolved configuration, by id, where that is set.
        counts: how many tasks each component begins with, by id.
        movable: the bolts.
        workers: how many there are.
        groups: how many key groups there are, which tasks with state share.
    """
    for name in movable:
        if confs[name][MOST] is None:
            confs[name][MOST] = max(counts[name], min(workers, groups, MOST_CHOSEN))

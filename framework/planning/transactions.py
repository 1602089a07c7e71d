"""Groups of shared tables: the bolts whose transactions have one order, and the obstacles to that order.

Bolts that name the same table are members of one group, and so are bolts that share one with a member. All
transactions of a group are evaluated as if one after the other (`TStream`, Zhang et al., ICDE 2020). Their
order is that of positions, of components as they are defined, and of the transactions of a call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from framework.model.config import Settings
from framework.model.tables import SharedTable, TableGroup
from framework.model.topology import ComponentSpec, GroupingKind, Problem, Topology, about, unknown
from framework.model.topology.graph import edges
from framework.operators import components
from framework.planning.connections import make_subscriptions
from framework.planning.plan import Subscription
from framework.planning.traits import Batching, Traits, held_class


def table_groups(topology: Topology, traits: Mapping[str, Traits]) -> tuple[TableGroup, ...]:
    """The groups of a topology, in the order of their first members.

    Args:
        topology: any.
        traits: by id.
    """
    members = [bolt.id for bolt in topology.bolts if traits[bolt.id].tables]
    group_of: dict[str, set[str]] = {}
    users: defaultdict[str, set[str]] = defaultdict(set)
    for member in members:
        joined = {member}.union(*(users[table.table_name] for table in traits[member].tables))
        joined = joined.union(*(group_of[other] for other in joined - {member}))
        group_of.update(dict.fromkeys(joined, joined))
        for table in traits[member].tables:
            users[table.table_name].add(member)
    found = dict.fromkeys(tuple(m for m in members if m in group_of[member]) for member in members)
    return tuple(TableGroup(_tables(group, traits), group) for group in found)


def _tables(members: Iterable[str], traits: Mapping[str, Traits]) -> tuple[SharedTable, ...]:
    found = {table.table_name: table for member in members for table in traits[member].tables}
    return tuple(found[name] for name in sorted(found))


def transaction_problems(
    topology: Topology,
    settings: Settings,
    confs: Mapping[str, Mapping[str, Any]],
    traits: Mapping[str, Traits],
) -> Iterator[Problem]:
    """Bolts that name shared tables whose transactions would have no order, or tables that do not agree.

    Args:
        topology: a valid topology.
        settings: its configuration.
        confs: each component's resolved configuration, by id.
        traits: by id.
    """
    groups = table_groups(topology, traits)
    yield from _unknown(topology, settings, groups)
    if not groups:
        return
    subscriptions = make_subscriptions(topology)
    yield from _differing(topology, traits)
    for group in groups:
        yield from _path_problems(topology, group)
        for name in group.members:
            bolt = topology.component(name)
            inputs = [s for s in subscriptions if s.target == name]
            reasons = [*_unfit(bolt, confs[name], traits[name]), *_unfit_inputs(inputs)]
            if reasons:
                message = f"names shared tables ({_named(traits[name])}), but {'; '.join(reasons)}"
                yield about(topology, bolt, message)


def _unknown(topology: Topology, settings: Settings, groups: Sequence[TableGroup]) -> Iterator[Problem]:
    """Options of tables that no bolt names."""
    known = [table.table_name for group in groups for table in group.tables]
    for name in settings["viper.tables"]:
        if name not in known:
            place = settings.entries["viper.tables"][-1].place
            yield Problem(place, f"viper.tables has an {unknown('shared table', name, known)}")


def _named(traits: Traits) -> str:
    return ", ".join(table.table_name for table in traits.tables)


def _differing(topology: Topology, traits: Mapping[str, Traits]) -> Iterator[Problem]:
    """Tables of one name that are declared in different ways."""
    first: dict[str, tuple[str, SharedTable]] = {}
    for bolt in topology.bolts:
        for table in traits[bolt.id].tables:
            by, known = first.setdefault(table.table_name, (bolt.id, table))
            if known != table:
                message = (
                    f"names a shared table {table.table_name!r} with other columns, keys or room than bolt "
                    f"{by!r} does ({table!r} instead of {known!r}): expected the same, or another name"
                )
                yield about(topology, bolt, message)


def _path_problems(topology: Topology, group: TableGroup) -> Iterator[Problem]:
    """Members behind other members of their own group: each event would have to wait for all before it."""
    outgoing: defaultdict[str, list[str]] = defaultdict(list)
    for source, _, target in edges(topology):
        outgoing[source].append(target)
    for member in group.members:
        path = _path(outgoing, member, set(group.members))
        if path is not None:
            bolt = topology.component(path[-1])
            tables = ", ".join(table.table_name for table in group.tables)
            message = (
                f"has transactions on the same tables ({tables}) as {member!r}, from which its input comes "
                f"({' -> '.join(path)}): expected one bolt with one transaction for both, or tables of its "
                "own"
            )
            yield about(topology, bolt, message)


def _path(outgoing: Mapping[str, Sequence[str]], start: str, members: set[str]) -> tuple[str, ...] | None:
    """The shortest way from a member to a member, itself included; None if there is none."""
    seen = set[str]()
    paths: list[tuple[str, ...]] = [(start,)]
    for path in paths:
        for target in outgoing.get(path[-1], ()):
            if target in members:
                return (*path, target)
            if target not in seen:
                seen.add(target)
                paths.append((*path, target))
    return None


def _unfit(bolt: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    cls = held_class(bolt)
    if traits.windowed or traits.joins or traits.batching is not Batching.NONE:
        yield "it gathers tuples itself: put a bolt with transactions behind it"
    if cls is not None and issubclass(cls, components.StatefulBolt):
        yield "a StatefulBolt has commits of its own: declare state by attributes"
    if conf["viper.blocking"]:
        yield "others act for it while it blocks: set viper.blocking to false"
    if conf["viper.parallelism.max"] is not None:
        yield "its number of tasks may change (viper.parallelism.max), which is not possible: leave that out"


def _unfit_inputs(inputs: Sequence[Subscription]) -> Iterator[str]:
    for found in inputs:
        if found.cyclic:
            yield f"tuples from {found.source!r} come in a cycle, in no order"
        elif found.copies:
            is_all = found.grouping.kind is GroupingKind.ALL
            instead = "global, shuffle or fields" if is_all else "copies = False"
            yield (
                f"each of its tasks may get a copy of what comes from {found.source!r}, and would do the "
                f"transaction once more: expected {instead}"
            )

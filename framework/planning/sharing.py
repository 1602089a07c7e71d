"""Bolts whose tasks share their input by claims, and bolts that cannot.

Whoever is free takes the next tuples. Of a bolt with state by key it takes their key groups, and has them as
long as tuples of theirs are left. The outputs of a tuple lie below it wherever it is processed, so no
output shows which task has claimed it. That any worker takes the next work, while order comes back behind, is
the idea of "Scaling Ordered Stream Processing on Shared-Memory Multicores" (Prasaad, Ramalingam, Rajan, VLDB
2018). That paper has a reorder buffer for it; here the merge by position does it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from framework.model.config import Settings
from framework.model.topology import ComponentSpec, GroupingKind, Problem, Role, Topology, about, unknown
from framework.model.topology.graph import SYSTEM_PREFIX
from framework.planning.connections import cycles, make_subscriptions
from framework.planning.plan import Subscription
from framework.planning.scaling import MOST
from framework.planning.traits import Batching, Traits

SHARING: Final = "viper.sharing"
"""The key that says how the tasks of a bolt share its input."""
CLAIMS: Final = "claims"
"""Its value where they claim tuples."""
DEALT: Final = "dealt"
"""Its value where tuples are dealt out beforehand."""
_FIT: Final = (GroupingKind.SHUFFLE, GroupingKind.LOCAL_OR_SHUFFLE, GroupingKind.NONE)
_BY_KEY: Final = (GroupingKind.FIELDS,)

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


def with_claims(subscriptions: Sequence[Subscription], confs: Confs) -> tuple[Subscription, ...]:
    """Subscriptions, of which those of such bolts say so."""
    return tuple(replace(found, claimed=confs[found.target][SHARING] == CLAIMS) for found in subscriptions)


def sharing_problems(
    topology: Topology, settings: Settings, confs: Confs, traits: Mapping[str, Traits]
) -> Iterator[Problem]:
    """Components of which is said that their tasks claim their input, and whose tasks cannot.

    Args:
        topology: a valid topology.
        settings: its configuration.
        confs: each component's resolved configuration, by id.
        traits: by id.
    """
    for name in settings[SHARING] if isinstance(settings[SHARING], Mapping) else ():
        if name not in confs:
            message = f"{SHARING}: {unknown('component', name, confs)}"
            yield Problem(settings.entries[SHARING][-1].place, message)
    for component in topology.components:
        if isinstance(component.config.get(SHARING), Mapping):
            message = f"has a mapping as {SHARING}, which is for a topology: expected {DEALT} or {CLAIMS}"
            yield about(topology, component, message)
        if _said(component, settings) != CLAIMS:
            continue
        if reasons := obstacles(topology, settings, confs, traits, component):
            told = "; ".join(reasons)
            message = f"cannot share its input, as {SHARING}: {CLAIMS} asks for: {told}"
            yield about(topology, component, message)


def chosen_sharing(
    topology: Topology, settings: Settings, confs: Confs, traits: Mapping[str, Traits]
) -> Mapping[str, str]:
    """The way in which each component shares its input, by id; arguments as above.

    If the topology asks for claims, bolts that cannot have them get their tuples dealt.
    """
    found = {}
    for component in topology.components:
        found[component.id] = _said(component, settings) or DEALT
        if settings[SHARING] == CLAIMS and SHARING not in component.config:
            fits = not obstacles(topology, settings, confs, traits, component)
            found[component.id] = CLAIMS if fits else DEALT
    return found


def _said(component: ComponentSpec, settings: Settings) -> str | None:
    """The value that is for this component: its own, or that of a mapping for the whole topology."""
    said = component.config.get(SHARING, settings[SHARING])
    if isinstance(said, Mapping):
        return said.get(component.id)
    return said if SHARING in component.config else None


def obstacles(
    topology: Topology,
    settings: Settings,
    confs: Confs,
    traits: Mapping[str, Traits],
    component: ComponentSpec,
) -> list[str]:
    """Why the tasks of a component cannot claim its input; arguments as above."""
    conf, found = confs[component.id], traits[component.id]
    reasons = [*_unfit(component, conf, found), *_unfit_groupings(component, found)]
    if component.id in cycles(make_subscriptions(topology)):
        reasons.append("it is part of a cycle, which runs on one thread")
    if settings["viper.merge.layer"] != "communication":
        reasons.append("viper.merge.layer is operator, whose merge bolts have one task each behind them")
    if conf[MOST] is not None and found.states:
        reasons.append(f"it may be scaled ({MOST}), and who claims key groups cannot rest: remove that key")
    return reasons


def _unfit(component: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> Iterator[str]:
    if component.role is Role.SPOUT:
        yield "it is a spout, whose tasks have parts of the input of their own"
        return
    if traits.tables:
        names = ", ".join(table.table_name for table in traits.tables)
        yield f"it has shared tables ({names}): expected none"
    if traits.states:
        yield from _unfit_states(traits)
    elif not (traits.stateless or traits.tables):
        yield (
            "it does not say what it remembers: set viper.stateless to true if that is nothing, or declare "
            "its state by key"
        )
    if traits.windowed or traits.joins:
        yield "it has windows, which gather tuples by task or by key: expected none"
    if traits.batching is not Batching.NONE:
        yield "it gathers batches, which are its task's"
    if conf["topology.tick.tuple.freq.secs"]:
        yield "it gets ticks, and each of its tasks would answer them (topology.tick.tuple.freq.secs)"


def _unfit_states(traits: Traits) -> Iterator[str]:
    by_task = [state.name for state in traits.states if state.per == "task"]
    if by_task:
        yield f"it declares state of its tasks ({', '.join(by_task)}): expected state by key"
    living = [state.name for state in traits.states if state.durable == "checkpoint"]
    if living:
        yield (
            f"values of {', '.join(living)} live in one process (durable='checkpoint'), and a key goes from "
            "one to another"
        )


def _unfit_groupings(component: ComponentSpec, traits: Traits) -> Iterator[str]:
    fit, expected = (_BY_KEY, "fields") if traits.states else (_FIT, "shuffle, local-or-shuffle or none")
    for found in component.inputs:
        if found.grouping.kind not in fit and not found.source.startswith(SYSTEM_PREFIX):
            yield (
                f"its input from {found.source!r} has {found.grouping.kind} grouping, and its tasks claim "
                f"{'key groups' if traits.states else 'any tuples'}: expected {expected} grouping"
            )

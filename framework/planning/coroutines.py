"""Bolts with coroutine functions: which callbacks may be such, and of which bolts tuples are begun ahead.

If the `process` of a bolt is a coroutine function, its task begins with further tuples while one waits. The
output stays in the order of the tuples. Nobody would await a coroutine function in any other place, so it is
refused there, as is a generator function that nobody would iterate.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from typing import Any, Final

from framework.model.topology import ComponentSpec, Problem, Role, Topology, about
from framework.planning.connections import cycles, make_subscriptions
from framework.planning.traits import Callback, Traits

IN_FLIGHT: Final = "viper.async.in_flight"
"""The key that says how many tuples are in flight in a task at most."""
AWAITED: Final = ("process", "process_tick", "initialize", "cleanup", "close")
"""The callbacks of a plain bolt that may be coroutine functions."""

Confs = Mapping[str, Mapping[str, Any]]
"""Each component's resolved configuration, by id."""


def has_coroutines(cls: type) -> bool:
    """True if any callback of a bolt that may be a coroutine function is one."""
    return any(inspect.iscoroutinefunction(getattr(cls, name, None)) for name in AWAITED)


def begins_ahead(traits: Traits, conf: Mapping[str, Any]) -> bool:
    """True if a bolt begins with tuples while an earlier one is in flight."""
    return _awaits_tuples(traits) and conf[IN_FLIGHT] > 1


def _awaits_tuples(traits: Traits) -> bool:
    return any(found.name == "process" and found.is_coroutine for found in traits.unplain)


def coroutine_problems(
    topology: Topology, confs: Confs, traits: Mapping[str, Traits]
) -> Iterator[Problem]:
    """Components with callbacks that nobody would await or iterate, or that cannot have tuples in flight.

    Args:
        topology: a valid topology.
        confs: each component's resolved configuration, by id.
        traits: by id.
    """
    for component in topology.components:
        found, conf = traits[component.id], confs[component.id]
        for message in _refusals(topology, component, found, conf):
            yield about(topology, component, message)
        is_set = component.config.get(IN_FLIGHT) is not None
        if is_set and found.is_class_known and not _awaits_tuples(found):
            yield about(
                topology,
                component,
                f"sets {IN_FLIGHT}, and its process is no coroutine function, so one tuple is in process at "
                "a time: write async def process, or remove the key",
            )


def _refusals(
    topology: Topology, component: ComponentSpec, traits: Traits, conf: Mapping[str, Any]
) -> Iterator[str]:
    wrong = [each for each in traits.unplain if reason_against(each, component.role, traits)]
    for each in wrong:
        kind = "a coroutine function" if each.is_coroutine else "a generator function"
        reason = reason_against(each, component.role, traits)
        yield f"has a method {each.name} ({each.place}) that is {kind}: {reason}"
    if not traits.unplain or wrong:
        return
    if traits.tables:
        names = ", ".join(table.table_name for table in traits.tables)
        yield (
            f"has coroutine functions and names shared tables ({names}), whose transactions are declared "
            "while process runs: write def process"
        )
    if component.id in cycles(make_subscriptions(topology)):
        yield "has coroutine functions and is part of a cycle, which runs on one thread: write def process"
    if begins_ahead(traits, conf):
        yield from _shared_memory(traits)


def _shared_memory(traits: Traits) -> Iterator[str]:
    one = f"or have it take one tuple at a time ({IN_FLIGHT}: 1)"
    if traits.states:
        names = ", ".join(state.name for state in traits.states)
        yield (
            f"declares state ({names}), and its process is a coroutine function: while one tuple waits, "
            "others would read and change the state, in any order. Keep the state in a bolt of its own, "
            f"{one}"
        )
    elif not traits.stateless:
        yield (
            "does not say that it is stateless, and its process is a coroutine function: while one tuple "
            "waits, others are begun, and finish in any order. Set viper.stateless to true if it remembers "
            f"nothing from one tuple to another, {one}"
        )


def reason_against(callback: Callback, role: Role, traits: Traits) -> str:
    """The reason why a callback cannot be a coroutine function, or a generator function, and what to do;
    empty if there is none."""
    name = callback.name
    if traits.ported:
        return "streamparse awaits nothing. Derive the class from viperstorm's, or write def"
    if not callback.is_coroutine:
        if name == "tuples":
            return "write def tuples, and do in a bolt what has to be awaited"
        return "nobody iterates what it returns. Call emit in place of yield"
    if role is Role.SPOUT:
        return f"nobody awaits it. Write def {name}, and do in a bolt what has to be awaited"
    if traits.kind:
        return (
            f"a {traits.kind} is called for many tuples, or with its state, and awaits nothing. "
            f"Write def {name}, or await in a Bolt before it or behind it"
        )
    if name not in AWAITED:
        return f"nobody awaits it. Write def {name}; {', '.join(AWAITED)} may be coroutine functions"
    return ""

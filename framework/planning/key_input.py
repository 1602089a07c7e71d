"""Operators that derive the keys of tuples: how these come to their tasks, and what cannot be had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from framework.model.topology import Problem, Topology, about
from framework.operators.windows.key_input import KEYS, MODE, InputMode, key_input_of
from framework.planning.plan import Subscription
from framework.planning.scaling import MOST
from framework.planning.traits import Traits

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

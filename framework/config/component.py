"""The configuration as one component sees it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from framework.config.checks import usable
from framework.config.keys import KEYS, MAX_TASKS
from framework.config.settings import Settings
from framework.config.storm_keys import STORM_DEFAULTS, STORM_PER_COMPONENT, STORM_WITHOUT_EFFECT
from framework.topology import ComponentSpec, Topology


def component_conf(settings: Settings, topology: Topology, component: ComponentSpec) -> dict[str, Any]:
    """What a component's ``initialize`` gets as its configuration.

    The component's own config stands above the settings, but as in Storm only with the keys that may
    differ between components and with the user's own; of every other key it sees the topology's value.
    Under the settings stand the defaults that a cluster has for keys which mean nothing here.

    Returns:
        A deep copy, which the component may change as it likes.
    """
    own = {key: value for key, value in component.config.items() if usable(key, value) and _is_seen(key)}
    name = settings["topology.name"] or topology.name
    return copy.deepcopy({**STORM_DEFAULTS, **settings, "topology.name": name, **own})


def task_count(component: ComponentSpec, conf: Mapping[str, Any]) -> int:
    """How many tasks a component has, whose parallelism is valid; ``conf`` is from `component_conf`."""
    own = component.config.get("topology.tasks")
    configured = own if usable("topology.tasks", own) else None
    count = component.tasks or configured or conf["topology.tasks"] or component.parallelism
    return min(count, conf["topology.max.task.parallelism"] or MAX_TASKS)


def _is_seen(key: str) -> bool:
    if key.startswith("topology.") and (key in KEYS or key in STORM_WITHOUT_EFFECT):
        return key in STORM_PER_COMPONENT
    return key not in KEYS or KEYS[key].per_component

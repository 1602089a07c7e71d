"""From the layers to the settings of one run, and to what each component sees of them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from framework.model.config.checks import check_component, check_layer, usable
from framework.model.config.keys import KEYS, MAX_TASKS
from framework.model.config.layers import (
    defaults_layer,
    environment_layer,
    file_layer,
    is_streamparse_config,
    options_layer,
    streamparse_layer,
)
from framework.model.config.settings import Entry, Layer, Settings
from framework.model.config.storm_keys import STORM_DEFAULTS, STORM_PER_COMPONENT, STORM_WITHOUT_EFFECT
from framework.model.topology import ComponentSpec, Topology
from framework.model.topology.problems import Problem


def resolve(
    topology: Topology | None,
    *,
    options: Mapping[str, Any] | None = None,
    options_from: str = "option -o",
    environ: Mapping[str, str] | None = None,
    files: Sequence[Path] = (),
    environment: str | None = None,
) -> tuple[Settings, list[Problem]]:
    """Put the layers of configuration on top of each other.

    From the lowest: the shipped defaults, streamparse's ``config.json``, ``files``, the topology's
    own config, ``environ``, ``options``. Nothing is read but what is given here and the files beside
    the topology; see `project_files`.

    Args:
        topology: its config and that of its components is checked as well; None for none.
        options: as from `parse_option`.
        options_from: what messages call the place where the options were given.
        environ: environment variables; those that begin with ``VIPER_`` count.
        files: YAML files; a later one overrides an earlier one. One of them may be streamparse's
            ``config.json``, which then takes the place of the one beside the topology.
        environment: the environment of a streamparse project.

    Returns:
        The settings, from which everything that is wrong is left out, and all that is wrong, by place.
    """
    layers: list[Layer] = []
    problems: list[Problem] = []
    beside = topology is not None and not any(map(is_streamparse_config, files))
    found = [streamparse_layer(topology, environment)] if topology and beside else []
    found += [file_layer(path, environment) for path in files]
    found += [(_topology_layer(topology), _component_problems(topology))] if topology else []
    found += [environment_layer(environ or {}), (options_layer(options or {}, options_from), [])]
    for layer, complaints in found:
        layers.append(layer)
        problems += complaints + check_layer(layer)
    settings = _stack([defaults_layer(), *layers])
    problems += _disagreements(settings)
    return settings, sorted(problems, key=lambda problem: problem.sort_key)


def _topology_layer(topology: Topology) -> Layer:
    return {key: Entry(value, topology.sources.at("config", key)) for key, value in topology.config.items()}


def _component_problems(topology: Topology) -> list[Problem]:
    return [
        problem
        for component in topology.components
        for problem in check_component(component.id, _component_layer(topology, component))
    ]


def _component_layer(topology: Topology, component: ComponentSpec) -> Layer:
    return {
        key: Entry(value, topology.sources.at("components", component.id, "config", key))
        for key, value in component.config.items()
    }


def _stack(layers: Sequence[Layer]) -> Settings:
    entries: dict[str, list[Entry]] = {}
    for layer in layers:
        for key, entry in layer.items():
            if usable(key, entry.value):
                entries.setdefault(key, []).append(entry)
    return Settings({key: tuple(found) for key, found in entries.items()})


def _disagreements(settings: Settings) -> list[Problem]:
    """List conflicts between values: a full jumbo tuple must fit into a channel."""
    tuples, jumbo = settings["viper.channel.tuples"], settings["viper.jumbo.size"]
    if tuples >= jumbo:
        return []
    # The one that more layers set is the one that was changed.
    key = max(("viper.channel.tuples", "viper.jumbo.size"), key=lambda k: len(settings.entries[k]))
    message = f"viper.channel.tuples is {tuples}: expected at least viper.jumbo.size, which is {jumbo}"
    return [Problem(settings.entries[key][-1].place, message)]


def component_conf(settings: Settings, topology: Topology, component: ComponentSpec) -> dict[str, Any]:
    """Return the configuration that a component's ``initialize`` gets.

    The component's own config ranks above the settings, but as in Storm only with the keys that may differ
    between components and with the user's own. Of every other key it sees the topology's value. Below the
    settings rank the defaults that a cluster has for keys which mean nothing here.

    Returns:
        A deep copy, which the component may change as it likes.
    """
    own = {key: value for key, value in component.config.items() if usable(key, value) and _is_seen(key)}
    name = settings["topology.name"] or topology.name
    return copy.deepcopy({**STORM_DEFAULTS, **settings, "topology.name": name, **own})


def task_count(component: ComponentSpec, conf: Mapping[str, Any]) -> int:
    """Return the number of tasks of a component with valid parallelism; ``conf`` is from `component_conf`."""
    planned = conf["viper.tasks"].get(component.id)
    own = component.config.get("topology.tasks")
    configured = own if usable("topology.tasks", own) else None
    count = planned or component.tasks or configured or conf["topology.tasks"] or component.parallelism
    return min(count, conf["topology.max.task.parallelism"] or MAX_TASKS)


def _is_seen(key: str) -> bool:
    if key.startswith("topology.") and (key in KEYS or key in STORM_WITHOUT_EFFECT):
        return key in STORM_PER_COMPONENT
    return key not in KEYS or KEYS[key].per_component

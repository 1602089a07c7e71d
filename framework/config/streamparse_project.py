"""The layer of a streamparse project: the options of one environment in its ``config.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from framework.config.entry import Entry, Layer
from framework.topology import Topology
from framework.topology.places import Place
from framework.topology.problems import Problem, one_of, unknown

_LOG_KEYS = ("path", "file", "level", "max_bytes", "backup_count")


def streamparse_layer(topology: Topology, environment: str | None) -> tuple[Layer, list[Problem]]:
    """What the ``config.json`` beside or above a topology's file sets for an environment.

    A ``config.json`` without ``envs`` belongs to somebody else and is left alone.

    Args:
        topology: knows its file.
        environment: name of the environment; may be None where there is only one.
    """
    for folder in _folders(topology):
        path = folder / "config.json"
        if path.is_file():
            return _layer_of(path, environment)
    return {}, []


def _folders(topology: Topology) -> list[Path]:
    file = topology.sources.at().file
    if not file:
        return []
    folder = Path(file).absolute().parent
    return [folder, folder.parent]


def _layer_of(path: Path, chosen: str | None) -> tuple[Layer, list[Problem]]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        return {}, [Problem(Place(str(path)), f"is left out, as it cannot be read: {error}", warning=True)]
    environments = content.get("envs") if isinstance(content, dict) else None
    if not isinstance(environments, dict) or not environments:
        return {}, []
    if chosen is None and len(environments) > 1:
        message = f"no environment is chosen, so no options of one apply: name {one_of(environments)} with -e"
        return {}, [Problem(Place(str(path)), message, warning=True)]
    name = next(iter(environments)) if chosen is None else chosen
    if name not in environments:
        return {}, [Problem(Place(str(path)), unknown("environment", name, environments))]
    return _entries_of(environments[name], Place(str(path), attribute=f"envs.{name}"))


def _entries_of(environment: Any, place: Place) -> tuple[Layer, list[Problem]]:
    if not isinstance(environment, dict):
        return {}, [Problem(place, f"is {environment!r}: expected a JSON object")]
    return {key: Entry(value, place) for key, value in _settings_of(environment).items()}, []


def _settings_of(environment: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an environment, and its ``log`` entries under pystorm's names."""
    log = environment.get("log")
    values = dict(log) if isinstance(log, dict) else {}
    for name in ("path", "file"):
        values[name] = values.get(name) or environment.get(f"log_{name}")
    found = {f"pystorm.log.{name}": values[name] for name in _LOG_KEYS if values.get(name) not in (None, "")}
    if isinstance(found.get("pystorm.log.level"), str):
        found["pystorm.log.level"] = found["pystorm.log.level"].lower()
    options = environment.get("options")
    return found | (options if isinstance(options, dict) else {})

"""The layer of environment variables: ``VIPER_JUMBO_SIZE`` sets ``viper.jumbo.size``."""

from __future__ import annotations

from collections.abc import Mapping

from framework.config.checks import KNOWN
from framework.config.entry import Entry, Layer
from framework.config.yaml_source import read_value
from framework.topology.places import Place
from framework.topology.problems import Problem, did_you_mean

PREFIX = "VIPER_"


def variable_of(key: str) -> str:
    """The environment variable that sets a key."""
    name = key.upper().replace(".", "_").replace("-", "_")
    return name if name.startswith(PREFIX) else PREFIX + name


KEY_OF_VARIABLE: Mapping[str, str] = {variable_of(key): key for key in KNOWN}
"""The key that each environment variable sets."""


def environment_layer(environ: Mapping[str, str]) -> tuple[Layer, list[Problem]]:
    """What environment variables set; their values are read as YAML."""
    layer: dict[str, Entry] = {}
    problems: list[Problem] = []
    for variable in sorted(name for name in environ if name.startswith(PREFIX)):
        place = Place(attribute=f"environment variable {variable}")
        key = KEY_OF_VARIABLE.get(variable)
        if key is None:
            message = f"sets no known configuration key{did_you_mean(variable, KEY_OF_VARIABLE)}"
            problems.append(Problem(place, message))
            continue
        try:
            layer[key] = Entry(read_value(environ[variable]), place)
        except ValueError as error:
            problems.append(Problem(place, f"{environ[variable]!r} is {error}"))
    return layer, problems

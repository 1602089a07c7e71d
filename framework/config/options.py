"""The highest layer: options of the command line, ``-o viper.jumbo.size=512``, and arguments of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.config.entry import Entry, Layer
from framework.config.yaml_source import read_value
from framework.errors import ConfigError
from framework.topology.places import Place


def parse_option(option: str) -> tuple[str, Any]:
    """Split ``key=value``; the value is read as YAML.

    Raises:
        ConfigError: there is no ``=``, no key, or the value is no valid YAML.
    """
    key, equals, value = option.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"option {option!r}: expected key=value, e.g. topology.workers=2")
    try:
        return key.strip(), read_value(value)
    except ValueError as error:
        raise ConfigError(f"option {option!r}: {value!r} is {error}") from error


def options_layer(options: Mapping[str, Any], given_as: str) -> Layer:
    """What options set.

    Args:
        options: values by key.
        given_as: how they were given, for messages: ``option -o`` or the name of an argument.
    """
    return {key: Entry(value, Place(attribute=given_as)) for key, value in options.items()}

"""Values as YAML for people to read: blocks, with short lists on one line."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import yaml

_WIDTH = 100
_SCALARS = (bool, int, float, str, bytes, datetime.date)


def dumped(value: Mapping[str, Any]) -> str:
    """The value as a block of YAML, in which no text is taken for an expression to replace.

    Raises:
        TypeError: it contains what is no plain value.
    """
    return yaml.dump(
        _plain(value),
        Dumper=_Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=_WIDTH,
        default_flow_style=False,
    )


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        """Write out what occurs several times."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Indent lists in mappings as well."""
        super().increase_indent(flow, False)


def _represent_list(dumper: yaml.SafeDumper, data: list[Any]) -> yaml.Node:
    is_short = all(isinstance(item, _SCALARS) or item is None for item in data)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", data, flow_style=is_short)


def _represent_text(dumper: yaml.SafeDumper, data: str) -> yaml.Node:
    # Other styles lose some of Unicode's line breaks.
    style = None if data.isprintable() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(list, _represent_list)
_Dumper.add_representer(str, _represent_text)


def _plain(value: Any) -> Any:
    """A copy in YAML's own types, with the ``${`` of texts escaped."""
    if isinstance(value, Mapping):
        return {_plain(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return str(value).replace("${", "$${")
    if value is None or isinstance(value, bool | datetime.date):
        return value
    # Of subclasses, e.g. an enum's, YAML knows nothing.
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, bytes):
        return bytes(value)
    raise TypeError(f"{value!r} is a {type(value).__name__}, which YAML has no plain value for")

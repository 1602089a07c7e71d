"""Values of users' as JSON text, with dictionaries whose keys JSON does not have."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def json_text(value: Any, *, default: Callable[[Any], Any], **options: Any) -> str:
    """A value as JSON; a key of a dictionary that JSON does not have, such as a tuple, is its own JSON text.

    Args:
        value: any.
        default: what makes a value that is no JSON one that is.
        **options: of `json.dumps`.
    """
    return json.dumps(_with_keys(value, default), default=default, **options)


def _with_keys(value: Any, default: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {_key(key, default): _with_keys(held, default) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [_with_keys(held, default) for held in value]
    return value


def _key(key: Any, default: Callable[[Any], Any]) -> Any:
    if key is None or isinstance(key, str | int | float):
        return key
    return json_text(key, default=default) if isinstance(key, list | tuple | dict) else default(key)

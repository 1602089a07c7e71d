"""Coroutine functions in the place of functions: found wherever user code is given something to call.

A file of its own, as the callers of such functions are in every district.
"""

from __future__ import annotations

import functools
import inspect
import os
from typing import Any


def place_of_coroutine(function: Any) -> str:
    """Name, file and line of a coroutine function or an asynchronous generator function, as in
    ``ask (users.py:12)``; empty for anything else."""
    while isinstance(function, functools.partial | functools.partialmethod):
        function = function.func
    if not (inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function)):
        return ""
    code = inspect.unwrap(function).__code__
    return f"{code.co_name} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"


def check_awaits_nothing(what: str, function: Any) -> None:
    """Check that what is to be called does its work when it is called.

    Raises:
        TypeError: it is a coroutine function, whose result nobody awaits.
    """
    place = place_of_coroutine(function)
    if place:
        raise TypeError(
            f"{what}: {place} is a coroutine function, and nobody awaits it: write def, or do in a Bolt with "
            "async def process what has to be awaited"
        )


def check_methods_await_nothing(cls: type) -> None:
    """Check the methods that a class defines, as `check_awaits_nothing`."""
    for name, method in vars(cls).items():
        check_awaits_nothing(f"{cls.__name__}.{name}", getattr(method, "__func__", method))

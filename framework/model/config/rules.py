"""Rules for values: which ones a key accepts, and how a message describes them."""

from __future__ import annotations

import logging
import math
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from framework.model.topology.problems import did_you_mean, one_of

_MOST_IN_WORDS = 1e15
"""Whole numbers below it are written out."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The values that a key allows."""

    allowed: str
    """In words, to be placed after "expected"."""
    accepts: Callable[[Any], bool]
    names: Collection[str] = ()
    """The allowed names, where there are only some."""

    def complaint(self, value: object) -> str | None:
        """Return a complaint about a value, to follow the key; None if the value is allowed."""
        if self.accepts(value):
            return None
        hint = did_you_mean(str(value).lower(), self.names) or self._as_number(value)
        return f"is {value!r}: expected {self.allowed}{hint}"

    def _as_number(self, value: object) -> str:
        """Return the advice for a number that YAML takes for text, as ``1e6``, which has no point."""
        try:
            number = float(value) if isinstance(value, str) else math.nan
        except ValueError:
            return ""
        meant = int(number) if number.is_integer() and abs(number) < _MOST_IN_WORDS else number
        return f"; YAML takes it for text, write {meant}" if self.accepts(meant) else ""


def integer(low: int, high: int | None = None) -> Rule:
    """An integer of at least ``low`` and at most ``high``."""
    bounds = f"from {low} to {high}" if high is not None else f"of at least {low}"
    return Rule(f"an integer {bounds}", lambda v: is_integer(v) and low <= v and (high is None or v <= high))


def power_of_two(high: int, low: int = 1) -> Rule:
    """A power of two from `low` to `high`."""
    return Rule(
        f"a power of two from {low} to {high}",
        lambda v: is_integer(v) and low <= v <= high and v & (v - 1) == 0,
    )


def field_names() -> Rule:
    """The name of a field, or a list of such names."""
    return Rule(
        "the name of a field, or a list of names",
        lambda v: (
            isinstance(v, str)
            or (isinstance(v, list | tuple) and len(v) > 0 and all(isinstance(name, str) for name in v))
        ),
    )


def duration(*, zero: bool) -> Rule:
    """A finite number of time units, which may be 0 or not."""
    if zero:
        return Rule("a number of at least 0", lambda v: _is_number(v) and 0 <= v < math.inf)
    return Rule("a number of more than 0", lambda v: _is_number(v) and 0 < v < math.inf)


def span() -> Rule:
    """A finite number of time units, of either sign."""
    return Rule("a number", lambda v: _is_number(v) and math.isfinite(v))


def flag() -> Rule:
    """A bool."""
    return Rule("true or false", lambda v: isinstance(v, bool))


def text() -> Rule:
    """A string."""
    return Rule("text", lambda v: isinstance(v, str))


def log_file_name() -> Rule:
    """The name of a log file, with fields to be filled in."""
    fields = dict.fromkeys(("topology_name", "component_name", "task_id", "pid"), "")
    named = ", ".join(f"{{{name}}}" for name in fields)
    return Rule(
        f"text without other fields than {named}",
        lambda v: isinstance(v, str) and _works(lambda: v.format(**fields)),
    )


def log_format() -> Rule:
    """A format of log lines."""
    return Rule(
        "a format of Python's logging, such as '%(asctime)s %(levelname)s %(message)s'",
        lambda v: isinstance(v, str) and _works(lambda: logging.Formatter(v)),
    )


def _works(call: Callable[[], object]) -> bool:
    try:
        call()
    except Exception:  # whatever a text may ask for
        return False
    return True


def topology_name() -> Rule:
    """A string that Storm takes as the name of a topology."""
    pattern = re.compile(r"[^/.:\\]+")
    return Rule(
        "text without any of / . : \\ and not empty",
        lambda v: isinstance(v, str) and pattern.fullmatch(v) is not None,
    )


def choice(*names: str) -> Rule:
    """One of some names."""
    return Rule(one_of(names), lambda v: isinstance(v, str) and v in names, names)


def choice_by_component(*names: str) -> Rule:
    """One of some names, or one for each of some components."""
    return Rule(
        f"{one_of(names)}, or a mapping of components to these",
        lambda v: v in names if isinstance(v, str) else _names_components(v, names),
        names,
    )


def _names_components(value: object, names: Sequence[str]) -> bool:
    if not isinstance(value, dict):
        return False
    return all(isinstance(name, str) and isinstance(v, str) and v in names for name, v in value.items())


AUTO_WORKERS = "auto"
"""As many workers as there are cores, and a run that decides by itself what runs where."""


def workers() -> Rule:
    """A number of workers, or that the run decides."""
    number = integer(1)
    return Rule(
        f"{number.allowed}, or '{AUTO_WORKERS}'",
        lambda v: v == AUTO_WORKERS if isinstance(v, str) else number.accepts(v),
        (AUTO_WORKERS,),
    )


def placement() -> Rule:
    """A way to place tasks, or for each component the workers of its tasks."""
    names = ("costs", "round-robin", "component")
    return Rule(
        f"{one_of(names)}, or for each component a worker's number or a list of them",
        lambda v: v in names if isinstance(v, str) else _places_components(v),
        names,
    )


def _places_components(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    numbers = [n if isinstance(n, list) else [n] for n in value.values()]
    named = all(isinstance(name, str) for name in value)
    return named and all(found and all(is_integer(n) and n >= 1 for n in found) for found in numbers)


def task_counts(most: int) -> Rule:
    """For components, by id, how many tasks each of them has."""
    return Rule(
        f"for each component an integer from 1 to {most}",
        lambda v: isinstance(v, dict) and all(_is_task_count(name, n, most) for name, n in v.items()),
    )


def _is_task_count(name: object, count: Any, most: int) -> bool:
    return isinstance(name, str) and is_integer(count) and 1 <= count <= most


def controller() -> Rule:
    """The name or the dotted path of a controller, alone or with arguments."""
    return Rule(
        "the name or the dotted path of a controller, or that as class beside its args, a mapping",
        lambda v: isinstance(v, str) or _has_class_and_args(v),
    )


def _has_class_and_args(value: object) -> bool:
    if not isinstance(value, dict) or not {"class"} <= value.keys() <= {"class", "args"}:
        return False
    args = value.get("args") or {}
    named = isinstance(args, dict) and all(isinstance(name, str) for name in args)
    return named and isinstance(value["class"], str)


TABLE_OPTIONS = ("rows", "elements", "load", "save")
"""The options of a shared table in the configuration."""


def tables() -> Rule:
    """For each of some shared tables what differs from its declaration."""
    return Rule(
        f"for each shared table a mapping of {', '.join(TABLE_OPTIONS)}: numbers of at least 1, and texts",
        lambda v: isinstance(v, dict) and all(isinstance(n, str) and _tells_table(o) for n, o in v.items()),
    )


def _tells_table(options: object) -> bool:
    if not isinstance(options, dict) or not options.keys() <= set(TABLE_OPTIONS):
        return False
    return all(
        is_integer(value) and value >= 1 if name in ("rows", "elements") else isinstance(value, str)
        for name, value in options.items()
    )


def optional(rule: Rule) -> Rule:
    """Return a rule that allows null beside the values of another rule."""
    return Rule(f"{rule.allowed}, or null", lambda v: v is None or rule.accepts(v), rule.names)


def is_integer(value: object) -> bool:
    """True if a value is an int and no bool, which Python counts among them."""
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return is_integer(value) or isinstance(value, float)

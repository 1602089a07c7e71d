"""Makes the controller that a configuration names (``viper.controller``), a fixed schedule among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from framework.model.arguments import fitted
from framework.model.errors import LoadError
from framework.model.importing import import_class
from framework.model.topology import unknown
from framework.operators.controllers.controller import Controller, Measurements
from framework.operators.controllers.predictive import Predictive
from framework.operators.controllers.thresholds import Thresholds


class Schedule(Controller):
    """Has a bolt work with numbers of tasks that are given by hand."""

    def __init__(self, steps: Sequence[Sequence[float]]) -> None:
        """
        Args:
            steps: pairs of seconds since the spouts were activated, ascending, and the number of tasks from
                then on, as ``[[0, 2], [60, 5]]``. Before the first of them the number stays.

        Raises:
            ValueError: they are no such pairs.
        """
        try:
            self._steps = [(float(at_s), int(tasks)) for at_s, tasks in steps]
        except (TypeError, ValueError):
            raise ValueError(f"steps={steps!r}: expected pairs of seconds and tasks") from None
        times = [at_s for at_s, _ in self._steps]
        if times != sorted(times) or any(tasks < 1 for _, tasks in self._steps):
            raise ValueError(f"steps={steps!r}: expected ascending seconds, and numbers of tasks from 1")

    def wished(self, now: Measurements) -> int:
        """As of `Controller`."""
        begun = [tasks for at_s, tasks in self._steps if at_s <= now.elapsed_s]
        return begun[-1] if begun else now.tasks


BY_NAME: Mapping[str, type[Controller]] = {
    "thresholds": Thresholds,
    "predictive": Predictive,
    "schedule": Schedule,
}
"""The controllers that need no dotted path."""

Given = str | Mapping[str, Any]
"""A name or the dotted path of a class, alone or as ``class`` beside its ``args``."""


def name_of(given: Given) -> str:
    """The name or the path of the class."""
    return given if isinstance(given, str) else str(given["class"])


def make_controller(given: Given) -> Controller:
    """A new controller.

    Raises:
        LoadError: there is no such class, it is no controller, or it does not take these arguments.
    """
    name = name_of(given)
    args: Mapping[str, Any] = {} if isinstance(given, str) else given.get("args") or {}
    cls = _class_named(name)
    try:
        positional, keywords = fitted(cls, (), args)
        return cls(*positional, **keywords)
    except LoadError as error:
        raise LoadError(f"{name}: {error}") from error
    except Exception as error:
        raise LoadError(f"{name}: {type(error).__name__}: {error}") from error


def _class_named(name: str) -> type[Controller]:
    if name in BY_NAME:
        return BY_NAME[name]
    if "." not in name:
        raise LoadError(f"{unknown('controller', name, BY_NAME)}; or the dotted path of a class of your own")
    cls = import_class(name)
    if not issubclass(cls, Controller):
        raise LoadError(f"{name} is no controller: expected a subclass of viperstorm.controllers.Controller")
    return cls

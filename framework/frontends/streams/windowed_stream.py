"""The windows of a stream with a key, and the steps that they offer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from framework.frontends.streams.forms import WindowForm
from framework.frontends.streams.functions import Function, check_takes, found, told
from framework.frontends.streams.windowed import AggregateWindow, ProcessWindow, ReduceWindow, WindowStep
from framework.model.specs import Par
from framework.operators.windows.aggregates import Aggregate, Aggregates, Collect, Count
from framework.operators.windows.aggregates.written import written

Stream = TypeVar("Stream")
Step = Callable[[WindowStep, "str | None", Function, "Par | None"], Stream]
"""Adds a bolt to the topology, with its id, the function that it is named after, and its parallelism."""


class WindowedStream(Generic[Stream]):
    """The windows of each key of a stream.

    Rows that a window emits lie at its end in the order of the run.

    Every step takes ``par``, its parallelism, and ``name``, its id in the topology.
    """

    def __init__(self, step: Step[Stream], fields: Sequence[str], width: int, form: WindowForm) -> None:
        self._step = step
        self._fields = tuple(fields)
        self._width = width
        self._form = form.arguments

    def aggregate(
        self,
        aggregate: Aggregate[Any, Any],
        *,
        fields: Sequence[str] | None = None,
        bounds: bool = False,
        par: Par | None = None,
        name: str | None = None,
    ) -> Stream:
        """For each window the key and the result of an aggregate.

        Args:
            aggregate: the aggregate, or several: ``Aggregates(total=Sum("amount"), n=Count())``. It gets the
                values beside the key.
            fields: names of the results; by default the names of several, or ``value``.
            bounds: whether ``start`` and ``end`` of the window, in microseconds, lie after the key.
            par: the parallelism.
            name: the step's id.

        Raises:
            TypeError: it is no aggregate.
            ValueError: the stream has no such field beside its key.
        """
        if not isinstance(aggregate, Aggregate):
            raise TypeError(f"aggregate({aggregate!r}): expected an aggregate, such as Sum('amount')")
        bolt = AggregateWindow(
            written(aggregate), self._fields, self._width, fields, bounds=bounds, **self._form
        )
        return self._step(bolt, name, "aggregate", par)

    def reduce(self, function: Function, *, par: Par | None = None, name: str | None = None) -> Stream:
        """For each window the key, and what an associative function makes of the values.

        Args:
            function: makes one value of two; where there are several beside the key, a tuple of values of
                two tuples.
            par: the parallelism.
            name: the step's id.

        Raises:
            TypeError: it is no function of two arguments.
            ValueError: there is no value beside the key.
        """
        if len(self._fields) == self._width:
            raise ValueError(f"reduce() needs a value beside the key, found only {list(self._fields)}")
        check_takes("reduce", found(function), 2, "the value so far and the next one")
        return self._step(
            ReduceWindow(told(function), self._fields, self._width, **self._form), name, function, par
        )

    def count(self, *, field: str = "count", par: Par | None = None, name: str | None = None) -> Stream:
        """For each window the key and how many tuples it has.

        Args:
            field: the name of the count.
            par: the parallelism.
            name: the step's id.
        """
        bolt = AggregateWindow(
            written(Aggregates(**{field: Count()})), self._fields, self._width, **self._form
        )
        return self._step(bolt, name, "count", par)

    def collect(self, *, field: str = "values", par: Par | None = None, name: str | None = None) -> Stream:
        """For each window the key and a list of its values, or of tuples where there are several.

        Args:
            field: the name of the list.
            par: the parallelism.
            name: the step's id.
        """
        bolt = AggregateWindow(
            written(Aggregates(**{field: Collect()})), self._fields, self._width, **self._form
        )
        return self._step(bolt, name, "collect", par)

    def process(
        self,
        function: Function,
        *,
        fields: Sequence[str] = ("value",),
        par: Par | None = None,
        name: str | None = None,
    ) -> Stream:
        """Each of what a function returns or yields for a window.

        Args:
            function: called with the window (``key``, ``start``, ``end``) and a list of its values, or of
                tuples where there are several beside the key.
            fields: names of the values of what it yields.
            par: the parallelism.
            name: the step's id.

        Raises:
            TypeError: it is no function of two arguments.
        """
        check_takes("process", found(function), 2, "a window and a list of its values")
        bolt = ProcessWindow(told(function), self._fields, self._width, tuple(fields), **self._form)
        return self._step(bolt, name, function, par)

    aggregate_by_key = aggregate
    """Storm's name for it."""
    reduce_by_key = reduce
    """Storm's name for it."""
    count_by_key = count
    """Storm's name for it."""

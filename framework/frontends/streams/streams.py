"""Streams of tuples, and the steps that can follow each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from framework.frontends.builder import BoltDeclarer
from framework.frontends.streams.assembly import Assembly, Input
from framework.frontends.streams.bolts import Branch, Filter, FlatMap, KeyBy, Map, Peek, Select, branch_name
from framework.frontends.streams.forms import WindowForm
from framework.frontends.streams.functions import Function, called_like, check_takes, field_names, found, told
from framework.frontends.streams.joining import Joined, bolt_of
from framework.frontends.streams.keyed import AggregateByKey, CountByKey, ReduceByKey
from framework.frontends.streams.windowed import WindowStep
from framework.frontends.streams.windowed_stream import WindowedStream
from framework.model.specs import Par, Spec
from framework.model.topology import DEFAULT_STREAM, Grouping, Stream, did_you_mean
from framework.operators.components import BatchBolt, Component
from framework.operators.components.jplus import PairsAt
from framework.operators.sinks import ConsoleSink
from framework.operators.windows.joins import Given, How

_Bolt = BatchBolt | WindowStep


class TupleStream:
    """A stream of tuples, on which the next steps are called.

    Every step takes ``par``, its parallelism, and ``name``, its id in the topology; by default it is named
    after its function.
    """

    def __init__(self, assembly: Assembly, inputs: Sequence[Input], fields: Sequence[str]) -> None:
        self._assembly = assembly
        self._inputs = tuple(inputs)
        self.fields = tuple(fields)
        """Names of the values of each tuple, which functions are called with."""

    _key: tuple[str, ...] = ()

    @property
    def _grouping(self) -> Grouping:
        return Grouping.SHUFFLE

    # -- tuple by tuple

    def map(
        self,
        function: Function,
        *,
        fields: Sequence[str] = ("value",),
        par: Par | None = None,
        name: str | None = None,
    ) -> TupleStream:
        """Apply a function to each tuple; return the stream of its results.

        Args:
            function: returns the value, or for several fields a tuple of values.
            fields: names of the values that it returns.
            par: the parallelism.
            name: the step's id.

        Raises:
            TypeError: it is no function, or does not take the stream's values.
        """
        return self._step(Map(self._told("map", function), field_names(fields)), name, function, par)

    def flat_map(
        self,
        function: Function,
        *,
        fields: Sequence[str] = ("value",),
        par: Par | None = None,
        name: str | None = None,
    ) -> TupleStream:
        """Each of what a function returns for a tuple: it returns or yields none, one or many.

        Arguments and errors are those of `map`.
        """
        return self._step(FlatMap(self._told("flat_map", function), field_names(fields)), name, function, par)

    def filter(self, function: Function, *, par: Par | None = None, name: str | None = None) -> Self:
        """The tuples for which a function returns something true; errors as of `map`."""
        return self._same(Filter(self._told("filter", function), self.fields), name, function, par)

    def peek(self, function: Function, *, par: Par | None = None, name: str | None = None) -> Self:
        """The tuples as they are; a function is called with each. Errors as of `map`."""
        return self._same(Peek(self._told("peek", function), self.fields), name, function, par)

    def branch(
        self, *functions: Function, par: Par | None = None, name: str | None = None
    ) -> tuple[TupleStream, ...]:
        """A stream for each function, with the tuples for which it is the first that returns something true.

        Tuples for which none does are in no stream. Errors are those of `map`.
        """
        if not functions:
            raise TypeError("branch() needs a function for each stream that it makes")
        bolt = Branch([self._told("branch", function) for function in functions], self.fields)
        made = self._assembly.new_id(name, "branch")
        self._assembly.add(made, bolt, self._inputs, self._grouping, par)
        inputs = [Input(made, branch_name(index)) for index in range(len(functions))]
        return tuple(TupleStream(self._assembly, [given], self.fields) for given in inputs)

    # -- several streams

    def union(self, *others: TupleStream) -> TupleStream:
        """The tuples of this stream and of others, in the order of the run.

        Raises:
            ValueError: they belong to another builder, or their fields differ.
        """
        for other in others:
            if other._assembly is not self._assembly:
                raise ValueError("union() takes streams of the same StreamBuilder")
            if other.fields != self.fields:
                raise ValueError(
                    f"union() of streams with the fields {list(self.fields)} and {list(other.fields)}: "
                    "expected the same; map one of them"
                )
        inputs = [given for one in (self, *others) for given in one._inputs]
        return TupleStream(self._assembly, list(dict.fromkeys(inputs)), self.fields)

    def join(
        self,
        other: TupleStream,
        on: Given = (),
        *,
        window: WindowForm | None = None,
        index: str | Sequence[str] = (),
        fields: Sequence[str] | None = None,
        how: How = "inner",
        pairs_at: PairsAt = "tuple",
        par: Par | None = None,
        name: str | None = None,
    ) -> TupleStream:
        """The values of each two tuples that match, one of this stream and one of another.

        Of two streams by key only tuples with the same key match, each task joins its own keys, and an index
        by key finds them. Otherwise each task gets all tuples, and stores a share of them; see `JoinBolt`.
        With a window, both have keys, and tuples in one window match; see `JPlus`.

        Args:
            other: the right one of the two streams.
            on: what must hold for two tuples; `Within` or `SameWindow` is among it, unless there is a window.
            window: `Tumbling`, `Sliding` or `Session` windows, in one of which both must be.
            index: fields of this stream to make an index by, beside the key.
            fields: names of the values; by default those of both, where a name that this stream has, too,
                gets ``right_`` in front.
            how: of which streams a tuple is put out also without a partner: ``inner``, ``left``, ``right`` or
                ``full``. Of streams that have no key, the step then has one task.
            pairs_at: whether a pair lies below its later ``tuple``, or at the ``end`` of each window.
            par: the parallelism.
            name: the step's id.

        Raises:
            TypeError: no condition.
            ValueError: it belongs to another builder, both are the same, a window comes without keys, or with
                `index` or `how`; errors of `JoinBolt` and `JPlus`.
        """
        if other._assembly is not self._assembly:
            raise ValueError("join() takes a stream of the same StreamBuilder")
        left, right = (Joined(one._inputs, one.fields, one._key) for one in (self, other))
        names = fields and field_names(fields)
        bolt = bolt_of(left, right, on, names, window=window, index=index, how=how, pairs_at=pairs_at)
        groupings = (self._grouping, other._grouping) if left.key and right.key else (Grouping.ALL,) * 2
        made = self._assembly.new_id(name, "join")
        declarer = self._assembly.add(made, bolt, self._inputs, groupings[0], par)
        for given in other._inputs:
            declarer.grouping(given.component, groupings[1], given.stream)
        return TupleStream(self._assembly, [Input(made)], bolt.outputs)

    # -- by key

    def key_by(
        self,
        key: Callable[..., Any] | str | Sequence[str],
        *,
        field: str = "key",
        par: Par | None = None,
        name: str | None = None,
    ) -> KeyedStream:
        """The tuples with a key, which is the first of their values; those with one key go to one task.

        Args:
            key: names of the fields that are the key; or a function that returns it, which becomes a field.
            field: the name of that field.
            par: the parallelism of the step; there is none where the key's fields are the first ones.
            name: the step's id.

        Raises:
            TypeError: it is no function, or does not take the stream's values.
            ValueError: no such field, or one that is there already.
        """
        if callable(key):
            if field in self.fields:
                raise ValueError(f"key_by(field={field!r}): the stream has that field already")
            bolt = KeyBy(self._told("key_by", key), (field, *self.fields))
            step = self._step(bolt, name, key, par)
            return KeyedStream(self._assembly, step._inputs, step.fields, 1)
        names = (key,) if isinstance(key, str) else tuple(key)
        for chosen in names:
            if chosen not in self.fields:
                near = did_you_mean(chosen, self.fields)
                raise ValueError(f"key_by({chosen!r}): the stream's fields are {list(self.fields)}{near}")
        if not names or len(set(names)) < len(names):
            raise ValueError(f"key_by({key!r}): expected different fields")
        if self.fields[: len(names)] == names:
            return KeyedStream(self._assembly, self._inputs, self.fields, len(names))
        order = [self.fields.index(chosen) for chosen in names]
        order += [index for index in range(len(self.fields)) if index not in order]
        select = Select(order, [self.fields[index] for index in order])
        step = self._step(select, name, "key_by", par)
        return KeyedStream(self._assembly, step._inputs, step.fields, len(names))

    def stream(self, name: str) -> TupleStream:
        """Another stream of the component that emits these tuples, such as ``malformed`` of a source.

        Raises:
            ValueError: it declares no such stream, or no fields; or several components emit these tuples.
        """
        components = list(dict.fromkeys(given.component for given in self._inputs))
        if len(components) > 1:
            raise ValueError(
                f"stream({name!r}): these tuples are emitted by {components}: "
                "call it on the stream of one of them"
            )
        return stream_of(self._assembly, self._assembly.declarers[components[0]].snapshot(), name)

    # -- ends

    def to(
        self,
        bolt: type | Component,
        *,
        grouping: Grouping | None = None,
        par: Par | None = None,
        name: str | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> BoltOutput:
        """Give the tuples to a bolt of any kind.

        Args:
            bolt: its class, or an instance, which stands for its constructor's arguments.
            grouping: how tuples find its tasks; by default by key, or shuffled where there is none.
            par: its parallelism.
            name: its id; by default made of its class.
            config: its own configuration.

        Returns:
            The streams that it emits.
        """
        cls = bolt if isinstance(bolt, type) else type(bolt)
        made = self._assembly.new_id(name, cls.__name__.lower())
        declarer = self._assembly.add(made, bolt, self._inputs, grouping or self._grouping, par, config)
        return BoltOutput(self._assembly, declarer)

    def print(self, *, name: str | None = None) -> None:
        """Write each tuple to stdout, as `ConsoleSink` does, in the order of the run."""
        self.to(ConsoleSink, grouping=Grouping.GLOBAL, name=self._assembly.new_id(name, "print"))

    # -- what steps have in common

    def _told(self, step: str, function: Function) -> Function:
        named = found(function)
        check_takes(step, named, len(self.fields), f"the stream's values, {list(self.fields)}")
        return told(function)

    def _step(self, bolt: _Bolt, name: str | None, function: Function, par: Par | None) -> TupleStream:
        outputs = tuple(bolt.outputs or ())
        return TupleStream(self._assembly, [self._added(bolt, name, function, par)], outputs)

    def _same(self, bolt: BatchBolt, name: str | None, function: Function, par: Par | None) -> Self:
        return self._with(self._added(bolt, name, function, par))

    def _added(self, bolt: _Bolt, name: str | None, function: Function, par: Par | None) -> Input:
        made = self._assembly.new_id(name, called_like(bolt, function))
        self._assembly.add(made, bolt, self._inputs, self._grouping, par)
        return Input(made)

    def _with(self, given: Input) -> Self:
        return type(self)(self._assembly, [given], self.fields)


class KeyedStream(TupleStream):
    """A stream whose first values are a key; tuples with one key go to one task of the next step."""

    def __init__(
        self, assembly: Assembly, inputs: Sequence[Input], fields: Sequence[str], width: int
    ) -> None:
        super().__init__(assembly, inputs, fields)
        self._width = width
        self._key = self.key

    @property
    def key(self) -> tuple[str, ...]:
        """The fields of the key."""
        return self.fields[: self._width]

    @property
    def _grouping(self) -> Grouping:
        return Grouping.fields(*self.key)

    def _with(self, given: Input) -> Self:
        return type(self)(self._assembly, [given], self.fields, self._width)

    def count_by_key(
        self, *, field: str = "count", par: Par | None = None, name: str | None = None
    ) -> TupleStream:
        """For each tuple its key, and how many tuples with it have come so far.

        Args:
            field: the name of the count.
            par: the parallelism.
            name: the step's id.
        """
        return self._step(CountByKey((*self.key, field)), name, "count_by_key", par)

    def reduce_by_key(
        self, function: Function, *, par: Par | None = None, name: str | None = None
    ) -> TupleStream:
        """For each tuple its key, and what a function makes of the values so far.

        Args:
            function: makes one value of the value so far and the next one; where there are several beside
                the key, a tuple of values of two tuples.
            par: the parallelism.
            name: the step's id.

        Raises:
            TypeError: it is no function of two arguments.
            ValueError: there is no value beside the key.
        """
        if len(self.fields) == self._width:
            raise ValueError(f"reduce_by_key() needs a value beside the key, found only {list(self.key)}")
        check_takes("reduce_by_key", found(function), 2, "the value so far and the next one")
        bolt = ReduceByKey(told(function), self._width, self.fields)
        return self._step(bolt, name, function, par)

    def aggregate_by_key(
        self,
        initial: Any,
        function: Function,
        result: Function | None = None,
        *,
        fields: Sequence[str] = ("value",),
        par: Par | None = None,
        name: str | None = None,
    ) -> TupleStream:
        """For each tuple its key, and the result so far.

        Args:
            initial: the state of a key before its first tuple; or a function that makes it, such as ``list``.
            function: makes the next state of a state and a tuple's values beside the key.
            result: makes the result of a state; by default the state is the result.
            fields: names of the values of the result.
            par: the parallelism.
            name: the step's id.

        Raises:
            TypeError: no function, or one that does not take these arguments.
        """
        values = list(self.fields[self._width :])
        check_takes(
            "aggregate_by_key", found(function), 1 + len(values), f"the state and the values, {values}"
        )
        given = {"make": told(initial)} if callable(initial) else {"initial": initial}
        if result is not None:
            check_takes("aggregate_by_key", found(result), 1, "the state")
            given["result"] = told(result)
        bolt = AggregateByKey(told(function), self._width, (*self.key, *field_names(fields)), **given)
        return self._step(bolt, name, function, par)

    def window(self, form: WindowForm) -> WindowedStream[TupleStream]:
        """The windows of each key.

        Args:
            form: ``Tumbling("10s")``, ``Sliding("60s", "10s")``, ``Session("30s")`` or ``CountWindow(100)``.
        """
        return WindowedStream(self._step, self.fields, self._width, form)


class BoltOutput:
    """The output of a bolt that a stream was connected to."""

    def __init__(self, assembly: Assembly, declarer: BoltDeclarer) -> None:
        self._assembly = assembly
        self._declarer = declarer

    def stream(self, name: str = DEFAULT_STREAM) -> TupleStream:
        """One of its streams.

        Raises:
            ValueError: it declares no such stream, or no fields.
        """
        return stream_of(self._assembly, self._declarer.snapshot(), name)


def stream_of(assembly: Assembly, spec: Spec, stream: str) -> TupleStream:
    """One of the streams that a component declares.

    Raises:
        ValueError: it declares no such stream, or no fields.
    """
    name = spec.name or ""
    streams: Mapping[str, Stream] = {found.name: found for found in spec.outputs}
    if stream not in streams:
        near = did_you_mean(stream, streams)
        raise ValueError(f"{name!r} declares no stream {stream!r}, but {list(streams)}{near}")
    if not streams[stream].fields:
        raise ValueError(f"stream {stream!r} of {name!r} declares no fields: its functions need them")
    return TupleStream(assembly, [Input(name, stream)], streams[stream].fields)

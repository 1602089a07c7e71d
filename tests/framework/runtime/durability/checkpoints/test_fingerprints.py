"""Every parameter of what remembers anything is in a fingerprint, or may differ, with a reason.

The parameters are found by introspection. So a new one fails here until it is given two values that a
checkpoint can tell from one another, or a reason.
"""

from __future__ import annotations

import gzip
import importlib
import inspect
import json
import logging
import os
import pkgutil
import shutil
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar
from unittest import mock

import pytest

import framework
import spark_ingest
from framework import APlus, Bolt, JoinBolt, TopologyBuilder
from framework.cli.run import summary_lines
from framework.frontends.loading import load
from framework.frontends.streams import CountWindow, KeyedStream, Session, Sliding, StreamBuilder, Tumbling
from framework.model.config import KEYS
from framework.model.errors import CheckpointError
from framework.model.specs import Recipe
from framework.model.tables import SharedTable
from framework.operators.components import Component, OPlus
from framework.operators.sinks import CollectingSink, SqliteSink
from framework.operators.sources import CsvSource, JsonLinesSource, ParquetSource, TextSource
from framework.operators.sources.file_source import FileSource
from framework.operators.state import (
    AggregatingState,
    ListState,
    MapState,
    ReducingState,
    State,
    TableState,
    ValueState,
)
from framework.operators.windows import Count as Tuples
from framework.operators.windows import aggregates
from framework.operators.windows.aggregates import Aggregate, Aggregates, Collect, Count, Max, Sum
from framework.operators.windows.joins import Band, Equal, SameWindow, Within
from framework.runtime.durability.checkpoints.differences import differences
from framework.runtime.durability.checkpoints.fingerprints import (
    COMPARED_ELSEWHERE,
    KEYS_THAT_MAY_DIFFER,
    MAY_DIFFER,
    OF_ALL,
    OF_COMPONENTS,
    OF_JOINS,
    WINDOWS,
    attributes_of,
    facts_of,
    fingerprints_of,
    kind_of,
    span,
)
from framework.runtime.durability.checkpoints.folder import MANIFEST
from framework.runtime.durability.checkpoints.meaning import digest_of, plain, shown
from tests.framework.runtime.durability.checkpoints.compared import changes, checkpoint_of
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.durability.checkpoints.test_compared import (
    REFUSED,
    TAKEN,
    TOLD,
    add,
    behind,
    greater,
)
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built

REPOSITORY = Path(__file__).parents[5]
Sample = tuple[Callable[[], Any], Callable[[], Any]]


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """The names of a function's parameters, but for ``self``."""
    return [name for name in inspect.signature(function).parameters if name != "self"]


def every_module() -> None:
    """Import all modules, so that no class is left out."""
    for package in (framework, spark_ingest):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if "templates" not in module.name and not module.name.endswith("__main__"):
                importlib.import_module(module.name)


def derived(base: type) -> Iterator[type]:
    """The framework's classes that derive from a class, and itself."""
    every_module()
    todo, seen = [base], set[type]()
    while todo:
        cls = todo.pop()
        if cls not in seen:
            seen.add(cls)
            todo += cls.__subclasses__()
            if cls.__module__.split(".")[0] in ("framework", "spark_ingest"):
                yield cls


# -- states

STATES: Mapping[str, Sample] = {
    "ValueState.type": (lambda: ValueState("int64"), lambda: ValueState("float64")),
    "ValueState.default": (lambda: ValueState("int64", 0), lambda: ValueState("int64", 1)),
    "ValueState.per": (lambda: ValueState(), lambda: ValueState(per="task")),
    "ValueState.ttl": (lambda: ValueState("int64", ttl=1), lambda: ValueState("int64", ttl=2)),
    "TableState.columns": (lambda: TableState({"a": "int64"}), lambda: TableState({"b": "int64"})),
    "TableState.defaults": (
        lambda: TableState({"a": "int64"}),
        lambda: TableState({"a": "int64"}, {"a": 1}),
    ),
    "TableState.per": (lambda: TableState({"a": "int64"}), lambda: TableState({"a": "int64"}, per="task")),
    "TableState.ttl": (lambda: TableState({"a": "int64"}), lambda: TableState({"a": "int64"}, ttl=1)),
    "ListState.type": (lambda: ListState("int64"), lambda: ListState("string")),
    "ListState.per": (lambda: ListState(), lambda: ListState(per="task")),
    "ListState.ttl": (lambda: ListState("int64"), lambda: ListState("int64", ttl=1)),
    "MapState.key_type": (lambda: MapState("int64", "int64"), lambda: MapState("string", "int64")),
    "MapState.value_type": (lambda: MapState("int64", "int64"), lambda: MapState("int64", "string")),
    "MapState.per": (lambda: MapState(), lambda: MapState(per="task")),
    "MapState.ttl": (lambda: MapState(None, "int64"), lambda: MapState(None, "int64", ttl=1)),
    "ReducingState.type": (lambda: ReducingState("int64", add), lambda: ReducingState("float64", add)),
    "ReducingState.function": (lambda: ReducingState("int64", add), lambda: ReducingState("int64", max)),
    "ReducingState.per": (lambda: ReducingState(None, add), lambda: ReducingState(None, add, per="task")),
    "ReducingState.ttl": (
        lambda: ReducingState("int64", add),
        lambda: ReducingState("int64", add, ttl=1),
    ),
    **{
        f"AggregatingState.{name}": (
            lambda: AggregatingState("int64", create=int, add=add),
            lambda given=given: AggregatingState(**{"type": "int64", "create": int, "add": add, **given}),
        )
        for name, given in {
            "type": {"type": "float64"},
            "create": {"create": float},
            "add": {"add": greater},
            "result": {"result": abs},
            "per": {"per": "task"},
            "ttl": {"ttl": 1},
        }.items()
    },
}
"""By class and parameter two states that differ in it."""
STATES_MAY_DIFFER = {"durable": "docs/state.md: it can be changed between two runs"}


def test_every_parameter_of_a_state_shows() -> None:
    """It is in the fingerprint or in the `StateSpec`, both of which are compared."""
    for cls in derived(State):
        if cls in (State,) or cls.__name__.startswith("_") or "__init__" not in vars(cls):
            continue
        for name in parameters_of(cls.__init__):
            if name not in STATES_MAY_DIFFER:
                before, after = (_state(make()) for make in STATES[f"{cls.__name__}.{name}"])
                assert before != after, f"{cls.__name__}.{name} shows in no checkpoint"


def _state(state: State) -> tuple[Any, Any]:
    cls = type("Keeping", (Bolt,), {"outputs": ["x"], "kept": state})
    plan, settings = plan_of(behind(cls))
    found = fingerprints_of(plan, settings)["components"]["bolt"]["things"]["state kept"]
    spec = plan.traits["bolt"].states[0]
    return found, (spec.kind, spec.types.removesuffix(", with a time to live"), spec.per, spec.codes)


# -- aggregates

AGGREGATES: Mapping[str, Mapping[str, Any]] = {
    "ApproximateDistinct.precision": {"field": "x", "precision": 10},
    "TopK.k": {"field": "x", "k": 3},
    "TopK.of": {"field": "x", "of": "y"},
    "Variance.sample": {"field": "x", "sample": True},
    "Reduce.function": {"function": greater},
    "Reduce.fields": {"function": add, "fields": ["a", "b"]},
}
"""By class and parameter what is given to the second of two aggregates."""


def test_every_parameter_of_an_aggregate_shows() -> None:
    for cls in derived(Aggregate):
        if inspect.isabstract(cls) or cls is Aggregates or cls.__name__.startswith("_"):
            continue
        for name in parameters_of(cls.__init__):
            required = {"function": add} if "function" in parameters_of(cls.__init__) else {}
            first = cls(**(required or ({"field": "x"} if name != "field" else {})))
            owner = next(base for base in cls.__mro__ if "__init__" in vars(base)).__name__
            given = {"field": "y"} if name == "field" else AGGREGATES[f"{owner}.{name}"]
            before, after = shown(plain(first)), shown(plain(cls(**given)))
            assert before != after, f"{cls.__name__}.{name} shows in no checkpoint"
    names = [shown(plain(cls())) for cls in (Count, Sum, Max, Collect, aggregates.Min, aggregates.First)]
    assert len({*names}) == len(names)


def test_an_aggregate_of_a_users_own() -> None:
    """All that its constructor keeps is compared, and its code is named."""

    class Weighted(Sum):
        def __init__(self, field: str, weight: int) -> None:
            super().__init__(field)
            self._weight = weight

    def built(weight: int) -> TopologyBuilder:
        return behind(type("W", (APlus,), {"size": "1h", "outputs": ["k", "v"],
                                           "aggregate": Weighted("number", weight)}))  # fmt: skip

    checkpoint = checkpoint_of(built(1))
    assert changes(checkpoint, built(1)) == []
    with pytest.raises(CheckpointError, match="aggregate of windows weight was 1: found 2"):
        changes(checkpoint, built(2))


# -- conditions, forms of windows

CONDITIONS: Mapping[str, Sample] = {
    "Equal.fields": (lambda: Equal("a"), lambda: Equal("b")),
    "Equal.left": (lambda: Equal(left="a", right="b"), lambda: Equal(left="c", right="b")),
    "Equal.right": (lambda: Equal(left="a", right="b"), lambda: Equal(left="a", right="c")),
    "Band.width": (lambda: Band(1, left="a", right="b"), lambda: Band(2, left="a", right="b")),
    "Band.left": (lambda: Band(1, left="a", right="b"), lambda: Band(1, left="c", right="b")),
    "Band.right": (lambda: Band(1, left="a", right="b"), lambda: Band(1, left="a", right="c")),
    "Band.widths": (lambda: Band(a=1), lambda: Band(a=2)),
    "Within.span": (lambda: Within("1s"), lambda: Within("2s")),
    "Within.before": (lambda: Within(before="1s"), lambda: Within(before="2s")),
    "Within.after": (lambda: Within(after="1s"), lambda: Within(after="2s")),
    "SameWindow.size": (lambda: SameWindow("1s"), lambda: SameWindow("2s")),
    "SameWindow.offset": (lambda: SameWindow("1d"), lambda: SameWindow("1d", offset="1h")),
    "SameWindow.zone": (lambda: SameWindow("1d", zone="UTC"), lambda: SameWindow("1d", zone="Asia/Tokyo")),
    "Tumbling.offset": (lambda: Tumbling("1s"), lambda: Tumbling("1s", offset="1ms")),
    "Tumbling.zone": (lambda: Tumbling("1d", zone="UTC"), lambda: Tumbling("1d", zone="Asia/Tokyo")),
    "Sliding.offset": (lambda: Sliding("2s", "1s"), lambda: Sliding("2s", "1s", offset="-1ms")),
    "Sliding.zone": (lambda: Sliding("2d", "1d"), lambda: Sliding("2d", "1d", zone="UTC")),
    "Tumbling.size": (lambda: Tumbling("1s"), lambda: Tumbling("2s")),
    "Sliding.size": (lambda: Sliding("1s", "1s"), lambda: Sliding("2s", "1s")),
    "Sliding.advance": (lambda: Sliding("1s", "1s"), lambda: Sliding("1s", "2s")),
    "Session.gap": (lambda: Session("1s"), lambda: Session("2s")),
    "CountWindow.count": (lambda: CountWindow(1), lambda: CountWindow(2)),
    "CountWindow.slide": (lambda: CountWindow(1), lambda: CountWindow(1, 2)),
}


@pytest.mark.parametrize(
    "function",
    [Equal, Band, Within, SameWindow, Tumbling, Sliding, Session, CountWindow],
    ids=lambda found: str(found.__name__),
)
def test_every_parameter_of_a_condition_and_a_form_shows(function: Any) -> None:
    for name in parameters_of(function):
        before, after = (make() for make in CONDITIONS[f"{function.__name__}.{name}"])
        if hasattr(before, "arguments"):
            assert before.arguments != after.arguments
        else:
            assert _condition(before) != _condition(after)


def _condition(condition: Any) -> Any:
    bolt = JoinBolt("left", "right", condition & Within("9h"), list("abcdef"))
    facts = facts_of(bolt)
    return plain(facts["on"])


# -- bolts

BOLTS: Mapping[str, str] = {
    "WindowedBolt": "the length of a windowed bolt",
    "OPlus.windows": "the kind of windows by key",
    "OPlus.inputs": "the number of inputs of windows",
    "APlus.aggregate": "one aggregate for another",
    "WindowStep.inputs": "the fields of windows exchanged",
    "WindowStep.width": "the width of windows",
    "WindowStep.fields": "how many fields windows have",
    "WindowStep.aggregate": "aggregates of windows as YAML has them",
    "AggregateWindow.bounds": "the bounds of windows",
    "AggregateWindow.inputs": "the fields of windows exchanged",
    "AggregateWindow.width": "the width of windows",
    "AggregateWindow.fields": "how many fields windows have",
    "ReduceWindow.function": "the reducer of windows",
    "ReduceWindow.inputs": "the fields of windows exchanged",
    "ReduceWindow.width": "the width of windows",
    "ProcessWindow.function": "the function of windows",
    "ProcessWindow.inputs": "the fields of windows exchanged",
    "ProcessWindow.width": "the width of windows",
    "ProcessWindow.fields": "how many fields windows have",
    "JPlus.on": "the condition of a J+",
    "JPlus.fields": "how many fields a J+ has",
    "JPlus.pairs_at": "the place of pairs",
    "JPlus.inputs": "the number of inputs of windows",
    "JPlus.windows": "the kind of windows by key",
    "JoinBolt.left": "the sides of a join",
    "JoinBolt.right": "the sides of a join",
    "JoinBolt.on": "the time of a join",
    "JoinBolt.fields": "how many fields a join has",
    "JoinBolt.keys": "the keys of a join",
    "Step.fields": "how many fields a count has",
    "FunctionBolt.function": "a function without state",
    "FunctionBolt.fields": "how many fields a count has",
    "Select.indexes": "a step without state",
    "Select.fields": "how many fields a count has",
    "Branch.functions": "the functions of branches",
    "Branch.fields": "how many fields a count has",
    "CountByKey.fields": "how many fields a count has",
    "Fold.width": "the width of a key",
    "Fold.fields": "how many fields a count has",
    "Fold.function": "the function of an aggregate by key",
    "Fold.make": "what makes the state of an aggregate by key",
    "Fold.result": "the result of an aggregate by key",
    "ReduceByKey.function": "a reducer",
    "ReduceByKey.width": "the width of a key",
    "ReduceByKey.fields": "how many fields a count has",
    "AggregateByKey.function": "the function of an aggregate by key",
    "AggregateByKey.width": "the width of a key",
    "AggregateByKey.fields": "how many fields a count has",
    "AggregateByKey.initial": "the initial state of an aggregate by key",
    "AggregateByKey.make": "what makes the state of an aggregate by key",
    "AggregateByKey.result": "the result of an aggregate by key",
    "BatchingBolt.ticks_between_batches": "the ticks between batches",
}
"""By class and parameter, or attribute, the case of `test_compared` that changes it."""
NO_PARAMETERS = {"args", "kwargs", "form", "lengths", "options"}
"""Parameters that stand for others, which are named elsewhere."""
OF_A_RUN = {
    "ProgramBolt": "programs are known by their command",
    "MergeBolt": "the planner adds it",
    "Nothing": "a stand-in of the profiler",
    "AsColumns": "a stand-in of the profiler",
    "Holding": "a stand-in of tests",
}
"""Bolts that no topology declares."""


ALWAYS = {"outputs", "config", "par", "derives_keys", "keeps_columns"}
"""Attributes of every bolt that may differ."""


class TestParameters:
    def test_every_parameter_of_a_bolt_has_a_case(self) -> None:
        for cls in derived(Component):
            if cls.__name__ in OF_A_RUN or kind_of(cls) is None:
                continue
            given = parameters_of(cls.__init__) if "__init__" in vars(cls) else []
            declared = [name for name in attributes_of(cls) if name in vars(cls)]
            for name in [*given, *declared]:
                if name not in MAY_DIFFER and name not in NO_PARAMETERS:
                    case = BOLTS.get(f"{cls.__name__}.{name}")
                    told = "compare it in a case of test_compared, or say why it may differ"
                    assert case in REFUSED or case in TOLD, f"{cls.__name__}.{name}: {told}"

    def test_what_may_differ_is_known_by_its_class(self) -> None:
        """A new class with an argument of that name is no exception without a word."""
        found = {}
        for cls in derived(Component):
            if cls.__name__ not in OF_A_RUN and kind_of(cls) is not None:
                given = parameters_of(cls.__init__) if "__init__" in vars(cls) else []
                names = {*given, *(name for name in attributes_of(cls) if name in vars(cls))}
                if exempt := sorted(names & MAY_DIFFER.keys() - ALWAYS):
                    found[cls.__name__] = exempt
        assert found == {
            "AggregateWindow": ["aggregates"],
            "JPlus": ["advance", "size"],
            "JoinBolt": ["how", "index", "scan"],
            "OPlus": ["advance", "gap", "offset", "size", "zone"],
            "TicklessBatchingBolt": ["secs_between_batches"],
            "WindowStep": ["advance", "count", "gap", "offset", "size", "slide", "zone"],
        }

    def test_what_may_differ_exists(self) -> None:
        """No reason outlives its parameter."""
        known = set()
        for cls in derived(Component):
            known |= {*attributes_of(cls), *parameters_of(cls.__init__)}
        assert set(MAY_DIFFER) <= known

    def test_every_constructor_notes_what_it_is_given(self) -> None:
        for cls in derived(Component):
            if "__init__" in vars(cls):
                assert hasattr(cls.__init__, "__wrapped__"), cls
        assert Recipe._given == {}

    def test_a_new_parameter_is_in_the_fingerprint(self) -> None:
        """Also one that this test does not name: it takes the place of what somebody adds."""

        def built(number: int) -> TopologyBuilder:
            class Added(OPlus):
                outputs: ClassVar[list[str]] = ["x"]
                size = "1h"

                def __init__(self, added: int) -> None:
                    super().__init__()

            Added.__module__ = "framework.operators.components.added"
            Added.__init_subclass__()
            Recipe.__dict__["__init_subclass__"].__get__(None, Added)()
            return behind(Added(number))

        checkpoint = checkpoint_of(built(1))
        assert changes(checkpoint, built(1)) == []
        with pytest.raises(CheckpointError, match="bolt added was 1: found 2"):
            changes(checkpoint, built(2))

    def test_every_parameter_of_a_table_shows(self) -> None:
        changed: dict[str, dict[str, Any]] = {
            "columns": {"columns": {"b": "int64"}},
            "key": {"key": "text"},
            "default": {"default": {"a": 1}},
            "name": {"name": "other"},
        }
        taken = {"rows", "elements", "load", "save"}
        assert {*changed, *taken} == {*parameters_of(SharedTable.__init__)}
        before = _tables(name="t", columns={"a": "int64"}, rows=9)
        for name, given in changed.items():
            after = _tables(**{"name": "t", "columns": {"a": "int64"}, "rows": 9, **given})
            assert before != after, name
        room = {"rows": 99, "load": "a.csv", "save": "b.csv"}
        assert before == _tables(**{"name": "t", "columns": {"a": "int64"}, **room})


def _tables(**options: Any) -> Any:
    cls = type("Moving", (Bolt,), {"outputs": ["x"], "tables": [SharedTable(options.pop("name"), **options)]})
    return fingerprints_of(*plan_of(behind(cls)))["tables"]


# -- configuration

ALL_KEYS: Mapping[str, tuple[Any, Any]] = {
    "topology.tick.tuple.freq.secs": (1, 2),
    "topology.bolts.late.tuple.stream": ("a", "b"),
    "viper.on.error": ("skip", "restart"),
    "viper.timestamp.field": ("number", "key"),
    "viper.timestamp.unit": ("s", "ms"),
    "viper.timestamp.late": ("drop", "admit"),
    "viper.join.how": ("inner", "left"),
    "viper.time": ("event", "logical"),
    "viper.values": ("python", "json"),
    "viper.grouping.hash": ("stable", "storm"),
    "topology.multilang.serializer": (None, "json"),
    "topology.bolts.window.length.count": (1, 2),
    "topology.bolts.window.length.duration.ms": (1, 2),
    "topology.bolts.window.sliding.interval.count": (1, 2),
    "topology.bolts.window.sliding.interval.duration.ms": (1, 2),
    "viper.window.session.gap.ms": (1, 2),
    "viper.window.offset.ms": (0, 1),
    "viper.window.zone": (None, "UTC"),
    "viper.window.length.months": (1, 2),
    "viper.window.sliding.interval.months": (1, 2),
    "viper.window.allowed.lateness.ms": (0, 1),
    "viper.window.partial": (False, True),
    "topology.bolts.tuple.timestamp.field.name": ("a", "b"),
}
"""Two values of each key that is compared."""


class TestKeys:
    def test_each_key_is_compared_or_may_differ_with_a_reason(self) -> None:
        told = [
            *WINDOWS,
            *OF_COMPONENTS,
            *OF_JOINS,
            *OF_ALL,
            *COMPARED_ELSEWHERE,
            *(key for keys in KEYS_THAT_MAY_DIFFER.values() for key in keys),
        ]
        assert sorted(told) == sorted(KEYS)

    @pytest.mark.parametrize("key", [*WINDOWS, *OF_COMPONENTS, *OF_JOINS, *OF_ALL])
    def test_each_key_that_is_compared_shows(self, key: str) -> None:
        from framework.model.topology import Role
        from framework.planning.traits import Traits
        from framework.runtime.durability.checkpoints import fingerprints as module

        found = []
        for value in ALL_KEYS[key]:
            conf = {key: value}
            if key in WINDOWS:
                found.append(module._of_windows(conf))
            elif key in OF_COMPONENTS:
                roles = [Role.SPOUT] if key.startswith("viper.timestamp.") else [Role.BOLT]
                specs = [c for c in plan_of(behind(CollectingSink))[0].declared if c.role in roles]
                found.append([module._of_conf(c, conf, Traits(hears_ticks=True)) for c in specs])
            elif key in OF_JOINS:
                found.append({meaning: conf[key] for key, meaning in OF_JOINS.items()})
            else:
                found.append({OF_ALL[key]: conf[key]})
        assert found[0] != found[1]

    @pytest.mark.parametrize(
        ("key", "refused"),
        [
            ("viper.timestamp.field", True),
            ("viper.timestamp.unit", True),
            ("viper.timestamp.late", False),
        ],
    )
    def test_the_time_of_a_source(self, key: str, refused: bool) -> None:
        before, after = (
            fingerprints_of(*plan_of(behind(CollectingSink, of_spout={key: value})))
            for value in ALL_KEYS[key]
        )
        (difference,) = differences(before, after)
        assert difference.refused is refused

    def test_spans(self) -> None:
        found = [span(ms) for ms in (0, 0.001, 1, 1000, 90_000, 3_600_000, 86_400_000)]
        assert found == ["0us", "1us", "1ms", "1s", "90s", "1h", "1d"]


# -- sources

READ: Mapping[str, Mapping[str, Any]] = {
    "path": {"path": "other.csv"},
    "fields": {"fields": ["at", "n"]},
    "columns": {"columns": ["at"]},
    "types": {"types": {"n": "int64"}},
    "typed": {"typed": True, "types": {"at": "int64", "n": "int64"}},
    "delimiter": {"delimiter": ";"},
    "quote": {"quote": "'"},
    "encoding": {"encoding": "latin-1"},
    "timestamp": {"timestamp": "at", "unit": "ms"},
    "unit": {"timestamp": "at", "unit": "us"},
    "timestamp_format": {"timestamp": "at", "timestamp_format": "%Y"},
    "in_turn": {"in_turn": True},
    "follow": {"follow": True},
    "on_malformed": {"on_malformed": "skip"},
    "defaults": {"defaults": {"n": 1}},
    "field": {"field": "text"},
}
"""By parameter of a source what is given to the second of two."""
SOURCES_MAY_DIFFER = {
    "field_limit": "where a malformed row ends the run it only says how far that comes; others compare it",
    "end_marker": "it says when a source that grows ends, not what rows it has",
    "options": "those of the base class",
}


def test_every_parameter_of_a_source_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("a", "other"):
        Path(f"{name}.csv").write_text("at,n\n1,2\n")
        Path(f"{name}.jsonl").write_text('{"at": 1, "n": 2}\n')
        parquet.write_table(pyarrow.table({"at": [1], "n": [2]}), f"{name}.parquet")
    given: dict[type[FileSource], dict[str, Any]] = {
        CsvSource: {"path": "a.csv"},
        TextSource: {"path": "a.csv"},
        JsonLinesSource: {"path": "a.jsonl", "fields": ["at", "n"]},
        ParquetSource: {"path": "a.parquet"},
    }
    left = {*READ}
    for cls, beginning in given.items():
        names = {*parameters_of(cls.__init__)}
        if "options" in names:
            names |= {*parameters_of(FileSource.__init__)}
        for name in sorted(names - SOURCES_MAY_DIFFER.keys()):
            first, second = beginning, {**beginning, **READ[name]}
            if name == "path":
                second["path"] = f"other{Path(first['path']).suffix}"
            if name in ("unit", "timestamp_format"):
                first = {**first, "timestamp": "at", "unit": "ms"}
            if cls is JsonLinesSource and name == "fields":
                second["fields"] = ["n", "at"]
            if cls is CsvSource and name == "fields":
                second["fields"] = ["n", "at"]
            if cls is ParquetSource:
                second.pop("types", None)
            if cls is ParquetSource and name in ("follow", "timestamp_format"):
                continue  # a Parquet file does not grow, and has times, no texts
            assert _source(cls, first) != _source(cls, second), f"{cls.__name__}.{name}"
            left.discard(name)
    assert not left, "parameters that no source has"


def _source(cls: type[FileSource], given: dict[str, Any]) -> tuple[str, Any]:
    made = cls(**given)
    return made.identity, made.partitions


# -- from end to end

FILE = '''
from viperstorm import APlus, Stream, StreamBuilder, Spout
from viperstorm.aggregates import Aggregates, Sum, Count
import dataclasses, enum, typing
LIMIT = 5
class Kind(enum.Flag):
    A = 1
    B = 2
class Pair(typing.NamedTuple):
    one: int = 1
@dataclasses.dataclass
class Part:
    names: frozenset = dataclasses.field(default_factory=frozenset)
    kind: Kind = Kind.A | Kind.B
    pair: Pair = Pair()
class Lines(Spout):
    outputs = ["a", "b"]
    def tuples(self):
        yield ["x", 1]
def helper(value):
    return {"x", "y", "z", value, str(Part())}
def longer(one, other):
    """Its words do not matter."""
    return max(one, other, LIMIT, len(helper(one)))
builder = StreamBuilder()
lines = builder.new_stream(Lines)
lines.key_by("a").reduce_by_key(longer)
lines.key_by("a").aggregate_by_key(0, lambda so_far, value: so_far + len({"p", "q", "r"}))
topology = builder.build("built")
'''
SCRIPT = '''
import json, sys
from framework.frontends.loading import load
from framework.model.config import resolve
from framework.planning import make_plan
from framework.runtime.durability.checkpoints.fingerprints import fingerprints_of
topology = load(sys.argv[1]).topology
settings, _ = resolve(topology)
print(json.dumps(fingerprints_of(make_plan(topology, settings), settings), sort_keys=True))
'''


def test_they_are_the_same_in_every_process_and_file(tmp_path: Path) -> None:
    """They depend neither on hashes nor on the name of the file; comments do not matter, code does."""
    files = {
        "one.py": FILE,
        "other_name.py": FILE.replace("It says", "It").replace("LIMIT = 5\n", "\n# a comment\n\nLIMIT = 5\n"),
        "helper.py": FILE.replace('"z", value', '"zz", value'),
        "constant.py": FILE.replace("LIMIT = 5", "LIMIT = 6"),
    }
    found = []
    for number, (name, text) in enumerate(files.items()):
        (tmp_path / name).write_text(text)
        environment = {**os.environ, "PYTHONHASHSEED": str(number + 1)}
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / name)]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stderr
        found.append(json.loads(ran.stdout))
    assert found[0] == found[1]
    for other in found[2:]:
        told = [one.told for one in differences(found[0], other)]
        assert [one for one in told if "the code of the function longer has changed" in one], told
        assert not [one for one in differences(found[0], other) if one.refused]


def totals(bolt: type[APlus], spout: Partitions, folder: Path) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("totals", bolt).fields_grouping("source", "key")
    table = SqliteSink(str(folder / "rows.db"), "rows", ["key", "total", "n"])
    builder.set_bolt("table", table).global_grouping("totals")
    builder.set_bolt("rows", CollectingSink).global_grouping("totals")
    return builder


class Totals(APlus):
    outputs = ["key", "total", "n"]
    size, advance = 100, 10
    aggregate = Aggregates(total=Sum("number"), n=Count())


class Exchanged(Totals):
    aggregate = Aggregates(n=Count(), total=Sum("number"))


class Mended(Totals):
    def slide(self, window: Any) -> Any:
        return super().slide(window)


def test_exchanged_aggregates_are_refused_before_anything_is_applied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = run_built(totals(Totals, Partitions(4, 200, 1), tmp_path)).result("rows")
    os.remove(tmp_path / "rows.db")
    shutil.rmtree(tmp_path / "viperstorm-staging", ignore_errors=True)
    spout = Suspending(4, 200, 1, os.getpid(), 100)
    first = run_suspended(totals(Totals, spout, tmp_path), tmp_path / "kept")
    before = _rows(tmp_path)
    with pytest.raises(CheckpointError, match=r"'totals': aggregate order was \['total', 'n'\]: found \['n"):
        run_built(totals(Exchanged, Partitions(4, 200, 1), tmp_path), {"start": tmp_path / "kept"})
    assert _rows(tmp_path) == before
    second = run_built(totals(Mended, Partitions(4, 200, 1), tmp_path), {"start": tmp_path / "kept"})
    assert [*first.result("rows"), *second.result("rows")] == [*whole]
    change = "'totals': the class was Totals: found Mended"
    assert change in second.changes
    assert f"  not as in the checkpoint: {change}" in [*summary_lines(second)]
    assert [record.getMessage() for record in caplog.records if change in record.getMessage()]


def _rows(folder: Path) -> list[Any]:
    if not (folder / "rows.db").exists():
        return []
    database = sqlite3.connect(folder / "rows.db")
    found = database.execute("select name from sqlite_master where name = 'rows'").fetchall()
    rows = database.execute("select * from rows").fetchall() if found else []
    database.close()
    return rows


STREAMS: Mapping[str, tuple[Callable[[KeyedStream], Any], Callable[[KeyedStream], Any], str]] = {
    "an aggregate of windows": (
        lambda stream: stream.window(Tumbling("10s")).aggregate(Sum("number"), name="x"),
        lambda stream: stream.window(Tumbling("10s")).aggregate(Max("number"), name="x"),
        r"'x': aggregate of windows was Sum\(field='number'\): found Max\(field='number'\)",
    ),
    "the form of windows": (
        lambda stream: stream.window(Sliding("10s", "1s")).count(name="x"),
        lambda stream: stream.window(Sliding("10s", "2s")).count(name="x"),
        "'x': windows interval was '1s': found '2s'",
    ),
    "sessions for windows": (
        lambda stream: stream.window(Tumbling("10s")).count(name="x"),
        lambda stream: stream.window(Session("10s")).count(name="x"),
        "'x': windows length was '10s': found None",
    ),
    "windows by count": (
        lambda stream: stream.window(CountWindow(10)).collect(name="x"),
        lambda stream: stream.window(CountWindow(10, 5)).collect(name="x"),
        "'x': windows interval was '10 tuples': found '5 tuples'",
    ),
    "a reducer": (
        lambda stream: stream.reduce_by_key(add, name="x"),
        lambda stream: stream.reduce_by_key(greater, name="x"),
        "'x': bolt function was the function add: found the function greater",
    ),
}
"""By name two ways to continue with a stream by key, and what the second one is refused with."""


@pytest.mark.parametrize("name", STREAMS)
def test_the_streams_api(name: str) -> None:
    before, after, message = STREAMS[name]

    def built(step: Callable[[KeyedStream], Any]) -> Any:
        builder = StreamBuilder()
        step(builder.new_stream(Partitions).key_by("key"))
        return builder

    checkpoint = checkpoint_of(built(before))
    assert changes(checkpoint, built(before)) == []
    with pytest.raises(CheckpointError, match=message):
        changes(checkpoint, built(after))


YAML = """
name: "written"
spouts:
  - {id: "source", className: "tests.framework.runtime.partitioned.Partitions"}
  - {id: "second", className: "tests.framework.runtime.partitioned.Partitions"}
bolts:
  - id: "totals"
    className: "viperstorm.streams.AggregateWindow"
    constructorArgs:
        aggregates: {total: [sum, number], n: [count]}
        inputs: ["key", "number"]
        size: "60s"
        advance: "10s"
  - id: "windows"
    className: "tests.framework.runtime.durability.checkpoints.test_compared.Windows"
    configMethods:
      - {name: "withTumblingWindow", args: [{ref: "length"}]}
  - id: "joined"
    className: "viperstorm.JoinBolt"
    constructorArgs:
        left: "source"
        right: "second"
        "on": {equal: key, within: 5m}
        fields: [a, b, c, d, e, f]
  - id: "batches"
    className: "tests.framework.runtime.durability.checkpoints.test_compared.Batches"
    config: {topology.tick.tuple.freq.secs: 1}
    properties: [{name: "ticks_between_batches", value: 3}]
components:
  - id: "length"
    className: "org.apache.storm.topology.base.BaseWindowedBolt$Count"
    constructorArgs: [10]
streams:
  - {from: "source", to: "totals", grouping: {type: FIELDS, args: ["key"]}}
  - {from: "source", to: "windows", grouping: {type: FIELDS, args: ["key"]}}
  - {from: "source", to: "joined", grouping: {type: FIELDS, args: ["key"]}}
  - {from: "second", to: "joined", grouping: {type: FIELDS, args: ["key"]}}
  - {from: "source", to: "batches", grouping: {type: SHUFFLE}}
config: {viper.recovery: exact}
"""


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[sum, number]", "[max, number]", r"'totals': aggregate total was Sum\(field='number'\): found Max"),
        ("n: [count]", "m: [count]", "'totals': aggregate order was .*: found .*'m'"),
        ('size: "60s"', 'size: "30s"', "'totals': windows length was '1m': found '30s'"),
        ('size: "60s"', 'size: "1m"', ""),
        ("constructorArgs: [10]", "constructorArgs: [20]", "'windows': windows length was '10 tuples'"),
        ("within: 5m", "within: 6m", "'joined': join on times was .'from 5m before to 5m after'.: found"),
        ("within: 5m", "within: 300s", ""),
        ("value: 3", "value: 4", "'batches': bolt ticks_between_batches was 3: found 4"),
    ],
)
def test_yaml(before: str, after: str, message: str, tmp_path: Path) -> None:
    def built(text: str) -> Any:
        file = tmp_path / "written.yaml"
        file.write_text(text)
        loaded = load(str(file))
        assert not [problem for problem in loaded.problems if "error" in str(problem)], loaded.problems
        return type("Built", (), {"build": lambda self, name: loaded.topology})()

    assert before in YAML
    checkpoint = checkpoint_of(built(YAML))
    if not message:
        assert changes(checkpoint, built(YAML.replace(before, after))) == []
        return
    with pytest.raises(CheckpointError, match=message):
        changes(checkpoint, built(YAML.replace(before, after)))


def as_version_2(checkpoint: Path) -> None:
    """Write a manifest as the version before has written it."""
    head, _, body = (checkpoint / MANIFEST).read_bytes().partition(b"\n")
    assert head.split()[1] == b"3"
    told = json.loads(body)
    del told["content"]["fingerprints"]
    body = json.dumps(told).encode()
    (checkpoint / MANIFEST).write_bytes(b"%s 2 %08x\n%s" % (head.split()[0], zlib.crc32(body), body))


class Seen(Bolt):
    outputs = ["told"]
    seen = ValueState("int64", default=0)

    def process(self, tup: Any) -> None:
        self.emit([(tup.values.key, self.seen.add(1))])


def seen(spout: Partitions) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("seen", Seen).fields_grouping("source", "key")
    builder.set_bolt("rows", CollectingSink).global_grouping("seen")
    return builder


def test_a_checkpoint_of_the_version_before_goes_on_with_a_word(tmp_path: Path) -> None:
    whole = run_built(seen(Partitions(4, 200, 1))).result("rows")
    first = run_suspended(seen(Suspending(4, 200, 1, os.getpid(), 100)), tmp_path)
    assert first.checkpoint is not None
    as_version_2(Path(first.checkpoint.path))
    second = run_built(seen(Partitions(4, 200, 1)), {"start": tmp_path})
    assert [*first.result("rows"), *second.result("rows")] == [*whole]
    assert [change[:40] for change in second.changes] == ["it is in version 2 of the format, so def"]


def test_windows_of_the_version_before_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    spout = Suspending(4, 200, 1, os.getpid(), 100)
    first = run_suspended(totals(Totals, spout, tmp_path), tmp_path / "kept")
    assert first.checkpoint is not None
    as_version_2(Path(first.checkpoint.path))
    with pytest.raises(CheckpointError, match=r"totals.window_state is a key window, and version 2 of the"):
        run_built(totals(Totals, Partitions(4, 200, 1), tmp_path), {"start": tmp_path / "kept"})


def test_the_name_of_the_topology_is_told() -> None:
    checkpoint = checkpoint_of(behind(CollectingSink))
    checkpoint.content["fingerprints"]["topology"]["name"] = "other"
    assert changes(checkpoint, behind(CollectingSink)) == ["the topology name was 'other': found 'tested'"]


# -- values


def test_values_are_plain() -> None:
    import datetime
    import decimal
    import enum
    import re

    class Colour(enum.Enum):
        RED = 1

    values = [
        None, True, 1, 1.5, float("nan"), "a", b"a", (1, [2]), {"b": 1, "a": {3, 1, 2}}, {1: 2}, Tuples(3),
        Colour.RED, datetime.timedelta(hours=1), decimal.Decimal("1.0"), re.compile("x"), Path("x"), int,
        range(3), len, str.split, add, Equal("x") & Within("1h"), object(), frozenset("abc"),
    ]  # fmt: skip
    once = [plain(value) for value in values]
    assert json.loads(json.dumps(once)) == once == [plain(value) for value in values]
    assert len({json.dumps(one, sort_keys=True) for one in once}) == len(values)


def test_what_holds_itself_ends() -> None:
    held: list[Any] = []
    held.append(held)
    assert plain(held) == ["itself"]

    def counted(number: int) -> int:
        return counted(number - 1) if number else 0

    assert digest_of(counted) == digest_of(counted)


class Hostile:
    """Raises whatever one asks it for."""

    def __repr__(self) -> str:
        raise ValueError("no text")

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise ValueError("no attributes")


class Obliging:
    """Has whatever one asks it for."""

    def __getattr__(self, name: str) -> Any:
        return Obliging()


def test_values_that_cannot_be_looked_at_do_not_end_the_run() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    lock = threading.Lock()
    for value in (Hostile(), Obliging(), deep, lock, iter([]), mock.MagicMock(), logging.getLogger("x")):
        assert json.dumps(plain(value)) == json.dumps(plain(value))
        assert digest_of(value) == digest_of(value)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        (lambda x: x + 1, lambda x: x + 1, True),
        (lambda x: x + 1, lambda x: x + 2, False),
        (lambda x: x + 1, lambda x: x - 1, False),
        (lambda x: x.a, lambda x: x.b, False),
        (lambda x, y=1: x, lambda x, y=2: x, False),
        (lambda x: x in {"a", "b"}, lambda x: x in {"b", "a"}, True),
        (lambda x: add(x, 1), lambda x: greater(x, 1), False),
        (lambda x: [y for y in x if y > 1], lambda x: [y for y in x if y > 2], False),
        (lambda x: gzip.decompress(x), lambda x: gzip.compress(x), False),
    ],
)
def test_digests_are_those_of_what_runs(first: Any, second: Any, same: bool) -> None:
    assert (digest_of(first) == digest_of(second)) is same


# -- the documents

TABLE = REPOSITORY / "docs" / "checkpoints.md"


def test_the_table_names_tests_that_exist_and_every_case() -> None:
    """Each row of the table in the documents names what shows it, and nothing that is shown is left out."""
    section = TABLE.read_text().split("## Compared parts of a program\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ") and line.endswith("` |")]
    named = [name.strip().strip("`") for row in rows for name in row.split("|")[-2].split(";")]
    cases = {*REFUSED, *TOLD, *TAKEN}
    assert len(rows) > 30
    for name in named:
        if "::" in name:
            file, *classes, function = name.split("::")
            text = (REPOSITORY / file if "/" in file else Path(__file__).with_name(file)).read_text()
            assert f"def {function}(" in text and all(f"class {one}" in text for one in classes), name
        else:
            assert name in cases, name
    assert cases <= {*named}, cases - {*named}

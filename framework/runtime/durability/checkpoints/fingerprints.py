"""The meaning of what a run remembers, as its checkpoints say it: of each window, aggregate, join and state.

A component remembers numbers and tuples, which say nothing of how they came about. So a manifest has,
beside them, what each component was: by thing (``windows``, ``aggregate``, ``join``, ``state seen`` and so
on) the parameters of that thing, read off the framework's constructors, attributes and configuration keys. A
new parameter is among them without being named here; one that may differ has a reason in a table below.

Everything that only users' code knows is there as digests: arguments of their own constructors, their own
configuration keys, and their code. So no password comes into a manifest.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from framework.common.prints import prints_to_stderr
from framework.model.config import Settings
from framework.model.config.keys import KEYS
from framework.model.config.storm_keys import STORM_DEFAULTS, STORM_WITHOUT_EFFECT
from framework.model.importing import import_class, import_object
from framework.model.instantiate import Beans
from framework.model.specs import given_to
from framework.model.tables import SharedTable
from framework.model.topology import (
    ComponentSpec,
    ObjectDef,
    PythonImplementation,
    Ref,
    RefList,
    Role,
    Topology,
)
from framework.operators import components
from framework.operators.components import Component
from framework.operators.sinks import Sink
from framework.operators.state import State, declared_states
from framework.operators.windows.joins import Condition, as_condition
from framework.operators.windows.joins.conditions import Bounds
from framework.operators.windows.spec import (
    GAP_MS,
    JOIN_HOW,
    LATE_STREAM,
    LATENESS_MS,
    LENGTH_COUNT,
    LENGTH_MONTHS,
    LENGTH_MS,
    OFFSET_MS,
    PARTIAL,
    SLIDE_COUNT,
    SLIDE_MONTHS,
    SLIDE_MS,
    TIME_FIELD,
    ZONE,
    WindowSpec,
)
from framework.operators.windows.zones import Zone
from framework.planning import Plan
from framework.planning.traits import Traits, class_of
from framework.recording.tap import is_tap
from framework.runtime.durability.checkpoints.meaning import PYTHON, Plain, digest_of, is_ours, name_of, plain
from framework.version import VERSION

Fingerprints = Mapping[str, Any]
"""The parameters that are compared, as JSON can hold them."""
ORDER: Final = "order of components"
"""The key of all ids in order of definition, by which ties of tuples of one time are broken."""

MAY_DIFFER: Final[Mapping[str, str]] = {
    "par": "the number of tasks is what a run is free to choose",
    "config": "configuration is compared as it was resolved",
    "outputs": "the fields of a stream are compared where it is taken",
    "exit_on_exception": "what follows an exception is no part of what is remembered",
    "auto_anchor": "acks are answered within one run",
    "auto_ack": "acks are answered within one run",
    "auto_fail": "acks are answered within one run",
    "state_key": "the key of a state is compared by its fields, wherever these are named",
    "tables": "shared tables are compared by their names",
    "keeps_columns": "columns are copied or not, and hold the same",
    "derives_keys": "it follows from the class's methods, which are code",
    "topology_name": "the run sets it",
    "task_id": "the run sets it",
    "component_name": "the run sets it",
    "debug": "the run sets it",
    "storm_conf": "the run sets it",
    "context": "the run sets it",
    "input_stream": "pystorm's, without effect",
    "output_stream": "pystorm's, without effect",
    "rdb_signal": "pystorm's, without effect",
    "serializer": "pystorm's, without effect",
    "size": "the windows' configuration has it",
    "advance": "the windows' configuration has it",
    "offset": "the windows' configuration has it",
    "zone": "the windows' configuration has it",
    "gap": "the windows' configuration has it",
    "count": "the windows' configuration has it",
    "slide": "the windows' configuration has it",
    "aggregates": "the aggregate that is made of them is compared",
    "how": "the join's configuration has it",
    "index": "how partners are found does not change which are found",
    "scan": "how partners are found does not change which are found",
    "secs_between_batches": "a bolt with a timer is in no checkpoint",
}
"""Arguments and attributes of the framework's bolts that are not compared, each with the reason."""

_TOLD_AS_CODE: Final = ("exit_on_exception", "auto_anchor", "auto_ack", "auto_fail")
"""Attributes whose differences are reported, as they may show in rows and are in no configuration."""
_OF_JOINS: Final = ("left", "right", "on", "keys", "pairs_at")
"""Arguments and attributes that say how streams are joined."""
_FUNCTIONS: Final = ("function", "functions", "make", "result")
"""Arguments that are functions, or their dotted paths."""

WINDOWS: Final[Mapping[str, str]] = {
    LENGTH_COUNT: "length",
    LENGTH_MS: "length",
    LENGTH_MONTHS: "length",
    SLIDE_COUNT: "interval",
    SLIDE_MS: "interval",
    SLIDE_MONTHS: "interval",
    GAP_MS: "gap",
    OFFSET_MS: "offset",
    ZONE: "zone",
    LATENESS_MS: "allowed lateness",
    PARTIAL: "partial window",
    TIME_FIELD: "field of the time",
}
"""Configuration keys that form windows, and what messages call them."""
OF_JOINS: Final[Mapping[str, str]] = {JOIN_HOW: "how"}
"""Keys that say how streams are joined."""
OF_COMPONENTS: Final[Mapping[str, str]] = {
    "topology.tick.tuple.freq.secs": "seconds between ticks",
    LATE_STREAM: "stream of late tuples",
    "viper.on.error": "answer to an exception",
    "viper.timestamp.field": "field of the time",
    "viper.timestamp.unit": "unit of the time",
    "viper.timestamp.late": "answer to late tuples",
}
"""Other keys of one component that are compared."""
OF_ALL: Final[Mapping[str, str]] = {
    "viper.time": "time",
    "viper.values": "form of values (viper.values)",
    "viper.grouping.hash": "hash of keys (viper.grouping.hash)",
    "topology.multilang.serializer": "format of programs (topology.multilang.serializer)",
}
"""Keys of the whole topology that are compared."""
COMPARED_ELSEWHERE: Final = (
    *("viper.key.groups", "viper.state.key", "viper.tables", "topology.name", "viper.timestamp.slack"),
)
"""Keys that are compared with what they are about."""
KEYS_THAT_MAY_DIFFER: Final[Mapping[str, Sequence[str]]] = {
    "where and how fast tasks run shows in no output": (
        *("viper.worker", "viper.tasks", "viper.placement", "viper.isolated", "viper.blocking"),
        "viper.async.in_flight",
        *("viper.scheduling", "viper.seed", "viper.chains", "viper.merge.layer", "viper.slice.tuples"),
        "viper.worker.threads",
        *("viper.standby.workers", "viper.jumbo.size", "viper.columns.rows", "viper.jumbo.linger.ms"),
        *("viper.channel.jumbos", "viper.channel.tuples", "viper.channel.bytes", "viper.parallelism.max"),
        *("viper.controller", "viper.controller.period.secs", "viper.poll.pause.max.ms", "viper.input"),
        *("viper.keys", "viper.transactions.evaluator", "viper.transactions.threads", "topology.workers"),
        *("viper.transactions.gather", "viper.rebalance.interval.secs", "topology.tasks"),
        *("topology.max.task.parallelism", "viper.shuffle.run", "viper.sharing"),
    ),
    "it bounds memory": (
        *("viper.state.bytes", "viper.transactions.bytes", "viper.window.rows", "viper.window.bytes"),
        *("viper.tracked.max", "topology.max.spout.pending"),
    ),
    "it is of one run: how it ends, what it checks, what it tells, what it survives": (
        *("viper.drain.timeout.secs", "viper.checkpoint.keep", "viper.checkpoint.secs", "viper.order"),
        *("viper.checkpoint.timeout.secs", "viper.stuck.after.secs", "viper.worker.restart.tries"),
        *("viper.worker.restart.window.secs", "viper.recovery", "viper.restart.tries", "viper.mutates"),
        *("viper.restart.window.secs", "viper.ack.after", "viper.answers", "viper.emit.undeclared"),
        *("viper.stateless", "viper.spout.bounded", "topology.state.checkpoint.interval.ms"),
        *("topology.acker.executors", "topology.message.timeout.secs", "viper.sink.apply.rows"),
        "viper.sink.retry.secs",
        *("topology.enable.message.timeouts", "topology.subprocess.timeout.secs", "viper.sink.apply.secs"),
        *("topology.debug", "topology.error.throttle.interval.secs", "pystorm.log.path", "pystorm.log.file"),
        *("topology.max.error.report.per.interval", "pystorm.log.level", "pystorm.log.max_bytes"),
        *("pystorm.log.backup_count", "pystorm.log.format"),
    ),
    "Storm's, without effect": ("topology.bolts.tuple.timestamp.max.lag.ms",),
}
"""Keys that are not compared, by the reason."""
_IN_SPEC: Final = ("name", "durable", "per", "type", "types", "code", "key_code", "value")
"""Attributes of states that are compared by their `StateSpec`, or may differ: ``durable`` (docs/state.md)."""
_INTERNAL: Final = "viperstorm."
_GENERAL: Final = (Component, components.Bolt, components.BatchBolt, components.StatefulBolt)
"""Bases whose arguments and attributes say nothing of what is remembered."""
_UNITS: Final = (("d", 86400 * 10**6), ("h", 3600 * 10**6), ("m", 60 * 10**6), ("s", 10**6), ("ms", 1000))


def fingerprints_of(plan: Plan, settings: Settings) -> Fingerprints:
    """The meaning of all that the components of a plan remember.

    Args:
        plan: what is to run.
        settings: the configuration it was planned with.

    Raises:
        LoadError: a component cannot be made, so as to be asked for its windows, aggregates or joins.
    """
    found = [component for component in plan.declared if not is_tap(component.id)]
    told = {
        "python": PYTHON,
        "version": VERSION,
        "topology": {
            **{meaning: plain(settings.get(key)) for key, meaning in OF_ALL.items()},
            OF_ALL["viper.time"]: str(plan.time),
            "name": plan.topology.name,
            "key groups": settings["viper.key.groups"],
            ORDER: [component.id for component in found],
        },
        "tables": {
            table.table_name: _of_table(table) for group in plan.table_groups for table in group.tables
        },
        "components": {component.id: _of_component(component, plan) for component in found},
    }
    made: Fingerprints = json.loads(json.dumps(told))
    return made


def _of_component(component: ComponentSpec, plan: Plan) -> dict[str, Plain]:
    traits, conf = plan.traits[component.id], plan.confs[component.id]
    told: dict[str, Plain] = {
        "keeps": bool(traits.states or traits.tables),
        "streams": {stream.name: _of_stream(stream) for stream in component.outputs or ()},
        "configuration": _of_conf(component, conf, traits),
        "groupings": {
            f"{i.source}/{i.stream}": _of_object(i.grouping.definition, plan.topology)
            for i in component.inputs
            if i.grouping.definition is not None
        },
        "own configuration": {key: digest_of(value) for key, value in conf.items() if _is_users(key)},
    }
    if not isinstance(component.implementation, PythonImplementation):
        return {**told, "code": digest_of(plain(component.implementation)), "class": "a program"}
    definition, cls = component.implementation.definition, class_of(component)
    told |= {"code": digest_of(cls, _compared(cls)), "class": name_of(cls)}
    if not is_ours(cls.__module__) or component.role is Role.SPOUT or issubclass(cls, Sink):
        told["arguments"] = _arguments(definition, cls, plan.topology)
    return {**told, "things": dict(_things(cls, definition, plan, traits, conf))}


# -- the framework's own


def _things(
    cls: type, definition: ObjectDef, plan: Plan, traits: Traits, conf: Mapping[str, Any]
) -> Iterator[tuple[str, Plain]]:
    """The things in a bolt that remember anything, by name."""
    if traits.windowed:
        yield "windows", _of_windows(conf)
    for name, state in declared_states(cls).items():
        if any(spec.name == name for spec in traits.states):
            yield f"state {name}", _of_state(state)
    special = kind_of(cls)
    if special is None:
        return
    with prints_to_stderr():
        made = Beans(plan.topology.beans).make(definition)
    facts = facts_of(made)
    aggregate = facts.pop("aggregate", None)
    if aggregate is not None:
        yield "aggregate", _of_aggregate(aggregate)
    joins = {name: value for name, value in facts.items() if name in _OF_JOINS}
    if traits.joins:
        joins |= {meaning: conf[key] for key, meaning in OF_JOINS.items()}
    if joins:
        yield "join", plain(joins)
    others = {name: value for name, value in facts.items() if name not in _OF_JOINS}
    yield "bolt", {"kind": special.__name__, **plain(others)}


def kind_of(cls: type) -> type | None:
    """The class of the framework's that a bolt's class is or derives from, if that has a meaning of its own.

    None of spouts and sinks, and of bolts whose class only has what all bolts have.
    """
    if not issubclass(cls, components.Bolt) or issubclass(cls, Sink):
        return None
    found = next(base for base in cls.__mro__ if is_ours(base.__module__))
    return None if found in _GENERAL else found


def facts_of(made: Component) -> dict[str, Any]:
    """The arguments and attributes by which a bolt of the framework's is what it is, and its subclasses are.

    Args:
        made: a bolt as it comes from its constructor.
    """
    facts = given_to(made)
    for name in attributes_of(type(made)):
        if name not in MAY_DIFFER:
            value = getattr(made, name, None)
            given = facts.get(name)
            facts[name if given is None or given is value else f"{name} of the class"] = value
    return {name: _normal(name, value) for name, value in facts.items() if name not in MAY_DIFFER}


def attributes_of(cls: type) -> list[str]:
    """The public attributes that the framework's bases of a class declare, which are neither methods nor
    declared state."""
    found: dict[str, None] = {}
    for base in cls.__mro__:
        if is_ours(base.__module__):
            found |= dict.fromkeys(inspect.get_annotations(base))
            found |= {name: None for name, value in vars(base).items() if _is_attribute(value)}
    return sorted(name for name in found if not name.startswith("_"))


def _compared(cls: type) -> list[str]:
    """The attributes of a class that are compared by themselves, and so are no part of its code."""
    return [name for name in attributes_of(cls) if name not in _TOLD_AS_CODE]


def _is_attribute(value: object) -> bool:
    return not (callable(value) or isinstance(value, State) or hasattr(type(value), "__get__"))


def _normal(name: str, value: Any) -> Any:
    """A value in the form that any way of writing it has."""
    if name == "on":
        return _of_condition(as_condition(value))
    if name == "fields":  # their names are compared where the stream is taken
        return None if value is None else len(value)
    if name in ("left", "right"):
        return [value] if isinstance(value, str) else list(value)
    if name in _FUNCTIONS:
        many = value if isinstance(value, list | tuple) else [value]
        found = [import_object(one) if isinstance(one, str) else one for one in many]
        return found if isinstance(value, list | tuple) else found[0]
    return value


def _of_condition(condition: Condition) -> dict[str, Any]:
    """A condition in words, whichever way it was put together."""
    return {
        "fields": sorted(map(str, condition.pairs)),
        "times": sorted(map(_of_bounds, condition.bounds)),
        "functions": condition.functions,
    }


def _of_bounds(bounds: Bounds) -> str:
    if bounds.window is not None:
        return f"in one window of {_of_one_window(bounds.window)}"
    return f"from {span(bounds.before_us / 1000)} before to {span(bounds.after_us / 1000)} after"


def _of_one_window(window: WindowSpec) -> str:
    """The form of windows that tumble, in words."""
    months, length_us = window.length_months, window.length_us or 0
    told = span(length_us / 1000) if months is None else f"{months} months"
    told += f", {span(window.offset_us / 1000)} later" if window.offset_us else ""
    return told if window.zone is None else f"{told} in {_of_zone(window.zone)}"


def _of_zone(name: str) -> str:
    """A zone by what its clocks show, which another version of the time zone database may have changed."""
    return f"{name} (rules {Zone(name).rules} of the machine's tzdata)"


def _of_windows(conf: Mapping[str, Any]) -> dict[str, Plain]:
    """The form of windows: each length in one unit, however it was written."""
    told: dict[str, Plain] = {}
    slide_ms = conf.get(SLIDE_MS)
    for key, meaning in WINDOWS.items():
        value = conf.get(key)
        if key == OFFSET_MS and value and slide_ms is not None:
            value %= slide_ms  # windows that lie whole intervals later are the same
        if value is not None and key.endswith(".ms"):
            told[meaning] = span(value)
        elif value is not None and key.endswith((".count", ".months")):
            told[meaning] = f"{value} {'tuples' if key.endswith('.count') else 'months'}"
        elif value is not None and key == ZONE:
            told[meaning] = _of_zone(value)
        else:
            told.setdefault(meaning, value)
    return told


def span(milliseconds: float) -> str:
    """A duration as a text such as ``90m``, in the largest unit of which it is so many."""
    micros = round(milliseconds * 1000)
    for unit, size in _UNITS:
        if micros and micros % size == 0:
            return f"{micros // size}{unit}"
    return f"{micros}us"


def _of_aggregate(aggregate: Any) -> dict[str, Plain]:
    """Aggregates by the names of their results, in their order."""
    parts = getattr(aggregate, "parts", None)
    if not isinstance(parts, tuple):
        return {"order": None, "of windows": plain(aggregate)}
    return {"order": list(aggregate.names), **dict(zip(aggregate.names, map(plain, parts), strict=True))}


def _of_state(state: State) -> Plain:
    """The parameters of a state, beside those that `StateSpec` has."""
    told: dict[str, Plain] = plain(state)
    return {name: value for name, value in told.items() if name not in _IN_SPEC}


def _of_table(table: SharedTable) -> dict[str, Plain]:
    key = table.key_kinds[0] if table.is_single_key else list(table.key_kinds)
    columns = [[name, kind] for name, kind in table.column_kinds.items()]
    return {"key": key, "columns": columns, "default": plain(table.default_values)}


def _of_stream(stream: Any) -> dict[str, Plain]:
    types = None if stream.schema is None else stream.schema.named(stream.fields)
    return {"fields": list(stream.fields), "types": plain(types)}


def _of_conf(component: ComponentSpec, conf: Mapping[str, Any], traits: Traits) -> dict[str, Plain]:
    told = {}
    for key, meaning in OF_COMPONENTS.items():
        of_spouts = key.startswith("viper.timestamp.")
        if of_spouts is (component.role is Role.SPOUT) or key == "viper.on.error":
            told[meaning] = plain(conf.get(key))
    ticks = OF_COMPONENTS["topology.tick.tuple.freq.secs"]
    if ticks in told and not (traits.hears_ticks or traits.ported or not traits.is_class_known):
        del told[ticks]  # which it does not hear
    return told


# -- users' own


def _arguments(definition: ObjectDef, cls: type, topology: Topology) -> dict[str, str]:
    """By name a digest of each argument, property and call of a component's definition."""
    told: dict[str, Any] = {prop.name: prop.value for prop in definition.properties}
    told |= {f"{method.name}()": list(method.args) for method in definition.config_methods}
    if definition.factory is not None:
        told |= {f"{definition.factory}()": list(definition.factory_args)}
    else:
        told |= _bound(cls, definition)
    beans = plain(list(topology.beans))
    return {
        name: digest_of([plain(value), beans if _refers(value) else None]) for name, value in told.items()
    }


def _of_object(definition: ObjectDef, topology: Topology) -> str:
    """A digest of how an object is made, and of its class's code."""
    cls = definition.cls or import_class(definition.class_name)
    return digest_of([_arguments(definition, cls, topology), digest_of(cls)])


def _bound(cls: type, definition: ObjectDef) -> Mapping[str, Any]:
    """The arguments of a constructor by the names of its parameters."""
    numbered = {f"argument {number}": value for number, value in enumerate(definition.args, 1)}
    try:
        bound = inspect.signature(cls).bind(*definition.args, **definition.kwargs)
    except (TypeError, ValueError):  # it says nothing of its parameters, or its task will tell what is wrong
        return {**numbered, **definition.kwargs}
    return bound.arguments


def _refers(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_refers, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_refers, value))
    return isinstance(value, Ref | RefList)


def _is_users(key: str) -> bool:
    known = key in KEYS or key in STORM_WITHOUT_EFFECT or key in STORM_DEFAULTS
    return not (known or key.startswith(_INTERNAL))

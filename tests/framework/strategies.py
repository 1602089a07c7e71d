"""Hypothesis strategies for topologies as values.

They are well-formed where the type says so, and otherwise anything goes: sources that do not
exist, groupings by unknown fields, odd ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from framework.model.topology import (
    Bean,
    ComponentSpec,
    ConfigMethod,
    Grouping,
    GroupingKind,
    Implementation,
    Input,
    JavaImplementation,
    ObjectDef,
    Property,
    PythonImplementation,
    Ref,
    RefList,
    Role,
    ShellImplementation,
    Stream,
    Topology,
    declared_streams,
)
from framework.operators.standins import STAND_INS
from tests.viper.columns.drawn import kinds

RESOURCES = ("onHeapMemoryLoad", "offHeapMemoryLoad", "cpuLoad")

_ODD_TEXTS = ["${x}", "$${", "1", "no", "null", "~", " a ", "a: b", "#", "x\ny"]
texts = st.text(max_size=12) | st.sampled_from(_ODD_TEXTS)
names = texts.filter(bool)
ids = st.sampled_from(["a", "b", "c", "split-words", "1", "yes", "count bolt"]) | names
numbers = st.integers(-(2**70), 2**70) | st.floats(allow_nan=False)
scalars = st.none() | st.booleans() | numbers | texts | st.binary(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
configs = st.dictionaries(names, values, max_size=3)
java_names = st.from_regex(r"org\.[a-z]{1,6}\.[A-Z][a-zA-Z0-9$]{0,6}", fullmatch=True)
"""Names of Java classes that have no stand-in."""

_PLAIN_ARGUMENTS = values.filter(lambda value: not (isinstance(value, dict) and len(value) == 1))
arguments: st.SearchStrategy[Any] = (
    _PLAIN_ARGUMENTS | st.builds(Ref, names) | st.builds(RefList, st.lists(names, max_size=2).map(tuple))
)
"""A mapping of one key could mean a reference, so there is none among them."""


def _tuples(items: st.SearchStrategy[Any], max_size: int = 3) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=max_size).map(tuple)


def objects(class_names: st.SearchStrategy[str], args: st.SearchStrategy[Any] = arguments) -> Any:
    """Definitions of objects."""
    return st.builds(
        ObjectDef,
        class_names,
        _tuples(args),
        st.dictionaries(names, args, max_size=2),
        _tuples(st.builds(Property, names, args), max_size=2),
        _tuples(st.builds(ConfigMethod, names, _tuples(args, max_size=2)), max_size=2),
        st.none() | names,
        _tuples(args, max_size=2),
    )


_stream_names = st.just("default") | names
_schemas = st.dictionaries(names, kinds().map(str), min_size=1, max_size=3)
streams = st.builds(Stream, st.lists(names, max_size=3), _stream_names, st.booleans()) | st.builds(
    lambda schema, *others: Stream(list(schema)[::-1], *others, schema),
    _schemas,
    _stream_names,
    st.booleans(),
)
outputs = st.lists(streams, max_size=3, unique_by=lambda stream: stream.name).map(tuple)

_KEYED = (GroupingKind.FIELDS, GroupingKind.PARTIAL_KEY)
_OTHERS = [kind for kind in GroupingKind if kind not in (*_KEYED, GroupingKind.CUSTOM)]
groupings = (
    st.builds(Grouping, st.sampled_from(_OTHERS))
    | st.builds(Grouping, st.sampled_from(_KEYED), _tuples(names))
    | st.builds(Grouping, st.just(GroupingKind.CUSTOM), definition=st.none() | objects(java_names))
)


@st.composite
def components(
    draw: st.DrawFn, component_id: str, python: Sequence[type], sources: Sequence[str]
) -> ComponentSpec:
    """A component with that id and with inputs from these sources, and from others."""
    implementation, declared = draw(_implementations(python))
    inputs = st.builds(Input, st.sampled_from(sources) | names, groupings, st.just("default") | names)
    return ComponentSpec(
        component_id,
        draw(st.sampled_from(Role)),
        implementation,
        draw(st.just(declared) | outputs),
        draw(_tuples(inputs)),
        draw(st.just(1) | st.integers(-2, 9)),
        draw(st.none() | st.integers(0, 9)),
        draw(configs),
        draw(st.dictionaries(st.sampled_from(RESOURCES), st.floats(0, 1e6), max_size=2)),
    )


def _is_no_class(name: str) -> bool:
    return name not in STAND_INS and not name.endswith(("FluxShellBolt", "FluxShellSpout"))


_STAND_IN_COMPONENTS = [name for name, cls in STAND_INS.items() if hasattr(cls, "outputs")]


@st.composite
def _implementations(
    draw: st.DrawFn, python: Sequence[type]
) -> tuple[Implementation, tuple[Stream, ...] | None]:
    """An implementation, and the outputs that it declares."""
    kind = draw(st.sampled_from(["python", "stand-in", "shell", "java"]))
    if kind == "java":
        return JavaImplementation(draw(objects(java_names | names.filter(_is_no_class)))), None
    if kind == "shell":
        return ShellImplementation(draw(st.tuples(st.just("ruby"), texts))), ()
    if kind == "python":
        cls = draw(st.sampled_from(list(python)))
        class_name = f"{cls.__module__}.{cls.__qualname__}"
    else:
        class_name = draw(st.sampled_from(_STAND_IN_COMPONENTS))
        cls = STAND_INS[class_name]
    definition = ObjectDef(class_name, cls=cls)
    return PythonImplementation(definition), declared_streams(cls.outputs)  # type: ignore[attr-defined]


@st.composite
def topologies(draw: st.DrawFn, python: Sequence[type]) -> Topology:
    """A topology whose ids are unique; its Python components are of these classes, without arguments."""
    component_ids = draw(st.lists(ids, unique=True, min_size=1, max_size=5))
    bean_ids = draw(st.lists(ids, unique=True, max_size=2))
    beans = [Bean(bean_id, draw(objects(java_names, _PLAIN_ARGUMENTS))) for bean_id in bean_ids]
    return Topology(
        draw(names),
        tuple(draw(components(component_id, python, component_ids)) for component_id in component_ids),
        draw(configs),
        tuple(beans),
        tuple(draw(_tuples(st.builds(Bean, names, objects(java_names)), max_size=2))),
    )

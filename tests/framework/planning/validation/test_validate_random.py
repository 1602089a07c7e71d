"""No topology, however mistaken, makes validation itself fail."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.model.config import KEYS, resolve
from framework.model.topology import (
    Bean,
    ComponentSpec,
    Grouping,
    GroupingKind,
    Input,
    JavaImplementation,
    ObjectDef,
    PythonImplementation,
    Role,
    ShellImplementation,
    Stream,
    Topology,
)
from framework.planning.validation import check_runnable, validate
from tests.framework.planning.validation.examples import COUNT, SPLIT, Split, python, spout, topology

IDS = st.sampled_from(["lines", "split", "count", "", "__system", "__x", "a b"])
FIELDS = st.lists(st.sampled_from(["line", "word", "rate_secs", ""]), max_size=3)
STREAMS = st.builds(Stream, FIELDS, st.sampled_from(["default", "other", "__tick"]), st.booleans())
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=3)
    | st.sampled_from(["event"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
CONFIGS: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from([*KEYS, "viper", "topology.kryo.register", "toplogy.workers"])
    | st.text(max_size=4)
    | st.integers(),
    VALUES,
    max_size=3,
)
OBJECTS = st.builds(
    ObjectDef,
    st.sampled_from(["", ".", "my.Class", "math.pi", "org.acme.storm.Thing"]),
    factory=st.sampled_from([None, "make"]),
    cls=st.sampled_from([None, dict, Split]),
)
GROUPINGS = st.builds(Grouping, st.sampled_from(list(GroupingKind)), FIELDS.map(tuple), st.none() | OBJECTS)
IMPLEMENTATIONS: st.SearchStrategy[Any] = st.one_of(
    st.just(python(Split)),
    st.builds(PythonImplementation, OBJECTS),
    st.builds(JavaImplementation, OBJECTS),
    st.just(ShellImplementation(("ruby", "x.rb"))),
)
CHANGES: dict[str, st.SearchStrategy[Any]] = {
    "id": IDS,
    "role": st.sampled_from(list(Role)),
    "implementation": IMPLEMENTATIONS,
    "outputs": st.none() | st.lists(STREAMS, max_size=2).map(tuple),
    "inputs": st.lists(
        st.builds(Input, IDS, GROUPINGS, st.sampled_from(["default", "__tick"])), max_size=3
    ).map(tuple),
    "parallelism": VALUES,
    "tasks": VALUES,
    "config": CONFIGS,
}


@st.composite
def changed(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Topology:
    """A valid topology after a few arbitrary changes."""
    components: list[ComponentSpec] = [spout(), SPLIT, COUNT]
    for _ in range(draw(st.integers(1, 4))):
        position = draw(st.integers(0, len(components) - 1))
        attribute = draw(st.sampled_from([*CHANGES, "copy"]))
        if attribute == "copy":
            components.append(components[position])
        else:
            value = draw(CHANGES[attribute])
            components[position] = replace(components[position], **{attribute: value})
    name = draw(st.sampled_from(["wc", "wc", "a/b", ""]))
    beans = draw(st.lists(st.builds(Bean, IDS, OBJECTS), max_size=2).map(tuple))
    return topology(*components, name=name, config=draw(CONFIGS), beans=beans, worker_hooks=beans[:1])


@given(changed())
def test_every_change_is_judged_in_words(found: Topology) -> None:
    problems = validate(found)
    assert problems == sorted(problems, key=lambda problem: problem.sort_key)
    assert all(problem.message for problem in [*problems, *check_runnable(found)])


@pytest.mark.slow(daily=True)
@given(changed())
def test_configuration_may_be_judged_apart(found: Topology) -> None:
    settings, of_configuration = resolve(found)
    of_topology = validate(found, settings)
    if not any(not problem.warning for problem in of_configuration):
        both = sorted([*of_configuration, *of_topology], key=lambda problem: problem.sort_key)
        assert both == validate(found)

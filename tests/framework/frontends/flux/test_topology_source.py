"""Topologies that Python code makes for a file."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from framework.model.topology import Loaded

Load = Callable[..., Loaded]


@pytest.mark.parametrize(
    "source",
    [
        "className: flux_parts.Source",
        "className: flux_parts.Source\n  methodName: getTopology\n  constructorArgs: {spout_id: words}",
        "className: flux_parts.PythonicSource\n  constructorArgs: [words]",
        "className: flux_parts.PythonicSource\n  methodName: getTopology\n  constructorArgs: [words]",
        "className: flux_parts.make_topology",
        "className: flux_parts.WordTopology",
    ],
)
def test_a_class_a_function_or_a_topology_is_a_source(source: str, load: Load) -> None:
    loaded = load(f"topologySource:\n  {source}\nconfig: {{mine: 1}}\nname: named\n")
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert [component.id for component in loaded.topology.components] == ["words", "sink"]
    assert loaded.topology.name == "named"
    assert loaded.topology.config["mine"] == 1


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("className: flux_parts.Sorce", "'flux_parts' has no 'Sorce'; did you mean 'Source'?"),
        (
            "className: flux_parts.Source\n  methodName: getTopolgy",
            "no method 'getTopolgy'; did you mean 'getTopology'?",
        ),
        (
            "className: flux_parts.Source\n  constructorArgs: [1, 2]",
            "flux_parts.Source: too many positional arguments",
        ),
        ("className: flux_parts.Source\n  methodName: broken", "RuntimeError: no topology today"),
        ("className: flux_parts.Table", "Table has no method 'getTopology'"),
        ("className: os.getcwd", "os.getcwd made '/"),
        ("className: org.example.Source", "org.example.Source is Java: expected Python code"),
    ],
)
def test_a_source_that_makes_no_topology(source: str, expected: str, load: Load) -> None:
    loaded = load(f"name: x\ntopologySource:\n  {source}\n")
    assert loaded.topology is None
    [problem] = loaded.problems
    assert expected in problem.message
    assert problem.place.line > 2


def test_a_source_stands_alone(load: Load) -> None:
    loaded = load(
        "name: x\ntopologySource: {className: flux_parts.WordTopology}\n"
        "spouts: [{id: words, className: flux_parts.Words}]\n"
    )
    [problem] = loaded.problems
    assert str(problem).endswith(":3: spouts beside 'topologySource': expected one or the other")

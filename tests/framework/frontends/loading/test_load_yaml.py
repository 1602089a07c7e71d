"""YAML targets are handed to the Flux front end, with what the caller says about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from framework.frontends.loading import load
from framework.model.topology import Stream

Write = Callable[[str, str], Path]

FLUX = """
name: counting
spouts:
  - id: words
    className: components.Words
    parallelism: ${par}
"""


def test_a_yaml_file_is_read_with_substitutions_and_may_be_renamed(write: Write) -> None:
    write("topologies/counting.yaml", FLUX)
    found = load("counting", substitutions={"par": "3"}, name="other")
    assert found.problems == ()
    assert found.topology is not None
    assert found.topology.name == "other"
    assert found.topology.component("words").parallelism == 3


def test_what_is_wrong_with_a_yaml_file_is_a_problem_with_its_line(write: Write) -> None:
    write("topologies/counting.yaml", FLUX)
    problems = [str(problem) for problem in load("topologies/counting.yaml").problems]
    assert problems
    assert all(problem.startswith("topologies/counting.yaml:6: ") for problem in problems)
    assert any("unknown substitution key 'par'" in problem for problem in problems)


def test_a_strict_file_is_read_as_flux_does(write: Write) -> None:
    write("topologies/strict.yaml", FLUX.replace("${par}", "1").replace("counting", "${a} ${b}"))
    names = []
    for strict in (False, True):
        found = load("strict", substitutions={"a": "one", "b": "two"}, strict_flux=strict)
        assert found.topology is not None
        names.append(found.topology.name)
    assert names == ["one two", "${a} two"]


def test_two_yaml_projects_with_modules_of_the_same_names_get_each_their_own(write: Write) -> None:
    for project, field in (("a", "letter"), ("b", "number")):
        write(
            f"{project}/src/components.py",
            f"""
            from framework import Spout
            class Words(Spout):
                outputs = ["{field}"]
                def next_tuple(self): pass
            """,
        )
        write(f"{project}/topologies/counting.yaml", FLUX.replace("${par}", "1"))
    for project, field in (("a", "letter"), ("b", "number")):
        topology = load(f"{project}/topologies/counting.yaml").topology
        assert topology is not None
        assert topology.component("words").outputs == (Stream([field]),)

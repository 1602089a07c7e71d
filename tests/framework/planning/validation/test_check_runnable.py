"""Components that only a Storm cluster can run are refused by name, and only at run."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from framework.model.topology import (
    Bean,
    Grouping,
    Input,
    JavaImplementation,
    ObjectDef,
    PythonImplementation,
    Ref,
    ShellImplementation,
    Topology,
)
from framework.planning.validation import check_runnable, validate
from tests.framework.planning.validation.examples import COUNT, SPLIT, bolt, spout, topology

INSTEAD = "to run the topology, put a Python class in its place"


def refused(found: Topology) -> list[str]:
    assert validate(found) == []
    return [str(problem) for problem in check_runnable(found)]


def test_python_components_run() -> None:
    assert refused(topology(spout(), SPLIT, COUNT)) == []


def test_java_components_do_not() -> None:
    java = JavaImplementation(ObjectDef("org.acme.storm.Splitter"))
    assert refused(topology(spout(), replace(SPLIT, implementation=java), COUNT)) == [
        "wc.yaml:20: bolt 'split' is the Java class org.acme.storm.Splitter, and there is no JVM: "
        f"{INSTEAD}, a bolt with the same outputs"
    ]


def test_programs_do_where_there_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = ShellImplementation(("no-such-ruby", "lines.rb"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert refused(topology(replace(spout(), implementation=shell), SPLIT)) == [
        "wc.yaml:10: spout 'lines' is the program 'no-such-ruby lines.rb': "
        "there is no 'no-such-ruby' on the PATH, '/nowhere'"
    ]
    there = ShellImplementation((sys.executable, "-m", "lines"))
    assert refused(topology(replace(spout(), implementation=there), SPLIT)) == []


def test_a_script_must_be_there() -> None:
    there, missing = __file__, f"{__file__}.rb"
    shell = ShellImplementation((sys.executable, there))
    assert refused(topology(replace(spout(), implementation=shell), SPLIT)) == []
    shell = ShellImplementation((sys.executable, missing))
    (problem,) = refused(topology(replace(spout(), implementation=shell), SPLIT))
    assert problem.startswith("wc.yaml:10: spout 'lines' is the program ")
    assert problem.endswith(f"there is no file {missing!r}")


def test_what_a_cluster_may_run_is_a_warning_unless_it_is_to_run_here() -> None:
    java = JavaImplementation(ObjectDef("org.acme.storm.Splitter"))
    found = topology(
        replace(spout(), implementation=ShellImplementation((sys.executable, "missing.py"))),
        replace(SPLIT, implementation=java),
    )
    assert [problem.warning for problem in check_runnable(found)] == [False, False]
    assert [problem.warning for problem in check_runnable(found, here=False)] == [False, True]


def test_java_groupings_do_not() -> None:
    keyed = bolt("b", Input("lines", Grouping.custom_object("org.acme.storm.NGrouping", [2])))
    assert refused(topology(spout(), keyed)) == [
        "wc.yaml:21: bolt 'b', input from 'lines': the custom grouping is the Java class "
        f"org.acme.storm.NGrouping: {INSTEAD}, with prepare and choose_tasks"
    ]


def test_worker_hooks_do_not() -> None:
    hook = Bean("hook", ObjectDef("org.acme.storm.Hook"))
    assert refused(topology(spout(), worker_hooks=(hook,))) == [
        "wc.yaml:1: worker hook 'hook' is the Java class org.acme.storm.Hook: to run the topology, remove it"
    ]


def test_java_beans_of_python_components_do_not_and_those_of_others_are_not_named() -> None:
    beans = (
        Bean("pool", ObjectDef("org.acme.Pool")),
        Bean("cache", ObjectDef("my.Cache", args=(Ref("pool"), Ref("cache")))),
        Bean("idle", ObjectDef("org.acme.Idle")),
    )
    cached = replace(SPLIT, implementation=PythonImplementation(ObjectDef("my.Bolt", args=(Ref("cache"),))))
    assert refused(topology(spout(), cached, beans=beans)) == [
        f"wc.yaml:1: component 'pool' is the Java class org.acme.Pool: {INSTEAD}"
    ]

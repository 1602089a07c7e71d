"""Programs: what their wrappers are told, and which of them are Python components."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from framework.frontends.flux import to_flux
from framework.frontends.flux.shell import hosted_class_name
from framework.model.topology import Loaded, Role, ShellImplementation, Stream

Load = Callable[..., Loaded]

BOLT = "org.apache.storm.flux.wrappers.bolts.FluxShellBolt"
SPOUT = "org.apache.storm.flux.wrappers.spouts.FluxShellSpout"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["streamparse_run", "bolts.Count"], "bolts.Count"),
        (["streamparse_run bolts.Count"], "bolts.Count"),
        (["/venv/bin/streamparse_run", "-s msgpack bolts.Count"], "bolts.Count"),
        (["streamparse_run", "--serializer", "json", "bolts.Count"], "bolts.Count"),
        (["streamparse_run"], None),
        (["ruby", "bolts.rb"], None),
        ([], None),
    ],
)
def test_streamparses_own_command_names_the_class(command: list[str], expected: str | None) -> None:
    assert hosted_class_name(command, Role.BOLT, []) == expected


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("from framework import Bolt\nclass A(Bolt): pass\n", "pkg.x.A"),
        ("import streamparse as s\nclass A(s.BatchingBolt): pass\n", "pkg.x.A"),
        ("from pystorm import bolt\nclass A(bolt.Bolt): pass\nx = A\n", "pkg.x.A"),
        ("from framework import Bolt as Base\nclass A(Base): pass\n", "pkg.x.A"),
        ("from framework import Bolt\nclass A(Bolt): pass\nclass B(Bolt): pass\n", None),
        ("from framework import Spout\nclass A(Spout): pass\n", None),
        ("from storm import Bolt\nclass A(Bolt): pass\n", None),
        ("from framework import Bolt\nclass A(Bolt): pass\nA().run()\n", None),
        ("from framework import Bolt\nclass A(Bolt: pass\n", None),
    ],
)
def test_a_script_is_hosted_if_it_defines_one_bolt_and_does_nothing(
    script: str, expected: str | None, tmp_path: Path
) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "x.py").write_text(script)
    for python in ("python", "python3", "/usr/bin/python3.11"):
        assert hosted_class_name([python, "pkg/x.py"], Role.BOLT, [str(tmp_path)]) == expected
    assert hosted_class_name(["python", "pkg/x.py", "--option"], Role.BOLT, [str(tmp_path)]) is None
    assert hosted_class_name(["python", "pkg/y.py"], Role.BOLT, [str(tmp_path)]) is None


@pytest.mark.parametrize(
    ("wrapper", "expected"),
    [
        (f"className: {SPOUT}", f"a bolt of class '{SPOUT}': expected '{BOLT}'"),
        ("constructorArgs: []", "a bolt with 0 constructor arguments: expected the command"),
        ("constructorArgs: [[a], [b], [c]]", "a bolt with 3 constructor arguments: expected the command"),
        ("constructorArgs: [{a: b}]", "the command is a mapping, expected a list of texts"),
        ("constructorArgs: [[a], b]", "the output fields is the text 'b', expected a list of texts"),
        ("constructorArgs: [[a]]\n    factory: x", "'factory' has no effect on a program"),
        ("properties: [{name: envs, value: {}}]", "unknown property of a program 'envs'"),
        ("properties: [{name: env}]", "the property 'env' without 'value': expected one"),
        ("properties: [{name: env, ref: x}]", "the property 'env' without 'value': expected one"),
        ("properties: [{name: env, value: [a]}]", "the environment is a list, expected a mapping"),
        ("configMethods: [{name: setEnv, args: [{A: [1]}]}]", "the variable 'A' is a list, expected a text"),
        ("configMethods: [{name: setEnv, args: [a, b]}]", "setEnv with 2 arguments: expected 1"),
        ("configMethods: [{name: changeChildCWD, args: [no way]}]", "expected true or false"),
        ("configMethods: [{name: setNamedStreem}]", "did you mean 'setNamedStream'?"),
        ("configMethods: [{name: setNamedStream, args: [a]}]", "setNamedStream with 1 arguments: expected 2"),
    ],
)
def test_a_wrapper_with_a_mistake(wrapper: str, expected: str, load: Load) -> None:
    rest = "" if wrapper.startswith("className") else f"\n    className: {BOLT}"
    rest += "" if "constructorArgs" in wrapper else "\n    constructorArgs: [[ruby]]"
    problems = load(f"name: x\nbolts:\n  - id: a\n    {wrapper}{rest}\n").problems
    assert any(expected in problem.message for problem in problems)


def test_outputs_take_the_place_of_the_wrappers(load: Load) -> None:
    text = f"""\
name: x
bolts:
  - id: a
    className: {BOLT}
    constructorArgs: [[ruby, x.rb], [ignored]]
    outputs: [{{fields: [a], direct: true}}]
    config: {{b: 2, c: 3}}
    configMethods: [{{name: addComponentConfig, args: [a, 1]}}, {{name: addComponentConfig, args: [b, 1]}}]
"""
    loaded = load(text)
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert loaded.topology.component("a").outputs == (Stream(["a"], direct=True),)
    assert loaded.topology.component("a").config == {"a": 1, "b": 2, "c": 3}


WRAPPED = f"""\
name: x
spouts:
  - id: s
    className: {SPOUT}
    constructorArgs: [[python3, here.py], [word]]
    {{}}
"""
SET = "configMethods: [{name: setEnv, args: [{MODE: fast, LEVEL: 2, PATH: /opt/bin}]}]"


@pytest.mark.parametrize(
    ("text", "env", "stays"),
    [
        (SET, {"MODE": "fast", "LEVEL": "2", "PATH": "/opt/bin"}, False),
        ("properties: [{name: env, value: {MODE: fast}}]", {"MODE": "fast"}, False),
        ("configMethods: [{name: changeChildCWD, args: [false]}]", {}, True),
        ("configMethods: [{name: changeChildCWD, args: [true]}]", {}, False),
        (
            "properties: [{name: env, value: {A: a}}]\n"
            "    configMethods: [{name: setEnv, args: [{B: b}]}, {name: changeChildCWD, args: [false]}]",
            {"B": "b"},  # as Storm's setEnv, which takes the place of what was set
            True,
        ),
    ],
)
def test_a_program_has_an_environment_and_a_folder(
    text: str, env: dict[str, str], stays: bool, load: Load
) -> None:
    loaded = load(WRAPPED.format(text))
    assert loaded.problems == ()
    assert loaded.topology is not None
    found = loaded.topology.component("s")
    assert found.implementation == ShellImplementation(("python3", "here.py"), env, stays)
    assert found.outputs == (Stream(["word"]),)
    assert load(to_flux(loaded.topology)).topology == loaded.topology


def test_a_property_sets_the_default_stream(load: Load) -> None:
    """Flux takes it for the argument of `setDefaultStream`, and makes an array of the list."""
    text = WRAPPED.replace(", [word]]", "]").format("properties: [{name: defaultStream, value: [a, b]}]")
    loaded = load(text)
    assert loaded.topology is not None
    assert loaded.topology.component("s").outputs == (Stream(["a", "b"]),)


def test_a_component_with_an_environment_of_its_own_is_not_hosted(load: Load) -> None:
    """A hosted one shares its process, and so its environment, with others."""
    for method in ("name: setEnv, args: [{A: b}]", "name: changeChildCWD, args: [false]"):
        text = WRAPPED.replace("[python3, here.py]", "[streamparse_run, talker.Talker]")
        loaded = load(text.format(f"configMethods: [{{{method}}}]"))
        assert loaded.topology is not None
        assert isinstance(loaded.topology.component("s").implementation, ShellImplementation)

"""All problems of a file are reported at once: where, what was found, what is expected."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from framework.frontends.flux import load_flux
from framework.model.topology import JavaImplementation, Loaded, ObjectDef

Load = Callable[..., Loaded]

HEAD = """\
name: wrong
spouts:
  - id: words
    className: flux_parts.Words
"""


def messages(loaded: Loaded) -> list[str]:
    """The problems, each with its line only."""
    return [f"{problem.place.line}: {problem.message}" for problem in loaded.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "1: the file is empty, expected a topology"),
        ("- a\n", "1: found a list, expected a topology: a mapping with name, spouts, bolts and streams"),
        ("spouts: []\n", "1: a topology without 'name': expected a text"),
        ("name: [x]\n", "1: name is a list, expected a text"),
        ("name: x\nbolts: 3\n", "2: bolts is the number 3, expected a list"),
        ("name: x\nconfig: [a]\n", "2: config is a list, expected a mapping"),
        (
            "name: x\nconfig: {a: !!set {b}}\n",
            "2: found '!!set', expected a list, a mapping or a single value",
        ),
        ("name: x\nspouts:\n  - words\n", "3: a spout is the text 'words', expected a mapping"),
        ("name: x\nname: y\n", "2: the key 'name' is given again, after line 1"),
        ("a: &a [*a]\n", "1: no valid YAML: an alias refers to what it is a part of"),
        ("name: x\n<<: 3\n", "2: '<<' merges the number 3, expected a mapping"),
        ("name: x\norder: [a]\n", "2: unknown component 'a': expected nothing (there are none)"),
    ],
)
def test_a_file_of_the_wrong_shape(text: str, expected: str, load: Load) -> None:
    assert expected in messages(load(text))


def test_a_syntax_error_has_its_line(load: Load) -> None:
    loaded = load("name: x\nspouts: [\n")
    assert loaded.topology is None
    [message] = messages(loaded)
    assert message.startswith("3: no valid YAML: while parsing a flow node, ")


def test_bytes_that_are_no_text_have_their_line(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("name: x\n# naïve\n".encode("latin-1"))
    [problem] = load_flux(tmp_path / "latin.yaml").problems
    assert problem.place.line == 2
    assert problem.message == "found the byte 0xef, expected text in UTF-8"


def test_a_missing_file_is_a_problem() -> None:
    [problem] = load_flux("nowhere.yaml").problems
    assert str(problem) == "nowhere.yaml: cannot be read: No such file or directory"


@pytest.mark.parametrize(
    ("bolt", "expected"),
    [
        ("paralelism: 2", "unknown key of a bolt 'paralelism': expected "),
        ("paralelism: 2", "; did you mean 'parallelism'?"),
        ("parallelism: many", "parallelism is the text 'many', expected a whole number"),
        ("parallelism: true", "parallelism is the bool true, expected a whole number"),
        ("parallelism: 2.5", "parallelism is the number 2.5, expected a whole number"),
        ("language: perl", "unknown language 'perl': expected 'java' or 'python'"),
        ("cpuLoad: much", "cpuLoad is the text 'much', expected a number"),
        ("outputs: [{fields: word}]", "fields is the text 'word', expected a list of texts"),
        ("outputs: [{fields: [[a]]}]", "an item of fields is a list, expected a text"),
        ("outputs: [{schema: {a: int65}}]", "field 'a': 'int65' is no type: expected one of bool"),
        ("outputs: [{schema: {a: 5}}]", "field 'a': a type is a text such as 'int64', found 5"),
        ("outputs: [{fields: [a], schema: {b: int8}}]", "schema names 'b', which is no field"),
        ("outputs: [{fields: [a, b], schema: [int8]}]", "schema with 1 types for 2 fields: ['a', 'b']"),
        ("outputs: [{schema: [int8]}]", "Stream schema without fields"),
        ("outputs: [{direct: maybe}]", "direct is the text 'maybe', expected true or false"),
        ("constructorArgs: 1", "constructorArgs is the number 1, expected a list"),
        (
            "constructorArgs: {nme: 1}",
            "constructor of flux_parts.Sink: got an unexpected keyword argument 'nme'",
        ),
        ("properties: [{value: 1}]", "a property without 'name': expected a text"),
        ("properties: [{name: a, value: 1, ref: b}]", "one of 'value', 'ref' and 'reflist', found several"),
        ("configMethods: [{name: proces}]", "proces: Sink has no method 'proces'; did you mean 'process'?"),
        ("configMethods: [{name: process}]", "process: missing a required argument: 'tup'; expected (tup)"),
        ("factory: mak", "mak: Sink has no method 'mak'"),
        ("constructorArgs: [{ref: tabel}]", "unknown component 'tabel': expected nothing (there are none)"),
        (
            "constructorArgs: [reflist: [tabel]]",
            "unknown component 'tabel': expected nothing (there are none)",
        ),
        ("constructorArgs: [{reflist: tabel}]", "reflist is the text 'tabel', expected a list"),
    ],
)
def test_a_bolt_with_a_mistake(bolt: str, expected: str, load: Load) -> None:
    found = load(f"{HEAD}bolts:\n  - id: sink\n    className: flux_parts.Sink\n    {bolt}\n")
    assert any(problem.place.line == 8 and expected in problem.message for problem in found.problems)
    assert found.topology is not None
    assert found.topology.component("sink").parallelism == 1


@pytest.mark.parametrize(
    ("class_name", "expected"),
    [
        ("flux_parts.Wrds", "'flux_parts.Wrds': 'flux_parts' has no 'Wrds'; did you mean 'Words'?"),
        ("no_such_module.Words", "no module 'no_such_module' in "),
        ("Words", "'Words' is no class path: expected 'package.module.Class'"),
        ("flux_parts.make_topology", "is a function, expected a class; viperstorm.streams.Map"),
        ("broken.parts.Words", "importing 'broken' raised RuntimeError: half installed"),
        ("leaving.Words", "'leaving.Words': importing it ended the process, with status 3"),
        ("shapes.TwoStreams", "stream 'a' is declared twice"),
        ("shapes.ByEnvironment", "par depends on the environment ('dev': 1, 'prod': 8)"),
    ],
)
def test_a_class_that_cannot_be_used(class_name: str, expected: str, load: Load, tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "__init__.py").write_text("raise RuntimeError('half installed')")
    (tmp_path / "leaving.py").write_text("raise SystemExit(3)")
    (tmp_path / "shapes.py").write_text(SHAPES)
    [problem] = load(f"name: x\nspouts:\n  - id: words\n    className: {class_name}\n").problems
    assert problem.place.line in (3, 4)
    assert expected in problem.message


SHAPES = """\
from framework import Spout, Stream
class TwoStreams(Spout):
    outputs = [Stream(["x"], "a"), Stream(["y"], "a")]
class ByEnvironment(Spout):
    outputs = ["word"]
    par = {"dev": 1, "prod": 8}
"""


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("{to: sink, grouping: {type: SHUFFLE}}", "a stream without 'from': expected a text"),
        ("{from: words, grouping: {type: SHUFFLE}}", "a stream without 'to': expected a text"),
        (
            "{from: words, to: snk, grouping: {type: ALL}}",
            "unknown bolt 'snk': expected 'sink'; did you mean 'sink'?",
        ),
        ("{from: words, to: sink}", "a stream without 'grouping': expected one, e.g. {type: SHUFFLE}"),
        (
            "{from: words, to: sink, grouping: SHUFFLE}",
            "a grouping is the text 'SHUFFLE', expected a mapping",
        ),
        ("{from: words, to: sink, grouping: {}}", "a grouping without 'type': expected a text"),
        (
            "{from: words, to: sink, grouping: {type: fields}}",
            "unknown grouping type 'fields': expected 'SHUFFLE'",
        ),
        ("{from: words, to: sink, grouping: {type: fields}}", "; did you mean 'FIELDS'?"),
        ("{from: words, to: sink, grouping: {type: ALL, args: [a]}}", "'args' have no effect on ALL"),
        (
            "{from: words, to: sink, grouping: {type: CUSTOM, customClass: {className: flux_parts.First}}}",
            "'flux_parts.First': 'flux_parts' has no 'First'; did you mean 'FirstTask'?",
        ),
        (
            "{from: words, to: sink, grouping: {type: ALL, customClass: {className: flux_parts.FirstTask}}}",
            "'customClass' has no effect on ALL: expected it with 'CUSTOM'",
        ),
    ],
)
def test_a_stream_with_a_mistake(stream: str, expected: str, load: Load) -> None:
    bolts = "bolts:\n  - {id: sink, className: flux_parts.Sink}\n"
    found = load(f"{HEAD}{bolts}streams:\n  - {stream}\n")
    assert any(problem.place.line == 8 and expected in problem.message for problem in found.problems)


def test_beans_stand_above_those_that_refer_to_them(load: Load) -> None:
    beans = """\
name: x
components:
  - {id: a, className: flux_parts.Table, constructorArgs: [ref: b]}
  - {id: b, className: flux_parts.Table}
"""
    assert messages(load(beans)) == ["3: component 'b' is declared in line 4: move it up, above its use"]


def test_all_mistakes_of_a_file_are_told_at_once(load: Load) -> None:
    text = """\
name: wrong
spouts:
  - {id: words, className: flux_parts.Wrods}
bolts:
  - {id: sink, className: flux_parts.Sink, parallelism: two}
streams:
  - {from: words, to: sinc, grouping: {type: SHUFFLE}}
  - {from: words, to: sink, grouping: {type: SHUFLE}}
  - {from: words, to: sink, groupng: {type: SHUFFLE}}
"""
    assert [problem.place.line for problem in load(text).problems] == [3, 5, 7, 8, 9, 9, 9]


def test_ids_may_look_like_numbers(load: Load) -> None:
    text = """\
name: 1
spouts: [{id: 2, className: flux_parts.Words}]
bolts: [{id: no, className: flux_parts.Sink}]
streams: [{from: 2, to: no, grouping: {type: FIELDS, args: [1.5]}}]
"""
    loaded = load(text)
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert loaded.topology.name == "1"
    [found] = loaded.topology.component("no").inputs
    assert (found.source, found.grouping.names) == ("2", ("1.5",))


def test_merge_keys_and_aliases_are_followed(load: Load) -> None:
    text = """\
name: x
spouts:
  - &words {id: words, className: flux_parts.Words, parallelism: 2}
  - {<<: *words, id: more}
"""
    loaded = load(text)
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert [(spout.id, spout.parallelism) for spout in loaded.topology.spouts] == [("words", 2), ("more", 2)]


def test_a_java_class_of_an_unusual_name_may_be_said_to_be_one(load: Load) -> None:
    loaded = load("name: x\nspouts: [{id: words, className: ai.Words, language: java}]\n")
    assert loaded.problems == ()
    assert loaded.topology is not None
    assert loaded.topology.component("words").implementation == JavaImplementation(ObjectDef("ai.Words"))


@pytest.mark.usefixtures("streamparse")
def test_streamparses_components_take_no_arguments(load: Load) -> None:
    loaded = load("name: x\nbolts: [{id: a, className: splitter.SplitterBolt, constructorArgs: [1]}]\n")
    [problem] = loaded.problems
    assert problem.message.startswith(
        "'constructorArgs' has no effect: streamparse makes its components without"
    )

"""``${...}``: where values come from, and what they can and cannot do to a file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from framework.frontends.flux import read_properties
from framework.model.errors import LoadError
from framework.model.topology import Loaded

Load = Callable[..., Loaded]


def config(loaded: Loaded) -> Any:
    assert loaded.topology is not None
    return loaded.topology.config


@pytest.mark.parametrize(
    ("written", "value", "expected"),
    [
        ("${x}", "5", 5),
        ("${x}", "[a, 'b']", ["a", "b"]),
        ("${x}", "{a: 1}", {"a": 1}),
        ("${x}", "", None),
        ("${x}", "a: b", "a: b"),
        ("${x}", "#123", "#123"),
        ("${x}", "'quoted'", "quoted"),
        ("${x}", "[broken", "[broken"),
        ("'${x}'", "5", "5"),
        ('"${x}"', 'C:\\new "dir"', 'C:\\new "dir"'),
        ("'${x}'", "two\nlines", "two\nlines"),
        ("1${x}", "5", 15),
        ("a ${x} c ${x}", "b: [", "a b: [ c b: ["),
        ("[${x}, {k: ${x}}]", "5", [5, {"k": 5}]),
        ("{${x}: 1}", "key", {"key": 1}),
        ("$${x}", "5", "${x}"),
        ("${ x }", "5", 5),
        ("\ue0000\ue001 ${x}", "5", "\ue0000\ue001 5"),
    ],
)
def test_a_value_becomes_what_it_is_and_never_breaks_the_file(
    written: str, value: str, expected: object, load: Load
) -> None:
    loaded = load(f"name: n\nconfig:\n  key: {written}\n  after: 1\n", substitutions={"x": value})
    assert loaded.problems == ()
    assert config(loaded) == {"key": expected, "after": 1}
    assert loaded.topology is not None
    assert loaded.topology.sources.at("config", "after").line == 4


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("${wrods}", "unknown substitution key 'wrods': expected 'list' or 'words'; did you mean 'words'?"),
        ("${ENV-HOMEE}", "the environment variable 'HOMEE' is not set; did you mean 'HOME'?"),
        ("${list[2]}", "the list 'list' has no item 2, only 2, counted from 0"),
        ("${words[0]}", "the value of 'words' is 'w', expected a list as in [a, b]"),
        ("[${wrods}]", "unknown substitution key 'wrods'"),
    ],
)
def test_what_has_no_value_is_told_once_with_its_line(written: str, expected: str, load: Load) -> None:
    text = f"name: n\nspouts:\n  - {{id: a, className: flux_parts.Words, parallelism: {written}}}\n"
    loaded = load(text, substitutions={"words": "w", "list": "[a, b]"}, environ={"HOME": "h"})
    [*others, problem] = loaded.problems
    assert problem.place.line == 3
    assert problem.message.startswith(expected)
    assert len(others) == written.startswith("[")


def test_defaults_and_lists_and_the_environment(load: Load) -> None:
    text = (
        "name: n\nconfig: {a: '${no:-some text}', b: '${l[1]}', c: '${ENV-X}', d: '${l[0]}', e: '${no:-}'}\n"
    )
    loaded = load(text, substitutions={"l": '["a", "b"]', "l[0]": "whole key"}, environ={"X": "x"})
    assert config(loaded) == {"a": "some text", "b": "b", "c": "x", "d": "whole key", "e": ""}


def test_comments_are_not_looked_at(load: Load) -> None:
    assert load("# ${nobody}\nname: n # ${knows}\n").problems == ()


def test_strict_replaces_the_last_expression_of_a_line_in_the_text(load: Load) -> None:
    text = "name: ${a}\nconfig:\n  both: ${a} ${b}\n  list: ${b}\n  no: ${c:-d}\n"
    loaded = load(text, substitutions={"a": "A", "b": "[B]"}, strict=True)
    assert config(loaded) == {"both": "${a} [B]", "list": ["B"], "no": "${c:-d}"}
    assert [(problem.place.line, problem.warning) for problem in loaded.problems] == [(5, True)]


def test_properties_are_read_as_java_does(tmp_path: Path) -> None:
    file = tmp_path / "a.properties"
    file.write_text(
        "# comment\n! too\n\na=1\n b : two words \nc three\nd\\ e=x\\\n   y\nf=\\u00e9\\t\\\\\ng\n=h\n",
        "utf-8",
    )
    assert read_properties(file) == {
        "a": "1",
        "b": "two words ",
        "c": "three",
        "d e": "xy",
        "f": "é\t\\",
        "g": "",
        "": "h",
    }


def test_a_properties_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match=r"'.*no\.properties' cannot be read: No such file or directory"):
        read_properties(tmp_path / "no.properties")

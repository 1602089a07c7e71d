"""User code that raises: a problem at the user's line, never a traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from framework.frontends.loading import load

Write = Callable[[str, str], Path]


def problems(target: str) -> list[str]:
    found = load(target)
    assert found.topology is None
    return [str(problem) for problem in found.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def broken(:\n", ":1: SyntaxError: invalid syntax"),
        ("\nraise RuntimeError('no')", ":2: RuntimeError: no"),
        ("import sys\nsys.exit(3)", ":2: SystemExit: 3"),
        ("x = {}\nx['key']", ":2: KeyError: key"),
        ("assert False", ":1: AssertionError"),
    ],
)
def test_a_file_that_raises_gives_one_problem_with_its_line(write: Write, text: str, expected: str) -> None:
    write("topologies/raising.py", text)
    assert problems("topologies/raising.py") == [f"topologies/raising.py{expected}"]


def test_the_line_is_the_last_one_of_the_users(write: Write) -> None:
    write("src/helper.py", "import json\ndef parse():\n    return json.loads('{')")
    write("topologies/calling.py", "from helper import parse\nparse()")
    (found,) = problems("topologies/calling.py")
    assert found.startswith("src/helper.py:3: JSONDecodeError: ")


def test_a_missing_module_says_where_it_was_looked_for(write: Write) -> None:
    write("topologies/missing.py", "import components\nimport bolts.nothing")
    assert problems("topologies/missing.py") == [
        "topologies/missing.py:2: ModuleNotFoundError: No module named 'bolts'; "
        "the project's modules are looked for in 'src', 'topologies' or '.'"
    ]


def test_a_module_that_misses_another_is_not_itself_missing(write: Write) -> None:
    write("package/incomplete.py", "import absent")
    (found,) = problems("package.incomplete:One")
    assert found.startswith("package/incomplete.py:1: ModuleNotFoundError: No module named 'absent'; ")


def test_a_file_that_raised_can_be_loaded_when_it_is_mended(write: Write) -> None:
    write("topologies/mended.py", "raise ValueError('not yet, and longer than it will be')")
    assert len(problems("topologies/mended.py")) == 1
    write(
        "topologies/mended.py",
        """
        from components import Words
        from framework import Topology
        class Mended(Topology):
            words = Words.spec()
        """,
    )
    assert load("topologies/mended.py").problems == ()


def test_a_function_that_raises_is_reported_at_its_line(write: Write) -> None:
    write("topologies/maker.py", "def make():\n    return 1 / 0")
    assert problems("topologies/maker.py:make") == [
        "topologies/maker.py:2: ZeroDivisionError: division by zero"
    ]


def test_a_wrong_argument_is_reported_at_its_attribute(write: Write) -> None:
    write(
        "topologies/argument.py",
        """
        from components import Count, Words
        from framework import Topology

        class Wrong(Topology):
            words = Words.spec()
            count = Count.spec(
                inputs=[words], par="two"
            )
        """,
    )
    assert problems("topologies/argument.py") == [
        "topologies/argument.py:7: Wrong.count: TypeError: par must be an int >= 1, "
        "or a dict of environment name to int, found 'two'"
    ]


def test_a_private_attribute_is_reported_at_its_line_as_it_was_written(write: Write) -> None:
    write(
        "topologies/private.py",
        """
        from components import Words
        from framework import Topology

        class Private(Topology):
            words = Words.spec()
            __more = Words.spec(par=0)
        """,
    )
    (found,) = problems("topologies/private.py")
    assert found.startswith("topologies/private.py:7: Private.__more: spout '_Private__more' has a parallel")


def test_a_broken_topology_that_yaml_needs_is_one_short_line(write: Write) -> None:
    write(
        "src/broken.py",
        """
        from components import Count, Words
        from framework import Topology

        class Broken(Topology):
            words = Words.spec(par=0)
            count = Count.spec(inputs=[words], par=0)
            total = Count.spec(inputs=[count], par=0)
        """,
    )
    write("topologies/needs.yaml", "name: x\ntopologySource: {className: broken.Broken}\n")
    (found,) = load("topologies/needs.yaml").problems
    assert str(found) == (
        "topologies/needs.yaml:2: 'broken.Broken': importing 'broken' raised TopologyError: "
        "src/broken.py:6: Broken.words: spout 'words' has a parallelism that is 0: "
        "expected an integer from 1 to 1024 (and 2 more)"
    )


def test_all_mistakes_of_a_class_come_at_once_each_at_its_line(write: Write) -> None:
    write(
        "topologies/mistaken.py",
        """
        from components import Count, Words
        from framework import GlobalStreamId, Grouping, Topology

        class Mistaken(Topology):
            config = {"viper.jumbo.sise": 1}
            words = Words.spec()
            count = Count.spec(
                inputs={words: Grouping.fields("wrod")},
                par=0,
            )
            lost = Count.spec()
            late = Count.spec(inputs=[GlobalStreamId("wrods")])
        """,
    )
    found = problems("topologies/mistaken.py")
    assert [text.partition(": bolt")[0].partition(": unknown")[0] for text in found] == [
        "topologies/mistaken.py:6: Mistaken.config",
        "topologies/mistaken.py:9: Mistaken.count",
        "topologies/mistaken.py:10: Mistaken.count",
        "topologies/mistaken.py:12: Mistaken.lost",
        "topologies/mistaken.py:13: Mistaken.late",
    ]
    assert "did you mean 'viper.jumbo.size'?" in found[0]
    assert "did you mean 'word'?" in found[1]
    assert "did you mean 'words'?" in found[4]


def test_all_mistakes_of_a_builder_come_at_once_each_at_its_line(write: Write) -> None:
    write(
        "topologies/misbuilt.py",
        """
        from components import Count, Words
        from framework.frontends.builder import TopologyBuilder

        builder = TopologyBuilder()
        builder.set_spout("words", Words)
        builder.set_bolt("count", Count, 0).shuffle_grouping("wrods")
        builder.set_bolt("twice", Count).shuffle_grouping("words")
        builder.set_bolt("twice", Count).shuffle_grouping("words")
        builder.set_config("viper.jumbo.sise", 2)
        topology = builder.build("misbuilt")
        """,
    )
    found = problems("topologies/misbuilt.py")
    lines = [f"topologies/misbuilt.py:{line}" for line in (7, 7, 9, 10)]
    assert [text.split(": ")[0] for text in found] == lines
    assert "parallelism that is 0" in found[0]
    assert "did you mean 'words'?" in found[1]
    assert "2 components have the id 'twice'" in found[2]
    assert "did you mean 'viper.jumbo.size'?" in found[3]

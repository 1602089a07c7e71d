"""The choice of the topology of a Python target."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from framework.frontends.loading import load
from framework.model.topology import Topology

Write = Callable[[str, str], Path]

ONE = """
    from components import Count, Words
    from framework import Topology
    from framework.frontends.builder import TopologyBuilder

    class One(Topology):
        words = Words.spec()
        count = Count.spec(inputs=[words])
"""


def loaded(target: str, **options: str) -> Topology:
    found = load(target, **options)
    assert found.problems == ()
    assert found.topology is not None
    return found.topology


def problem(target: str) -> str:
    found = load(target)
    assert found.topology is None
    assert len(found.problems) == 1
    return str(found.problems[0])


def ids(topology: Topology) -> list[str]:
    return [component.id for component in topology.components]


def test_a_file_needs_no_name_and_gives_its_own_to_the_topology(write: Write) -> None:
    write("topologies/single.py", ONE)
    topology = loaded("topologies/single.py")
    assert topology.name == "single"
    assert ids(topology) == ["words", "count"]


def test_a_name_may_be_given_to_any_form_of_topology(write: Write) -> None:
    write(
        "topologies/forms.py",
        ONE
        + """
    builder = TopologyBuilder()
    builder.set_spout("words", Words)
    value = builder.build("value")
    from framework.frontends.streams import StreamBuilder
    streams = StreamBuilder()
    streams.new_stream(Words).map(str.upper)

    def function():
        return builder

    class Factory:
        @staticmethod
        def static():
            return value

        @classmethod
        def of_class(cls):
            return One
    """,
    )
    for form in ("One", "builder", "streams", "value", "function", "Factory.static", "Factory.of_class"):
        assert loaded(f"topologies/forms.py:{form}", name="other").name == "other"
    assert loaded("topologies/forms.py:value").name == "value"
    assert loaded("topologies/forms.py:builder").name == "forms"


def test_of_several_the_first_is_taken_with_a_warning_that_names_the_others(write: Write) -> None:
    write("topologies/several.py", ONE + "\n    class Two(One.__base__):\n        words = Words.spec()\n")
    found = load("topologies/several.py")
    assert found.topology is not None
    assert ids(found.topology) == ["words", "count"]
    assert [str(p) for p in found.problems] == [
        "topologies/several.py: warning: took the first of several topologies, 'One'; "
        "to take another, add :Two"
    ]
    assert ids(loaded("topologies/several.py:Two")) == ["words"]


def test_a_topology_of_the_file_comes_before_an_imported_one(write: Write) -> None:
    write("topologies/imported.py", ONE)
    write(
        "topologies/importing.py",
        """
        from imported import One, Topology, Words

        class Own(Topology):
            own = Words.spec()
        """,
    )
    assert ids(loaded("topologies/importing.py")) == ["own"]


def test_an_imported_topology_is_taken_where_there_is_no_other(write: Write) -> None:
    write("topologies/origin.py", ONE)
    write("topologies/reexporting.py", "from origin import One")
    topology = loaded("topologies/reexporting.py")
    assert (topology.name, ids(topology)) == ("reexporting", ["words", "count"])


def test_a_builder_does_not_compete_with_the_topology_it_built(write: Write) -> None:
    write(
        "topologies/built.py",
        """
        from components import Words
        from framework.frontends.builder import TopologyBuilder

        builder = TopologyBuilder()
        builder.set_spout("words", Words)
        topology = builder.build("the one")
        """,
    )
    assert loaded("topologies/built.py").name == "the one"


def test_one_topology_under_two_names_is_one(write: Write) -> None:
    write("topologies/aliased.py", ONE + "\n    Alias = One\n")
    assert ids(loaded("topologies/aliased.py")) == ["words", "count"]


def test_a_module_is_named_with_dots_and_found_from_the_current_folder(write: Write) -> None:
    write("package/inner.py", ONE)
    assert loaded("package.inner:One").name == "inner"
    assert ids(loaded("package.inner")) == ["words", "count"]


def test_the_environment_chooses_the_parallelism(write: Write) -> None:
    write("topologies/staged.py", ONE.replace("Words.spec()", "Words.spec(par={'beta': 2, 'prod': 8})"))
    assert loaded("topologies/staged.py", environment="prod").component("words").parallelism == 8
    assert [str(p) for p in load("topologies/staged.py").problems] == [
        "topologies/staged.py:7: One.words: par depends on the environment ('beta': 2, 'prod': 8): "
        "choose one, with --environment"
    ]
    assert [str(p) for p in load("topologies/staged.py", environment="prd").problems] == [
        "topologies/staged.py:7: One.words: unknown environment 'prd': expected 'beta' or 'prod'; "
        "did you mean 'prod'?"
    ]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("topologies/x.py:Onne", "'x' has no 'Onne'; did you mean 'One'?"),
        ("topologies/x.py:zzz", "'x' has no 'zzz'; its topologies: 'One'"),
        ("topologies/x.py:Words", "'Words' is a class, expected a Topology class, a topology, "),
        ("topologies/x.py:wrong", "wrong() returned 3, expected a Topology class, "),
        ("components", "no topology in it: expected a Topology class, "),
        ("topologies/functions.py", "to take what a function returns, add its name: 'make'"),
        ("nothing.there", "no topology 'nothing.there': neither a file in topologies/ nor a module"),
        ("functoins", "did you mean 'functions'?"),
    ],
)
def test_what_is_no_topology_is_refused_with_what_there_is(write: Write, target: str, message: str) -> None:
    write("topologies/x.py", ONE + "\n    def wrong():\n        return 3\n")
    write("topologies/functions.py", "def make():\n    return None")
    assert message in problem(target)


def test_import_paths_are_the_projects_and_the_search_path_is_left_as_it_was(write: Write) -> None:
    file = write("topologies/paths.py", ONE)
    before = list(sys.path)
    topology = loaded("topologies/paths.py")
    root = file.parent.parent
    assert topology.import_paths == (str(root / "src"), str(root / "topologies"), str(root))
    assert sys.path == before


def test_a_file_that_was_loaded_before_is_not_executed_again(write: Write) -> None:
    write("topologies/again.py", ONE)
    first, second = loaded("topologies/again.py"), loaded("topologies/again.py:One")
    classes = [topology.component("words").implementation.definition.cls for topology in (first, second)]
    assert classes[0] is classes[1]


def test_two_projects_with_modules_of_the_same_names_get_each_their_own(write: Write) -> None:
    for project in ("a", "b"):
        bolt = f"from components import Count\nclass {project.upper()}(Count): pass"
        write(f"{project}/src/bolts/count.py", bolt)
        write(
            f"{project}/topologies/namesake.py",
            f"""
            from bolts.count import {project.upper()} as Bolt
            from components import Words
            from framework import Topology

            class Namesake(Topology):
                words = Words.spec()
                count = Bolt.spec(inputs=[words])
            """,
        )
        write(f"{project}/src/components.py", Path("src/components.py").read_text())
    for project in ("a", "b", "a"):
        definition = loaded(f"{project}/topologies/namesake.py").component("count").implementation.definition
        assert definition.class_name == f"bolts.count.{project.upper()}"


def test_a_project_does_not_see_the_modules_of_another(write: Write) -> None:
    write("a/src/bolts/count.py", "")
    write("a/topologies/having.py", "import bolts.count\n" + textwrap.dedent(ONE))
    write("a/src/components.py", Path("src/components.py").read_text())
    write("b/topologies/lacking.py", "import bolts.count")
    assert ids(loaded("a/topologies/having.py")) == ["words", "count"]
    assert "No module named 'bolts'" in problem("b/topologies/lacking.py")


def test_a_file_may_not_be_named_after_a_module_of_python(write: Write) -> None:
    write("topologies/queue.py", ONE)
    assert "has the name of the Python module 'queue': rename the file" in problem("topologies/queue.py")


def test_a_topology_further_down_in_the_project_imports_from_its_src(write: Write) -> None:
    write("topologies/sub/deep.py", ONE)
    topology = loaded("sub/deep")
    assert (topology.name, ids(topology)) == ("deep", ["words", "count"])

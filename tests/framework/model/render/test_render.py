"""Pictures: one value feeds them all, and no id can break out of its place."""

from __future__ import annotations

import json
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.model.render import Kind, RenderError, rendered, to_dot, to_json, to_mermaid, to_svg
from framework.model.topology import (
    ComponentSpec,
    Grouping,
    Input,
    JavaImplementation,
    ObjectDef,
    PythonImplementation,
    Role,
    ShellImplementation,
    Stream,
    Topology,
)


def python(name: str) -> PythonImplementation:
    return PythonImplementation(ObjectDef(name))


def named(spout: str = "lines", bolt: str = "words", name: str = "count") -> Topology:
    return Topology(
        name,
        (
            ComponentSpec(spout, Role.SPOUT, python("project.Lines"), (Stream(["line"]),), parallelism=3),
            ComponentSpec(
                bolt,
                Role.BOLT,
                python("project.bolts:Outer.Words"),
                (Stream(["word"], name="retry"),),
                (Input(spout, Grouping.fields("line", "part")), Input(bolt, Grouping.SHUFFLE, "retry")),
                tasks=2,
            ),
        ),
    )


KINDS = Topology(
    "kinds",
    (
        ComponentSpec("shell", Role.SPOUT, ShellImplementation(("ruby", "a.rb"))),
        ComponentSpec(
            "java",
            Role.BOLT,
            JavaImplementation(ObjectDef("org.acme.Join")),
            None,
            (Input("shell", Grouping.custom("org.acme.Near")), Input("__system", Grouping.ALL, "__tick")),
        ),
    ),
)


class TestWhatIsDrawn:
    def test_nodes_carry_role_kind_class_and_number_of_tasks(self) -> None:
        nodes = rendered(named()).nodes
        assert [(n.id, n.role, n.kind, n.caption) for n in nodes] == [
            ("lines", Role.SPOUT, Kind.PYTHON, "spout Lines × 3"),
            ("words", Role.BOLT, Kind.PYTHON, "bolt Words × 2"),
        ]

    def test_edges_carry_stream_and_grouping_and_know_feedback(self) -> None:
        first, second = rendered(named()).edges
        assert (first.source, first.target, first.caption, first.feedback) == (
            "lines",
            "words",
            "fields(line, part)",
            False,
        )
        assert (second.source, second.target, second.caption, second.feedback) == (
            "words",
            "words",
            "retry: shuffle",
            True,
        )

    def test_what_is_subscribed_to_but_not_defined_is_drawn_too(self) -> None:
        assert [(n.id, n.kind) for n in rendered(KINDS).nodes] == [
            ("shell", Kind.SHELL),
            ("java", Kind.JAVA),
            ("__system", Kind.OUTSIDE),
        ]

    def test_a_custom_grouping_is_named_by_its_class(self) -> None:
        assert rendered(KINDS).edges[0].caption == "custom(Near)"


class TestMermaid:
    def test_a_whole_picture(self) -> None:
        assert to_mermaid(rendered(named())).splitlines() == [
            "---",
            'title: "count"',
            "---",
            "flowchart LR",
            '    n0(["lines<br/>spout Lines × 3"])',
            '    n1["words<br/>bolt Words × 2"]',
            '    n0 -->|"fields(line, part)"| n1',
            '    n1 -.->|"retry: shuffle"| n1',
        ]

    def test_each_kind_has_a_shape_of_its_own(self) -> None:
        lines = to_mermaid(rendered(KINDS)).splitlines()[4:7]
        assert [re.sub(r'".*"', "", line).strip() for line in lines] == ["n0[[]]", "n1{{}}", "n2>]"]

    @pytest.mark.slow
    @given(st.text(min_size=1, max_size=20).filter(lambda text: text != "words"))  # as the bolt is called
    def test_no_id_ends_its_quotes(self, text: str) -> None:
        node = next(line for line in to_mermaid(rendered(named(spout=text))).split("\n") if "n0([" in line)
        inner = node.strip().removeprefix('n0(["').removesuffix('"])').replace("<br/>", "")
        assert not set(inner) & set('"<>`\\')


class TestDot:
    def test_a_whole_picture(self) -> None:
        assert to_dot(rendered(named(name='say "count"'))).splitlines() == [
            'digraph "say \\"count\\"" {',
            "    rankdir=LR;",
            '    n0 [label="lines\\nspout Lines × 3", shape=ellipse];',
            '    n1 [label="words\\nbolt Words × 2", shape=box];',
            '    n0 -> n1 [label="fields(line, part)"];',
            '    n1 -> n1 [label="retry: shuffle", style=dashed, constraint=false];',
            "}",
        ]

    def test_a_backslash_at_the_end_does_not_swallow_the_quote(self) -> None:
        assert 'label="back\\\\\\nspout' in to_dot(rendered(named(spout="back\\")))


def test_json_has_the_fields_of_the_values() -> None:
    read = json.loads(to_json(rendered(named())))
    assert read["name"] == "count"
    assert read["nodes"][0] == {
        "id": "lines",
        "role": "spout",
        "kind": "Python",
        "implementation": "Lines",
        "parallelism": 3,
    }
    assert read["edges"][1]["feedback"] is True


class TestSvg:
    @pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
    def test_graphviz_draws_it(self) -> None:
        assert "<svg" in to_svg(rendered(named(spout='a "quoted" \\ id')))

    def test_without_graphviz_it_says_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", "")
        with pytest.raises(RenderError, match="apt-get install graphviz"):
            to_svg(rendered(named()))

    def test_a_failure_is_told_in_graphvizs_words(self, monkeypatch: pytest.MonkeyPatch) -> None:
        failed = subprocess.CompletedProcess(["dot"], 1, "", "syntax error\n")
        monkeypatch.setattr(shutil, "which", lambda _: "dot")
        monkeypatch.setattr(subprocess, "run", lambda *_args, **_options: failed)
        with pytest.raises(RenderError, match="dot failed with exit code 1: syntax error"):
            to_svg(rendered(named()))

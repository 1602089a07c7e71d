"""A printed topology is loaded to an equal one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from framework.frontends.flux import load_flux, read_properties, to_flux
from framework.frontends.streams import StreamBuilder
from framework.model.errors import TopologyError
from framework.model.specs import python_implementation
from framework.model.topology import (
    Bean,
    ComponentSpec,
    Grouping,
    Input,
    ObjectDef,
    Ref,
    RefList,
    Role,
    ShellImplementation,
    Stream,
    Topology,
    declared_streams,
)
from tests.framework.frontends.flux.files.src import flux_parts
from tests.framework.strategies import topologies
from tests.portions import at_every_change

EXAMPLES = sorted(path.name for path in Path(__file__).parent.glob("files/*.yaml"))
CLASSES = (flux_parts.Words, flux_parts.Split, flux_parts.Sink)


def reloaded(topology: Topology, folder: Path) -> Topology | None:
    file = folder / "printed.yaml"
    file.write_text(to_flux(topology), "utf-8")
    return load_flux(file).topology


@pytest.mark.parametrize("examples", at_every_change([8, 80], daily=True))
def test_any_topology_is_printed_and_loaded_to_an_equal_one(examples: int, tmp_path: Path) -> None:
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(topology=topologies(CLASSES))
    def check(topology: Topology) -> None:
        assert reloaded(topology, tmp_path) == topology

    check()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_printed_and_loaded_to_an_equal_topology(name: str, tmp_path: Path) -> None:
    topology = load_flux(name, substitutions=read_properties("substitution.properties")).topology
    assert topology is not None
    assert reloaded(topology, tmp_path) == topology


def test_only_what_is_not_the_default_is_printed() -> None:
    topology = Topology(
        "words",
        (
            ComponentSpec(
                "words", Role.SPOUT, python_implementation(flux_parts.Words), declared_streams(["word"])
            ),
            ComponentSpec(
                "split",
                Role.BOLT,
                python_implementation(flux_parts.Split),
                (Stream(["word"]), Stream(["a", "b"], "more", direct=True)),
                (
                    Input("words", Grouping.SHUFFLE),
                    Input("split", Grouping.fields("a"), "more"),
                    Input("words", Grouping.custom(flux_parts.FirstTask, 2)),
                ),
                parallelism=3,
                tasks=6,
                config={},
                resources={"cpuLoad": 10.0},
            ),
            ComponentSpec("ruby", Role.BOLT, ShellImplementation(("ruby", "x.rb")), (Stream(["x"]),)),
        ),
        {"topology.workers": 2, "text": "${HOME}"},
        (Bean("table", ObjectDef("org.example.Table", (Ref("other"), RefList(("a", "b"))))),),
    )
    module = flux_parts.__name__
    assert (
        to_flux(topology)
        == f"""\
name: words

config:
  topology.workers: 2
  text: $${{HOME}}

components:
  - id: table
    className: org.example.Table
    constructorArgs:
      - ref: other
      - reflist: [a, b]

spouts:
  - id: words
    className: {module}.Words

bolts:
  - id: split
    className: {module}.Split
    numTasks: 6
    cpuLoad: 10.0
    config: {{}}
    outputs:
      - fields: [word]
      - name: more
        fields: [a, b]
        direct: true
  - id: ruby
    className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt
    constructorArgs:
      - [ruby, x.rb]
      - [x]

streams:
  - from: words
    to: split
    grouping:
      type: SHUFFLE
  - from: split
    to: split
    grouping:
      type: FIELDS
      streamId: more
      args: [a]
  - from: words
    to: split
    grouping:
      type: CUSTOM
      customClass:
        className: {module}.FirstTask
        constructorArgs: [2]
"""
    )


def test_the_order_of_definition_is_kept(tmp_path: Path) -> None:
    spout = ComponentSpec("a spout", Role.SPOUT, python_implementation(flux_parts.Words), (Stream(["word"]),))
    bolt = ComponentSpec("a bolt", Role.BOLT, python_implementation(flux_parts.Sink))
    topology = Topology("mixed", (bolt, spout))
    assert "order: [a bolt, a spout]" in to_flux(topology)
    assert reloaded(topology, tmp_path) == topology


def test_what_yaml_cannot_say_is_refused() -> None:
    bolt = ComponentSpec("sink", Role.BOLT, python_implementation(flux_parts.Sink, [object]))
    message = "bolt 'sink' cannot be printed: <class 'object'> is a type, which YAML has no plain value for"
    with pytest.raises(TopologyError, match=message):
        to_flux(Topology("odd", (bolt,)))


def test_so_is_a_function_without_a_name() -> None:
    builder = StreamBuilder()
    builder.new_stream(flux_parts.Words).map(lambda word: word, name="same").print()
    with pytest.raises(TopologyError, match=r"'same' cannot be printed: .* give one of a module, which has"):
        to_flux(builder.build("odd"))

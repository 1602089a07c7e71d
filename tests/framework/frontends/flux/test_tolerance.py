"""Files that Storm loads or passes over are no error here either; a warning says what becomes of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from framework.frontends.flux import to_flux, without_idle_bolts
from framework.frontends.loading import load as load_target
from framework.model.instantiate import Beans
from framework.model.topology import JavaImplementation, Loaded, PythonImplementation
from framework.planning.validation import validate
from framework.testing import run_topology

Load = Callable[..., Loaded]

WORDS = """\
name: words
spouts:
  - id: words
    className: flux_parts.Words
bolts:
  - id: sink
    className: flux_parts.Sink
streams:
  - {from: words, to: sink, grouping: {type: SHUFFLE}}
"""


def told(loaded: Loaded) -> list[str]:
    """All problems of loading and validating, without the file's folder."""
    loaded = without_idle_bolts(loaded)
    assert loaded.topology is not None
    problems = [*loaded.problems, *validate(loaded.topology)]
    return [str(problem).rpartition("topology.yaml:")[2] for problem in problems]


def test_a_file_may_end_in_flux(tmp_path: Path) -> None:
    file = tmp_path / "words.flux"
    file.write_text(WORDS)
    loaded = load_target(str(file))
    assert loaded.problems == ()
    assert loaded.topology is not None and loaded.topology.name == "words"


def test_a_bolt_that_no_stream_leads_to_is_left_out(load: Load) -> None:
    idle = "  - id: idle\n    className: flux_parts.Sink\n"
    loaded = load(WORDS.replace("streams:", f"{idle}streams:"))
    assert told(loaded) == [
        "8: warning: bolt 'idle' has no inputs, so it is left out, as Flux does: expected a stream to it"
    ]
    made = without_idle_bolts(loaded).topology
    assert made is not None
    assert [component.id for component in made.components] == ["words", "sink"]


def test_a_stream_from_a_bolt_that_is_left_out_is_an_error(load: Load) -> None:
    """Flux makes no such bolt, and Nimbus then refuses the stream from it."""
    idle = "  - id: idle\n    className: flux_parts.Sink\n"
    stream = "  - {from: idle, to: sink, grouping: {type: SHUFFLE}}\n"
    loaded = load(WORDS.replace("streams:", f"{idle}streams:") + stream)
    assert [message.partition(": ")[2] for message in told(loaded)] == [
        "warning: bolt 'idle' has no inputs, so it is left out, as Flux does: expected a stream to it",
        "bolt 'sink', input from 'idle': unknown component 'idle': expected 'sink' or 'words'",
    ]


def test_order_may_name_a_bolt_that_is_left_out(load: Load) -> None:
    idle = "  - id: idle\n    className: flux_parts.Sink\n"
    text = WORDS.replace("streams:", f"{idle}streams:") + "order: [idle, sink, words]\n"
    loaded = without_idle_bolts(load(text))
    assert loaded.topology is not None
    assert [component.id for component in loaded.topology.components] == ["sink", "words"]
    assert [problem.warning for problem in loaded.problems] == [True]


HOLDER = """\
components:
  - id: first
    className: collections.Counter
  - id: holder
    className: flux_parts.Holder
    constructorArgs: [{reflist: [first, time2]}]
"""


def test_an_unknown_id_in_a_list_of_references_is_null(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    import flux_parts

    monkeypatch.setattr(flux_parts, "Holder", Holder, raising=False)
    loaded = load(WORDS + HOLDER)
    assert told(loaded) == [
        "15: warning: unknown component 'time2': expected 'first' or 'holder'; "
        "the list holds null in its place, as in Flux"
    ]
    assert loaded.topology is not None
    assert Beans(loaded.topology.beans).bean("holder").held == [{}, None]
    assert "- first\n" in (printed := to_flux(loaded.topology)) or "[first, time2]" in printed


def test_an_unknown_id_alone_is_an_error_as_flux_refuses_null_there(load: Load) -> None:
    loaded = load(WORDS + HOLDER.replace("{reflist: [first, time2]}", "{ref: time2}"))
    assert any(not problem.warning and "'time2'" in problem.message for problem in loaded.problems)


class Holder:
    def __init__(self, held: list[object]) -> None:
        self.held = held


def test_an_unknown_key_of_storms_is_handed_on(load: Load) -> None:
    loaded = load(WORDS + "config:\n  topology.wrokers: 2\n  topology.acme.plugin.level: high\n")
    assert told(loaded) == [
        "11: warning: configuration key 'topology.wrokers' is unknown here, only components see it; "
        "did you mean 'topology.workers'?",
        "12: warning: configuration key 'topology.acme.plugin.level' is unknown here, "
        "only components see it: `viper config show` lists all keys",
    ]


def test_a_component_sees_the_key(load: Load) -> None:
    config = "    config: {topology.acme.plugin.level: high}\n"
    loaded = load(WORDS.replace("streams:", f"{config}streams:"))
    (message,) = told(loaded)
    assert message.startswith("8: warning: component 'sink': configuration key 'topology.acme.plugin.level'")


@pytest.mark.parametrize("name", ["outer.Outer$Inner", "outer:Outer$Inner", "outer.Outer.Inner"])
def test_an_inner_class_is_named_as_in_java(name: str, load: Load, tmp_path: Path) -> None:
    (tmp_path / "outer.py").write_text(
        "from viperstorm import Bolt\n\n\nclass Outer:\n    class Inner(Bolt):\n"
        "        def process(self, tup):\n            pass\n"
    )
    loaded = load(WORDS.replace("flux_parts.Sink", f'"{name}"'))
    assert told(loaded) == []
    assert loaded.topology is not None
    implementation = loaded.topology.component("sink").implementation
    assert isinstance(implementation, PythonImplementation)
    assert implementation.definition.cls is not None
    assert implementation.definition.cls.__qualname__ == "Outer.Inner"


def test_an_inner_class_of_a_java_package_that_python_has_is_its_stand_in(load: Load, tmp_path: Path) -> None:
    package = tmp_path / "com" / "acme"
    package.mkdir(parents=True)
    (package / "windows.py").write_text(
        "from viperstorm import Bolt\n\n\nclass Outer:\n    class Inner(Bolt):\n"
        "        def process(self, tup):\n            pass\n"
    )
    loaded = load(WORDS.replace("flux_parts.Sink", '"com.acme.windows.Outer$Inner"'))
    assert told(loaded) == []


TICKED = "  - {from: __system, to: sink, grouping: {type: ALL, streamId: __tick}}\n"


def test_a_java_bolt_may_subscribe_to_ticks_that_its_own_code_asks_for(load: Load) -> None:
    loaded = load(WORDS.replace("flux_parts.Sink", "org.acme.storm.Crawler") + TICKED)
    assert told(loaded) == []
    assert loaded.topology is not None
    assert isinstance(loaded.topology.component("sink").implementation, JavaImplementation)


def test_a_python_bolt_that_nobody_ticks_is_still_told(load: Load) -> None:
    (message,) = told(load(WORDS + TICKED))
    assert "there are no ticks: set topology.tick.tuple.freq.secs" in message


@pytest.mark.parametrize("engine", ["storm", "heron"])
def test_herons_files_name_their_engine(engine: str, load: Load) -> None:
    assert told(load(f'type: "{engine}"\n{WORDS}')) == []


def test_an_unknown_engine_is_an_error_with_the_nearest(load: Load) -> None:
    assert told(load(f"type: sotrm\n{WORDS}")) == [
        "1: unknown type of a topology 'sotrm': expected 'heron' or 'storm'; did you mean 'storm'?"
    ]


def test_what_is_left_runs(tmp_path: Path) -> None:
    idle = "  - id: idle\n    className: flux_parts.Sink\n"
    file = tmp_path / "words.flux"
    file.write_text("type: storm\n" + WORDS.replace("streams:", f"{idle}streams:"))
    run = run_topology(str(file))
    assert run.emitted("words") == [("word",)]
    assert set(run.report.components) >= {"words", "sink"}
    assert "idle" not in run.report.components

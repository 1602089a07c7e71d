"""Declarations of projects, and code in their class bodies, run on workers of every kind."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from framework import TopologyBuilder
from framework.frontends.loading import load
from framework.model.errors import TopologyError
from framework.model.render import rendered, to_dot
from framework.operators.sinks import CollectingSink
from framework.planning.validation import check_runnable, validate
from framework.testing import run_topology
from tests.framework.hosting.kinds import both, everywhere
from tests.framework.runtime.workers.running import Workers

BODY = """
from {base} import Bolt, Grouping, JavaBolt, Spout, Stream, Topology
from {ids} import GlobalStreamId

class Source(Spout):
    outputs = ["n", "left"]
    rows = [[1, 3], [2, 1]]

    def next_tuple(self):
        if not self.rows:
            raise StopIteration
        self.emit(self.rows[0])
        self.rows = self.rows[1:]

class Steps(Bolt):
    outputs = [Stream(["n", "left"], name="again"), Stream(["n", "left"], name="done")]

    def process(self, tup):
        n, left = tup.values
        self.emit([n, left - 1], stream="again" if left > 1 else "done")

class Adds(Bolt):
    outputs = ["sum"]

    def initialize(self, conf, context):
        self.added = conf["added"]

    def process(self, tup):
        self.emit([tup.values[0] + self.added])
"""
CYCLE = """
class Cycle(Topology):
    source = Source.spec()
    steps = Steps.spec(
        inputs={source: Grouping.SHUFFLE, GlobalStreamId("steps", "again"): Grouping.SHUFFLE}
    )
    end = Adds.spec(inputs=[steps["done"]], config={"added": 0})
"""
DYNAMIC = """
class Dynamic(Topology):
    source = Source.spec()
    for cls in (Adds,):
        for number in (10, 20):
            locals()[f"adds{number}"] = cls.spec(inputs=[source], config={"added": number, "mine": object})
"""
JAVA = """
class Java(Topology):
    source = Source.spec()
    middle = JavaBolt.spec(
        full_class_name="org.acme.Middle", args_list=["x"], inputs=[source], outputs=["n"]
    )
    end = Adds.spec(inputs=[middle], config={"added": 0})
"""
bases = pytest.mark.parametrize("base", ["streamparse", "framework"])


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "declared.py"


def target(file: Path, base: str, topology: str) -> str:
    ids = "streamparse.thrift" if base == "streamparse" else "framework"
    file.write_text((BODY + topology).replace("{base}", base).replace("{ids}", ids))
    return file.name


def options(workers: Workers) -> dict[str, object]:
    return {key.replace("__", "."): said for key, said in workers.options.items()}


@bases
@everywhere
def test_a_cycle_runs_and_ends(workers: Workers, base: str, write: Path) -> None:
    run = run_topology(target(write, base, CYCLE), conf=options(workers))
    assert sorted(run.emitted("end")) == [(1,), (2,)]
    assert run.report.components["steps"].processed == 4


@bases
@everywhere
def test_specs_of_a_loop_have_their_own_configuration(workers: Workers, base: str, write: Path) -> None:
    found = target(write, base, DYNAMIC.replace(', "mine": object', ', "mine": {"any": [1, None]}'))
    run = run_topology(found, conf=options(workers))
    assert run.emitted("adds10") == [(11,), (12,)]
    assert run.emitted("adds20") == [(21,), (22,)]


@both
@everywhere
def test_one_class_serves_several_components(workers: Workers, base: ModuleType) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", base.Lists)
    builder.set_bolt("one", base.SaysWord, config={"my.words": ["one"]}).shuffle_grouping("source")
    builder.set_bolt("two", base.SaysWord, 2, config={"my.words": ["two"]}).all_grouping("source")
    builder.set_bolt("of all", base.SaysWord).shuffle_grouping("source")
    sink = builder.set_bolt("sink", CollectingSink)
    for name in ("one", "two", "of all"):
        sink.global_grouping(name)
    rows = workers.run(builder, rows=[[1]], my__words=["all"]).result("sink")
    assert sorted(rows) == [("all",), ("one",), ("two",), ("two",)]


@bases
def test_java_components_load_validate_and_draw_and_are_refused_to_run(base: str, write: Path) -> None:
    found = target(write, base, JAVA)
    topology = load(found).topology
    assert topology is not None
    assert validate(topology) == []
    assert "Middle" in to_dot(rendered(topology))
    (problem,) = check_runnable(topology)
    said = "bolt 'middle' is the Java class org.acme.Middle, and there is no JVM: to run the topology, put a "
    assert f"{said}Python class in its place, a bolt with the same outputs" in str(problem)
    with pytest.raises(TopologyError, match=r"Java class org\.acme\.Middle"):
        run_topology(found)

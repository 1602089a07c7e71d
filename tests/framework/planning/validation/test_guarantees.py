"""The promises to spouts, and the warning if tuples may come again to a bolt that remembers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework import Bolt, PartitionedSpout, ReliableSpout, SeekableSpout, Spout, TopologyBuilder, ValueState
from framework.model.config import resolve
from framework.model.topology import Place, SourceMap
from framework.planning.validation import guarantees, validate
from tests.framework.hosting import ported


class Plain(Spout):
    """Says nothing of itself."""

    outputs = ["word"]

    def next_tuple(self) -> None:
        raise StopIteration


class Repeating(Plain):
    """Hears what becomes of its tuples."""

    def fail(self, tup_id: Any) -> None:
        self.emit([tup_id], tup_id)


class Kept(ReliableSpout):
    """Likewise."""

    outputs = ["word"]
    next_tuple = Plain.next_tuple


class Seekable(SeekableSpout):
    """Says where it is."""

    outputs = ["word"]
    next_tuple = Plain.next_tuple


class Divided(PartitionedSpout):
    """Brings partitions."""

    outputs = ["word"]
    partitions = 1


class Forward(Bolt):
    """Remembers nothing."""

    outputs = ["word"]

    def process(self, tup: Any) -> None:
        self.emit(tup.values)


class Count(Forward):
    """Remembers."""

    outputs = ["word"]
    seen = ValueState("int64", default=0)


def told(spout: type[Spout], bolt: type[Bolt] = Count, **options: Any) -> tuple[str, list[str]]:
    """The promise to a spout, two hops before a bolt, and the warnings about it."""
    builder = TopologyBuilder()
    builder.set_spout("spout", spout)
    builder.set_bolt("forward", Forward).shuffle_grouping("spout")
    builder.set_bolt("bolt", bolt).fields_grouping("forward", "word")
    topology = builder.build("tested")
    settings, problems = resolve(
        topology, options={name.replace("__", "."): value for name, value in options.items()}
    )
    assert not problems
    (promise,) = guarantees(topology, settings)
    problems = [problem for problem in validate(topology, settings) if "ack, fail" in problem.message]
    assert all(problem.warning for problem in problems)
    return promise, [problem.message for problem in problems]


@pytest.mark.parametrize(
    ("spout", "promise"),
    [
        (Plain, "does not say where it is: it is refused"),
        (Repeating, "does not say where it is: it is refused"),
        (Seekable, "says where it is (offset, seek): with viper.recovery exact"),
        (Divided, "brings partitions: with viper.recovery exact"),
    ],
)
def test_what_is_promised(spout: type[Spout], promise: str) -> None:
    found, _ = told(spout)
    assert found.startswith(f"spout 'spout' {promise}")
    assert ("tuples with an id come at least once" in found) is (spout is Repeating)


@pytest.mark.parametrize("spout", [Repeating, Kept])
def test_tuples_may_come_again_to_a_bolt_that_remembers(spout: type[Spout]) -> None:
    _, (warning,) = told(spout)
    assert "hears what becomes of its tuples (ack, fail), and 'bolt' behind it declares state" in warning


def test_nobody_is_warned_without_need() -> None:
    assert not told(Plain)[1]
    assert not told(Seekable)[1]
    assert not told(Repeating, Forward)[1]
    assert not told(Repeating, topology__acker__executors=0)[1]


class TestAfterExceptions:
    def told(
        self, folder: Path, *classes: Any, config: dict[str, Any] | None = None, **options: Any
    ) -> list[str]:
        builder = TopologyBuilder()
        builder.config.update({name.replace("__", "."): value for name, value in options.items()})
        for number, cls in enumerate(classes):
            name, own = f"c{number}", config if number == 1 else None
            if number:
                builder.set_bolt(name, cls, config=own).shuffle_grouping("c0")
            else:
                builder.set_spout(name, cls)
        topology = builder.build("t")
        place = Place(str(folder / "topologies" / "t.py"), 1)
        topology = replace(topology, sources=SourceMap({(): place}))
        settings, _ = resolve(topology)
        return [line for line in guarantees(topology, settings) if line.startswith("an exception")]

    def test_nothing_is_said_of_a_topology_of_ours(self, tmp_path: Path) -> None:
        assert self.told(tmp_path, Plain, Forward) == []
        (tmp_path / "config.json").write_text("{}")  # of somebody else
        assert self.told(tmp_path, Plain, Forward) == []

    def test_of_a_topology_that_has_both(self, tmp_path: Path) -> None:
        expected = (
            "an exception restarts 'c0' (of streamparse), as on Storm, and ends the run in 'c1' (of "
            "viperstorm), where streamparse's class would be restarted: set viper.on.error to restart "
            "or stop to have the same of all"
        )
        assert self.told(tmp_path, ported.Lists, Forward) == [expected]
        assert self.told(tmp_path, ported.Lists, Forward, viper__on__error="restart") == []
        assert self.told(tmp_path, ported.Lists, Forward, config={"viper.on.error": "stop"}) == []
        assert self.told(tmp_path, ported.Lists, ported.Passes) == []

    def test_of_a_streamparse_project_whose_imports_were_changed(self, tmp_path: Path) -> None:
        (tmp_path / "config.json").write_text('{"topology_specs": "topologies/", "envs": {"prod": {}}}')
        [line] = self.told(tmp_path, Plain, Forward)
        assert line.startswith("an exception ends the run in 'c0', 'c1' (of viperstorm), where streamparse's")

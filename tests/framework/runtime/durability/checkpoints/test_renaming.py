"""Components and states that have other names continue with what their old names remembered."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framework import Bolt, ListState, TopologyBuilder, ValueState
from framework.cli import main
from framework.model.errors import CheckpointError, ComponentError
from framework.operators.sinks import CollectingSink, JsonLinesSink, SqliteSink
from framework.runtime import Run, RunOptions, RunReport
from framework.runtime.durability.state import saving
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended, suspending
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import plan_of, run_built
from tests.framework.runtime.workers.running import Workers, every_kind

COUNT = 200


class Old(Bolt):
    """Emits how often a key has come, and the last numbers."""

    outputs = ["told"]
    seen = ValueState("int64", default=0)
    last = ListState("int64")

    def process(self, tup: Any) -> None:
        self.emit([(tup.values.key, self.seen.add(1), list(self.last.get()))])
        self.last.add(tup.values.number)


class New(Bolt):
    """As `Old`, with other names of the states."""

    outputs = ["told"]
    total = ValueState("int64", default=0)
    numbers = ListState("int64")

    def process(self, tup: Any) -> None:
        self.emit([(tup.values.key, self.total.add(1), list(self.numbers.get()))])
        self.numbers.add(tup.values.number)


class Exchanged(Bolt):
    """As `Old`, but each state has the name of the other."""

    outputs = ["told"]
    last = ValueState("int64", default=0)
    seen = ListState("int64")

    def process(self, tup: Any) -> None:
        self.emit([(tup.values.key, self.last.add(1), list(self.seen.get()))])
        self.seen.add(tup.values.number)


def built(
    spout: Partitions, bolt: type[Bolt] = Old, source: str = "source", ids: tuple[str, str] = ("one", "two")
) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout(source, spout)
    for id in ids:
        builder.set_bolt(id, bolt, 2).fields_grouping(source, "key")
        builder.set_bolt(f"rows of {id}", CollectingSink).global_grouping(id)
    return builder


ROWS = {"rows of one": "rows of tally", "rows of two": "rows of two"}
NAMES = {"one": "tally", "rows of one": "rows of tally"}
STATES = {f"{old}.{s}": f"{new}.{n}" for old, new in (("one", "tally"), ("two", "two"))
          for s, n in (("seen", "total"), ("last", "numbers"))}  # fmt: skip


@pytest.fixture(scope="module")
def whole() -> dict[str, Any]:
    return dict(run_built(built(Partitions(4, COUNT, 1))).results)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, RunReport]:
    folder = tmp_path_factory.mktemp("kept")
    return folder, run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), COUNT // 2)), folder)


def checkpoint(kept: tuple[Path, RunReport]) -> Path:
    written = kept[1].checkpoint
    assert written is not None
    return Path(written.path)


def go_on(kept: tuple[Path, RunReport], builder: TopologyBuilder, rename: dict[str, str]) -> RunReport:
    return run_built(builder, {"start": checkpoint(kept), "rename": rename})


def rest(whole: dict[str, Any], kept: tuple[Path, RunReport]) -> dict[str, Any]:
    """List the rows that are still to come, by the old names of the sinks."""
    return {name: whole[name][0][len(rows[0]) :] for name, rows in kept[1].results.items()}


class TestGoingOn:
    @pytest.mark.few(2)
    @every_kind
    def test_components_spouts_and_states(
        self, workers: Workers, whole: dict[str, Any], kept: tuple[Path, RunReport]
    ) -> None:
        builder = built(Partitions(4, COUNT, 1), New, "numbers", ("tally", "two"))
        rename = {**NAMES, **STATES, "source": "numbers"}
        report = workers.run(builder, {"start": checkpoint(kept), "rename": rename})
        assert {old: report.result(new) for old, new in ROWS.items()} == rest(whole, kept)

    def test_names_that_are_exchanged(self, whole: dict[str, Any], kept: tuple[Path, RunReport]) -> None:
        rename = {"one": "two", "two": "one"}
        rename |= {f"{id}.seen": f"{other}.last" for id, other in rename.items()}
        rename |= {f"{id}.last": f"{other}.seen" for id, other in (("one", "two"), ("two", "one"))}
        report = go_on(kept, built(Partitions(4, COUNT, 1), Exchanged), rename)
        assert {name: report.result(name) for name in ROWS} == rest(whole, kept)

    def test_a_name_that_is_lost_shows(
        self, whole: dict[str, Any], kept: tuple[Path, RunReport], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The checks above can fail: what is not loaded under its new name shows."""
        every = saving.states_in
        monkeypatch.setattr(saving, "states_in", lambda told: [s for s in every(told) if s.state != "total"])
        builder = built(Partitions(4, COUNT, 1), New, "source", ("tally", "two"))
        report = go_on(kept, builder, {**NAMES, **STATES})
        assert {old: report.result(new) for old, new in ROWS.items()} != rest(whole, kept)

    def test_the_next_checkpoint_has_the_new_names(
        self, whole: dict[str, Any], kept: tuple[Path, RunReport], tmp_path: Path
    ) -> None:
        spout = Suspending(4, COUNT, 1, os.getpid(), 3 * COUNT // 4)
        again = built(spout, New, "source", ("tally", "two"))
        names = {**NAMES, **STATES}
        run = Run(*plan_of(again), RunOptions(checkpoints=tmp_path, start=checkpoint(kept), rename=names))
        with suspending(run) as refused:
            second = run.execute()
        assert not refused
        last = built(Partitions(4, COUNT, 1), New, "source", ("tally", "two"))
        third = run_built(last, {"start": tmp_path})
        found = {old: second.result(new) + third.result(new) for old, new in ROWS.items()}
        assert found == rest(whole, kept)


def staged(
    spout: Partitions, folder: Path, ids: tuple[str, str] = ("table", "file"), tables: int = 2
) -> TopologyBuilder:
    """Rows that go to a table and to a file."""
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    table = SqliteSink(str(folder / "rows.db"), "rows", ["partition", "number"])
    builder.set_bolt(ids[0], table, tables).fields_grouping("source", "key")
    builder.set_bolt(ids[1], JsonLinesSink(str(folder / "rows.jsonl"))).global_grouping("source")
    return builder


def rows_in(folder: Path) -> tuple[list[Any], bytes]:
    with sqlite3.connect(folder / "rows.db") as database:
        found = sorted(database.execute("select * from rows"))
        parts = {part for (part,) in database.execute("select part from viperstorm_applied")}
    database.close()
    assert all("/archive/" in part for part in parts) or not parts
    return found, (folder / "rows.jsonl").read_bytes()


class Stopped(Exception):
    """Ends a run in the middle of what a sink does."""


class TestSinks:
    """Each row is applied once, though a sink has another name in the middle."""

    @pytest.fixture
    def whole(self, tmp_path: Path) -> tuple[list[Any], bytes]:
        (tmp_path / "whole").mkdir()
        run_built(staged(Partitions(4, COUNT, 1), tmp_path / "whole", ("archive", "lines")))
        return rows_in(tmp_path / "whole")

    @pytest.mark.parametrize("tables", [1, 2, 3])
    def test_each_row_is_applied_once(
        self, tmp_path: Path, whole: tuple[list[Any], bytes], tables: int
    ) -> None:
        run_suspended(staged(Suspending(4, COUNT, 1, os.getpid(), 70), tmp_path), tmp_path / "kept")
        self.go_on(tmp_path, tables)
        assert rows_in(tmp_path) == whole

    @pytest.mark.parametrize("method", ["apply", "forget"])
    def test_killed_while_it_takes_the_new_name(
        self, tmp_path: Path, whole: tuple[list[Any], bytes], monkeypatch: pytest.MonkeyPatch, method: str
    ) -> None:
        run_suspended(staged(Suspending(4, COUNT, 1, os.getpid(), 70), tmp_path), tmp_path / "kept")

        def stop(*_: Any) -> None:
            raise Stopped

        with monkeypatch.context() as patch:
            patch.setattr(SqliteSink, method, stop)
            with pytest.raises(ComponentError, match="Stopped"):
                self.go_on(tmp_path, 2)
        self.go_on(tmp_path, 2)
        assert rows_in(tmp_path) == whole

    def go_on(self, folder: Path, tables: int) -> None:
        builder = staged(Partitions(4, COUNT, 1), folder, ("archive", "lines"), tables)
        run_built(builder, {"start": folder / "kept", "rename": {"table": "archive", "file": "lines"}})


class Both(Bolt):
    """Declares a state by an old name and by a new one."""

    outputs = ["told"]
    seen = ValueState("int64", default=0)
    total = ValueState("int64", default=0)
    last = ListState("int64")

    def process(self, tup: Any) -> None:
        self.emit([self.seen.value + self.total.value])


class TestRefusals:
    @pytest.mark.parametrize(
        ("bolt", "ids", "rename", "told"),
        [
            (Old, ("one", "two"), {"on": "one"}, r"on=one: unknown name 'on': .*did you mean 'one'"),
            (Old, ("one", "two"), {"one.sen": "one.last"}, r"unknown name 'one.sen': .*'one.seen'"),
            (Old, ("tally", "two"), {"one": "taly"}, r"one=taly: unknown component 'taly'.*mean 'tally'"),
            (Old, ("two",), {"one": "two"}, r"two components would be 'two': give each another id"),
            (Old, ("one", "two"), {"one": "two"}, "the topology still has 'one', which would begin again"),
            (New, ("one", "two"), {"one.seen": "one.totl"}, r"unknown state 'totl': .*mean 'total'"),
            (New, ("one", "two"), {"one.seen": "two.total"}, r"stays with its component: .*'one.total'"),
            (Both, ("one", "two"), {"one.seen": "one.total"}, "'one' still declares 'seen', which"),
            (New, ("one", "two"), dict.fromkeys(["one.seen", "one.last"], "one.numbers"), "two states would"),
        ],
    )
    def test_names_that_cannot_be(
        self,
        kept: tuple[Path, RunReport],
        bolt: type[Bolt],
        ids: tuple[str, str],
        rename: dict[str, str],
        told: str,
    ) -> None:
        with pytest.raises(CheckpointError, match=rf"with new names: .*{told}"):
            go_on(kept, built(Partitions(4, COUNT, 1), bolt, "source", ids), rename)

    def test_without_a_word_the_missing_name_says_what_to_do(self, kept: tuple[Path, RunReport]) -> None:
        with pytest.raises(CheckpointError, match=r"'one' is missing: .*--rename one=NEW"):
            go_on(kept, built(Partitions(4, COUNT, 1), Old, "source", ("tally", "two")), {})

    def test_a_transactional_sink_that_takes_the_id_of_another(self, tmp_path: Path) -> None:
        run_suspended(staged(Suspending(4, COUNT, 1, os.getpid(), 50), tmp_path), tmp_path / "kept")
        with pytest.raises(CheckpointError, match=r"'file' was another component's; give it an id that was"):
            run_built(
                staged(Partitions(4, COUNT, 1), tmp_path, ("file", "table")),
                {"start": tmp_path / "kept", "rename": {"file": "table", "table": "file"}},
            )

    def test_without_a_checkpoint(self, tmp_path: Path) -> None:
        for start in ({}, {"start": tmp_path / "report.json"}):
            with pytest.raises(CheckpointError, match="one cannot be renamed: only what a checkpoint holds"):
                run_built(built(Partitions(4, COUNT, 1)), {"rename": {"one": "two"}, **start})


class TestCommand:
    def viper(self, *arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, prog_name="viper")

    @pytest.mark.parametrize(
        ("values", "told"),
        [
            (["one"], "'one': expected OLD=NEW, as count=tally"),
            (["=one"], "'=one': expected OLD=NEW"),
            (["one=two", "one=three"], "'one' is renamed twice, to 'two' and 'three'"),
        ],
    )
    def test_what_is_no_pair_of_names(self, values: list[str], told: str) -> None:
        found = self.viper("run", "none.py", *[word for value in values for word in ("--rename", value)])
        assert found.exit_code == 2 and told in " ".join(found.stderr.split())

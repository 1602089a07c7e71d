"""``viper state`` tells what checkpoints hold."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from framework import Bolt, Count, MapState, TopologyBuilder, Tuple, TupleWindow, WindowedBolt
from framework.cli import main
from framework.cli.exit_codes import ExitCode
from framework.operators.sinks import CollectingSink
from framework.operators.windows.state import told
from framework.runtime.durability.checkpoints.states import Unreadable
from tests.framework.runtime.durability.checkpoints.suspended import Suspending, run_suspended
from tests.framework.runtime.durability.checkpoints.test_states import built
from tests.framework.runtime.partitioned import Row, expected_rows

COUNT = 300
STATES = ["chain", "last", "both", "most", "numbers", "partitions"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two checkpoints of one run: after the first, 61 keys are known."""
    made = tmp_path_factory.mktemp("checkpoints")
    run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), 100), 2, 2), made)
    run_suspended(built(Suspending(4, COUNT, 1, os.getpid(), 200), 2, 2), made, start=made)
    return made


def viper(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["state", *map(str, arguments)], prog_name="viper")


def processed(folder: Path, number: int) -> list[Row]:
    """The rows that come before a checkpoint, as its state of the task tells."""
    (told,) = exported(folder / f"checkpoint-{number:06}", "total.count of task 0")
    return expected_rows(4, COUNT, 1)[: told["value"]]


def exported(path: Path, name: str) -> list[dict[str, Any]]:
    found = viper("export", path, name)
    assert found.exit_code == ExitCode.OK, found.output
    return [json.loads(line) for line in found.stdout.splitlines()]


def test_the_list_tells_checkpoints_and_states(folder: Path) -> None:
    told = json.loads(viper("ls", folder, "--json").stdout)
    assert [one["checkpoint"] for one in told["checkpoints"]] == [1, 2]
    names = [f"remember.{name}" for name in STATES]
    assert [state["state"] for state in told["states"]] == [*names, "total.count of task 0"]
    assert {state["keys"] for state in told["states"][:-1]} == {10}
    one = json.loads(viper("ls", folder / "checkpoint-000001", "--json").stdout)
    assert [found["checkpoint"] for found in one["checkpoints"]] == [1]
    lines = viper("ls", folder).stdout.splitlines()
    assert lines[0].split() == ["checkpoint", "topology", "taken", "at", "keys", "bytes"]
    assert lines[5].split()[:5] == ["remember.chain", "value", "int64", "10", "780"]


def test_values_of_every_kind_are_those_of_the_rows_before(folder: Path) -> None:
    before = processed(folder, 1)
    assert 0 < len(before) < len(expected_rows(4, COUNT, 1))
    for key, rows in {key: [row for row in before if row[2] == key] for key in range(10)}.items():
        found = {
            name: next(
                row["value"] for row in exported(folder / "checkpoint-000001", name) if row["key"] == key
            )
            for name in (f"remember.{state}" for state in STATES)
        }
        assert found["remember.last"] == {"number": rows[-1][1], "of": [rows[-1][0]]}
        assert found["remember.both"] == {"count": len(rows), "name": rows[-1][0]}
        assert found["remember.most"] == max(number for _, number, _ in rows)
        assert found["remember.numbers"][-3:] == [number for _, number, _ in rows][-3:]
        assert found["remember.partitions"] == {partition: number for partition, number, _ in rows}


def test_a_key_is_shown(folder: Path) -> None:
    (row,) = json.loads(viper("show", folder, "remember.chain", "--key", "4", "--json").stdout)
    assert row["key"] == 4
    shown = viper("show", folder, "remember.chain", "--limit", "3")
    assert len(shown.stdout.splitlines()) == 4
    assert shown.stderr == "there are more than 3 keys: see --limit, or viper state export\n"


def test_an_unknown_state_is_refused(folder: Path) -> None:
    found = viper("show", folder, "remember.chian")
    assert found.exit_code == ExitCode.USAGE
    assert "unknown state 'remember.chian'" in found.stderr and "remember.chain" in found.stderr


def test_an_export_to_a_file(folder: Path, tmp_path: Path) -> None:
    viper("export", folder, "remember.most", "-O", tmp_path / "most.jsonl")
    written = (tmp_path / "most.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in written] == exported(folder, "remember.most")


def test_what_differs_is_counted(folder: Path) -> None:
    first, second = (folder / f"checkpoint-{number:06}" for number in (1, 2))
    same = viper("diff", first, first, "--json")
    assert same.exit_code == ExitCode.OK and all(one["first"] is None for one in json.loads(same.stdout))
    found = viper("diff", first, second, "--json")
    assert found.exit_code == ExitCode.FAILED
    both = next(one for one in json.loads(found.stdout) if one["state"] == "remember.both")
    assert (both["equal"], both["changed"], both["only_a"], both["only_b"]) == (0, 10, 0, 0)
    old, new = both["first"]["a"], both["first"]["b"]
    assert old["count"] < new["count"]
    assert viper("diff", first, second).stdout.splitlines()[0].split()[:3] == ["state", "equal", "changed"]


def test_a_value_whose_class_is_gone_is_told_apart() -> None:
    assert Unreadable(b"abc") == Unreadable(b"abc") != Unreadable(b"abd")
    assert repr(Unreadable(b"abc")) == "<pickled, 3 bytes>"


class LastTen(WindowedBolt):
    """Emits how many tuples each window has."""

    outputs = ["length"]

    def process_window(self, window: TupleWindow) -> None:
        self.emit([len(window)])


def test_windows_are_shown_tuple_by_tuple(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Suspending(4, COUNT, 1, os.getpid(), 100))
    builder.set_bolt("windows", LastTen().with_window(Count(10), Count(3))).global_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("windows")
    run_suspended(builder, tmp_path)
    first, *rest = exported(tmp_path, "windows.window_contents of task 0")
    assert first["key"] == "marks"
    marks = first["value"]
    assert 100 <= marks["count"] < len(expected_rows(4, COUNT, 1))
    assert marks["done"] == marks["count"] // 3 * 3
    assert [row["key"] for row in rest] == list(range(marks["first"], marks["count"]))
    rows = [list(row) for row in expected_rows(4, COUNT, 1)[marks["first"] : marks["count"]]]
    assert [row["value"]["values"] for row in rest] == rows
    assert {(row["value"]["component"], row["value"]["stream"]) for row in rest} == {("source", "default")}
    times = [row["value"]["time_us"] for row in rest]
    assert times == sorted(times)


class Pairs(Bolt):
    """Remembers by a key that is a tuple, and in a map whose keys are."""

    outputs: list[str] = []
    counts = MapState()

    def process(self, tup: Tuple) -> None:
        self.counts.put(tup.values.pair, tup.values.number)


class Paired(Bolt):
    """Emits rows with a value that is a tuple."""

    outputs = ["pair", "number"]

    def process(self, tup: Tuple) -> None:
        self.emit([(tup.values.number % 2, "a"), tup.values.number])


def test_keys_that_are_tuples_are_shown(tmp_path: Path) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Suspending(4, COUNT, 1, os.getpid(), 100))
    builder.set_bolt("paired", Paired).global_grouping("source")
    builder.set_bolt("pairs", Pairs, 2).fields_grouping("paired", ["pair"])
    run_suspended(builder, tmp_path)
    rows = sorted(exported(tmp_path, "pairs.counts"), key=lambda row: str(row["key"]))
    assert [(row["key"], list(row["value"])) for row in rows] == [([n, "a"], [f'[{n}, "a"]']) for n in (0, 1)]
    (shown,) = json.loads(viper("show", tmp_path, "pairs.counts", "--key", '[0, "a"]', "--json").stdout)
    assert shown == rows[0]
    assert viper("diff", tmp_path, tmp_path).exit_code == ExitCode.OK


def test_windows_that_cannot_be_read_are_shown_as_they_are() -> None:
    unreadable = Unreadable(b"tuples")
    assert list(told({"marks": unreadable, 5: unreadable})) == [("marks", unreadable), (5, unreadable)]

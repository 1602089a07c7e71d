"""docs/connectors.md: its examples run one after the other, and have the results that it shows."""

from __future__ import annotations

import gzip
import re
import sqlite3
from pathlib import Path

import pytest

from framework import sinks, sources
from framework.api import run
from framework.frontends.streams import StreamBuilder
from framework.model.errors import ViperError
from framework.operators.sinks.staging import has_rows
from framework.operators.sources import CsvSource

TEXT = (Path(__file__).parents[4] / "docs" / "connectors.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


def rows(database: str, table: str) -> list[tuple[object, ...]]:
    connected = sqlite3.connect(database)
    found = connected.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
    connected.close()
    return found


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (sales,), examples = blocks("csv"), blocks("python")
    Path("sales.csv").write_text(sales)
    assert len(examples) == 5
    for example in examples:
        exec(compile(example, "docs/connectors.md", "exec"), {"__name__": "example"})
    (shown,) = blocks("rows")
    found = "".join(f"{item} {cents}\n" for item, cents in rows("takings.db", "takings"))
    assert found == shown


def test_the_yaml_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sales.csv").write_text(*blocks("csv"))
    Path("takings.yaml").write_text(*blocks("yaml"))
    run("takings.yaml")
    assert len(rows("sales.db", "sales")) == 4


def test_the_errors_are_as_they_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.csv").write_text("item,cents\ntea,250\ncake,free\n")
    with pytest.raises(ViperError) as raised:
        list(CsvSource("broken.csv", types={"cents": "int64"}).blocks(0, None))
    Path("SALES.CSV.GZ").write_bytes(gzip.compress(b"item,cents\n"))
    with pytest.raises(ViperError) as refused:
        CsvSource("SALES.CSV.GZ")
    assert [f"{raised.value}\n", f"{refused.value}\n"] == blocks("error")


def test_every_source_and_sink_is_named() -> None:
    names = [*sources.__all__, *sinks.__all__]
    bases = {"FileSource", "FileSink", "Sink", "Row", "CollectingSink", "ConsoleSink", "CountingSink"}
    assert [name for name in names if name not in bases and f"`{name}(" not in TEXT] == ["TransactionalSink"]
    assert "(TransactionalSink)" in TEXT


def test_folders_beside_a_target_stay_only_behind_runs_with_checkpoints(tmp_path: Path) -> None:
    def names(checkpoints: Path | None) -> list[str]:
        builder = StreamBuilder()
        sales = builder.new_stream(CsvSource(str(tmp_path / "sales.csv")))
        sales.to(sinks.SqliteSink(str(tmp_path / "out.db"), "sales"), name="table")
        sales.to(sinks.JsonLinesSink(str(tmp_path / "out.jsonl")), name="file")
        run(builder.build("beside"), checkpoints=checkpoints)
        return sorted(path.name for path in tmp_path.glob(".out*"))

    (tmp_path / "sales.csv").write_text(*blocks("csv"), "utf-8")
    assert names(None) == []
    kept = [".out.db.staged", ".out.jsonl.applied", ".out.jsonl.staged"]
    assert names(tmp_path / "checkpoints") == kept
    folders = [folder for name in kept for folder in (tmp_path / name).glob("*")]
    assert len(folders) == 2
    assert not any(has_rows(folder) for folder in folders)
    assert all(f"`{name.replace('.out.jsonl', '.late.jsonl')}" in TEXT for name in kept)

"""Rows that stand in for a source with event times have such times, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from framework import StreamBuilder
from framework.frontends.streams import Tumbling
from framework.model.errors import TopologyError
from framework.operators.sources import CsvSource
from framework.testing import run_topology


def counted(folder: Path, **options: object) -> StreamBuilder:
    """Counts the rows of each item in each minute, read from a file with nothing in it."""
    (folder / "rows.csv").write_text("at,item\n2024-05-31T08:00:00Z,none\n")
    builder = StreamBuilder()
    rows = builder.new_stream(CsvSource(str(folder / "rows.csv"), timestamp="at", **options), name="rows")  # type: ignore[arg-type]
    rows.key_by("item").window(Tumbling("1m")).count(name="counted")
    return builder


def test_windows_end_by_the_times_of_given_rows(tmp_path: Path) -> None:
    rows = [["1970-01-01T00:00:59Z", "tea"], ["1970-01-01T00:00:00Z", "tea"], ["1970-01-01T00:01:00Z", "tea"]]
    run = run_topology(counted(tmp_path), inputs={"rows": rows})
    assert run.emitted("counted") == [("tea", 2), ("tea", 1)]
    assert run.emitted("rows") == [tuple(rows[index]) for index in (1, 0, 2)]


def test_a_stream_of_malformed_rows_can_be_given(tmp_path: Path) -> None:
    streams = {"default": [["1970-01-01T00:00:59Z", "tea"]], "malformed": [["x.csv", 3, "cake", "why"]]}
    run = run_topology(counted(tmp_path, on_malformed="stream"), inputs={"rows": streams})
    assert run.emitted("counted") == [("tea", 1)]
    assert run.emitted("rows", "malformed") == [("x.csv", 3, "cake", "why")]


@pytest.mark.parametrize("row", [["noon", "tea"], []])
def test_a_row_without_a_time_is_refused(row: list[str], tmp_path: Path) -> None:
    value = row[0] if row else None
    with pytest.raises(TopologyError, match=f"row 2 of 'rows': 'at' is {value!r}: expected"):
        run_topology(counted(tmp_path), inputs={"rows": [["1970-01-01T00:00:59Z", "tea"], row]})


def test_no_row_leads_to_no_window(tmp_path: Path) -> None:
    assert run_topology(counted(tmp_path), inputs={"rows": []}).emitted("counted") == []

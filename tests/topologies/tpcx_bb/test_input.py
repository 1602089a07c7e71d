"""The input of TPCx-BB's queries, and the files with their topologies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from framework.planning.validation import validate
from tests.framework.runtime.workers.running import INLINE
from tests.topologies.test_stretch import topology
from tests.topologies.tpcx_bb.cases import (
    QUERIES,
    SEED,
    TABLES,
    TOPOLOGIES,
    answered,
    part,
    source_of,
    written,
)


@pytest.mark.parametrize("table", ["clicks", "sales"])
def test_a_seed_draws_the_same_rows_in_the_order_of_time(table: str) -> None:
    draw, columns = part("tpcx_bb.generator").TABLES[table]
    rows = list(draw(3_000, SEED))
    assert rows == list(draw(3_000, SEED)) != list(draw(3_000, SEED + 1))
    assert rows[:1_000] != list(draw(1_000, SEED)) and len(rows) == 3_000
    assert {len(row) for row in rows} == {len(columns)}
    assert [row[0] for row in rows] == list(range(3_000))
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    assert all(row[1] == row[2] * 86_400 + row[3] for row in rows)


@pytest.mark.parametrize("table", ["clicks", "sales"])
def test_rows_are_spread_over_the_days(table: str) -> None:
    draw, _ = part("tpcx_bb.generator").TABLES[table]
    rows = list(draw(5_000, SEED, days=20.0))
    assert (rows[-1][1] - rows[0][1]) / 86_400 == pytest.approx(20, abs=3)


def test_a_store_sells_on_each_day_of_the_year() -> None:
    generator = part("tpcx_bb.generator")
    rows = generator.sales(60_000, days=370.0)
    assert {row[2] for row in rows if row[6] == 10} >= set(range(11_567, 11_933))


def test_skew_takes_rows_to_few_users_and_items() -> None:
    """The first of a hundred has a hundredth of them without, and a fifth by Zipf's law."""
    generator = part("tpcx_bb.generator")
    for skew, share in ((0.0, 0.01), (1.0, 0.193)):
        rows = list(generator.clicks(20_000, SEED, users=100, items=100, skew=skew, asked=0.0))
        items = [row[5] for row in rows if row[5] is not None]
        assert items.count(generator.FIRST_ITEM) / len(items) == pytest.approx(share, abs=0.01)
        users = [row[7] for row in rows if row[7] is not None]
        assert users.count(1) / len(users) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize("injectors", [1, 2, 3])
@pytest.mark.parametrize("query", ["q1", "q3"])
def test_a_spout_brings_the_rows_of_the_file(query: str, injectors: int, tmp_path: Path) -> None:
    """Query 3 depends on the order of clicks within a second."""
    draw, _ = part("tpcx_bb.generator").TABLES[TABLES[query]]
    given = {"days": 3.0 if query == "q3" else 0.04}
    path = written(tmp_path, query, draw(4_000, SEED, **given))
    spouts = part("tpcx_bb.spouts")
    spout = getattr(spouts, TABLES[query].capitalize())(4_000, SEED, injectors, given)
    expected = answered(query, source_of(query, path), INLINE)
    assert expected and answered(query, spout, INLINE) == expected


def test_rows_before_a_time_are_left_out() -> None:
    spout = part("tpcx_bb.spouts").Sales(2_000, SEED)
    times = [time for block in spout.blocks(0, None) for time in block.times]
    start_us = times[1_000]
    assert [time for block in spout.blocks(0, start_us) for time in block.times] == [
        time for time in times if time >= start_us
    ]


@pytest.mark.parametrize("table", ["clicks", "sales"])
def test_the_command_writes_a_file(table: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "rows.parquet"
    command = [sys.executable, str(TOPOLOGIES / "tpcx_bb" / "generator.py"), table, str(path)]
    subprocess.run([*command, "--rows=500", "--seed=7", "--days=2"], check=True, timeout=100)
    draw, columns = part("tpcx_bb.generator").TABLES[table]
    read = pq.read_table(path)
    assert read.column_names == list(columns)
    rows = list(zip(*(column.to_pylist() for column in read.columns), strict=True))
    assert rows == list(draw(500, 7, days=2.0))


@pytest.mark.parametrize("query", QUERIES)
def test_the_yaml_is_the_same_topology(query: str) -> None:
    found: Any = topology(f"tpcx_bb_{query}.yaml")
    built = getattr(part("tpcx_bb_builder"), query)().build(f"tpcx-bb-{query}")
    assert validate(found) == [] == validate(built)
    assert found.name == built.name
    for component in built.components:
        other = found.component(component.id)
        assert other.inputs == component.inputs and other.parallelism == component.parallelism
        given, own = other.implementation.definition, component.implementation.definition
        assert given.class_name.rsplit(".", 1)[1] == own.class_name.rsplit(".", 1)[1]

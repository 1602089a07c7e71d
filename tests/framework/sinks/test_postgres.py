"""A table of PostgreSQL, where there is one: VIPER_TEST_POSTGRES names a database that may be written to.

VIPER_TEST_POSTGRES=postgresql+psycopg://user@host/database python -m pytest tests/framework/sinks
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from framework.errors import ComponentError, SinkError
from framework.sinks import SqlAlchemySink
from framework.sinks.table_sink import NUMBERS
from tests.framework.runtime.workers.running import PROCESSES
from tests.framework.sinks.driven import begun, rows_between
from tests.framework.sinks.test_runs import COUNT, into

URL = os.environ.get("VIPER_TEST_POSTGRES", "")
pytestmark = pytest.mark.skipif(not URL, reason="VIPER_TEST_POSTGRES names no database")


@pytest.fixture
def engine() -> Iterator[sa.Engine]:
    engine = sa.create_engine(URL)
    with engine.begin() as connection:
        for table in ("viper_rows", "viper_last", NUMBERS):
            connection.execute(sa.text(f"DROP TABLE IF EXISTS {table}"))
        connection.execute(sa.text("CREATE TABLE viper_rows (word text, n integer CHECK (n < 2000))"))
        connection.execute(sa.text("CREATE TABLE viper_last (word text PRIMARY KEY, n integer)"))
    yield engine
    engine.dispose()


def held(engine: sa.Engine, table: str) -> list[Any]:
    with engine.connect() as connection:
        return sorted(tuple(row) for row in connection.execute(sa.text(f"SELECT word, n FROM {table}")))


@pytest.mark.parametrize(("table", "key"), [("viper_rows", None), ("viper_last", "word")])
def test_three_processes_write_into_one_table(
    table: str, key: str | None, engine: sa.Engine, tmp_path: Path
) -> None:
    sink = SqlAlchemySink(URL, table, key=key, staging=str(tmp_path / "staged"))
    PROCESSES.run(into(sink, 3), viper__sink__apply__rows=100)
    expected = rows_between(COUNT - 7, COUNT) if key else rows_between(0, COUNT)
    assert held(engine, table) == sorted(expected)


def test_checkpoints(engine: sa.Engine, tmp_path: Path) -> None:
    def sink() -> Any:
        return begun(SqlAlchemySink(URL, "viper_rows", staging=str(tmp_path / "staged")))

    first = sink()
    first.resume(None)
    for epoch in (1, 2):
        first.consume(rows_between(epoch * 10 - 10, epoch * 10))
        first.cut(epoch)
    first.complete(1)
    first.complete(1)
    first.close()
    second = sink()
    second.resume(2)
    assert held(engine, "viper_rows") == sorted(rows_between(0, 20))
    second.consume([("late", 2001)])
    second.cut(3)
    with pytest.raises(SinkError, match=r"violates check constraint.*nothing of the transaction was applied"):
        second.complete(3)
    second.close()
    third = sink()
    with pytest.raises(
        SinkError, match="checkpoint 2 have been applied, and the run goes on from checkpoint 1"
    ):
        third.resume(1)
    third.close()
    assert held(engine, "viper_rows") == sorted(rows_between(0, 20))


def test_a_database_that_is_not_there(tmp_path: Path) -> None:
    url = sa.make_url(URL).set(database="viper_none")
    sink = SqlAlchemySink(url.render_as_string(hide_password=False), "t", staging=str(tmp_path / "staged"))
    with pytest.raises(ComponentError, match=r'in initialize: SinkError: .*"viper_none" does not exist'):
        PROCESSES.run(into(sink))

"""A table of PostgreSQL, where there is one: VIPER_TEST_POSTGRES names a database that may be written to.

VIPER_TEST_POSTGRES=postgresql+psycopg://user@host/database python -m pytest tests/framework/operators/sinks
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from framework.model.errors import ComponentError, SinkError
from framework.operators.sinks import SqlAlchemySink
from framework.operators.sinks.table_sink import NUMBERS
from tests.framework.operators.sinks.driven import begun, rows_between
from tests.framework.operators.sinks.test_runs import COUNT, into
from tests.framework.runtime.workers.running import PROCESSES

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


def refusal(engine: sa.Engine, folder: Path, *statements: str, key: str | None = None) -> str:
    """The refusal of a table that these statements make; empty if it is taken."""
    with engine.begin() as connection:
        for statement in ("DROP TABLE IF EXISTS viper_other", *statements):
            connection.execute(sa.text(statement))
    try:
        begun(SqlAlchemySink(URL, "viper_other", key=key, staging=str(folder))).close()
    except SinkError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ("word text", r"has no column 'n', only 'word': .*ALTER TABLE viper_other ADD COLUMN n TYPE"),
        ("word text, n int, more text NOT NULL", r"ALTER TABLE viper_other ALTER COLUMN more DROP NOT NULL"),
        ("word text, n int, id int PRIMARY KEY", r"a value of its column 'id' .* emit a field of that name$"),
        ("word text, n int, id serial PRIMARY KEY", ""),
        ("word text, n int, id int GENERATED ALWAYS AS IDENTITY", ""),
        ("word text, n int, more text NOT NULL DEFAULT 'x'", ""),
        ("word text, n int GENERATED ALWAYS AS (length(word)) STORED", r"computes its column .n. itself: "),
    ],
)
def test_a_table_with_other_columns(engine: sa.Engine, tmp_path: Path, columns: str, told: str) -> None:
    found = refusal(engine, tmp_path, f"CREATE TABLE viper_other ({columns})")
    assert re.search(told, found) if told else not found


def test_a_trigger_may_bring_a_value(engine: sa.Engine, tmp_path: Path) -> None:
    body = "BEGIN NEW.more = 'x'; RETURN NEW; END"
    assert not refusal(
        engine,
        tmp_path,
        "CREATE TABLE viper_other (word text, n int, more text NOT NULL)",
        f"CREATE OR REPLACE FUNCTION viper_more() RETURNS trigger AS $${body}$$ LANGUAGE plpgsql",
        "CREATE TRIGGER more BEFORE INSERT ON viper_other FOR EACH ROW EXECUTE FUNCTION viper_more()",
    )


@pytest.mark.parametrize(
    ("index", "is_key"),
    [
        ("(word)", True),
        ("(word) INCLUDE (n)", True),
        ("(word) WHERE n > 0", False),
        ("(lower(word))", False),
        ("(word, n)", False),
    ],
)
def test_an_index_that_makes_a_key(engine: sa.Engine, tmp_path: Path, index: str, is_key: bool) -> None:
    table = "CREATE TABLE viper_other (word text, n int)"
    found = refusal(engine, tmp_path, table, f"CREATE UNIQUE INDEX ON viper_other {index}", key="word")
    assert ("CREATE UNIQUE INDEX viper_other_word ON viper_other (word)" in found) is not is_key

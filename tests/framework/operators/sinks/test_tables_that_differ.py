"""Tables and files that are there, with other columns than the sink writes: messages say what to do."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from framework import Spout, TopologyBuilder, run
from framework.model.errors import ComponentError, SinkError
from framework.operators.sinks import CsvSink, SqlAlchemySink, SqliteSink, TransactionalSink
from tests.framework.operators.sinks.driven import begun

Make = Callable[..., TransactionalSink]


def _sqlite(folder: Path, **options: Any) -> TransactionalSink:
    return SqliteSink(str(folder / "out.db"), "t", **options)


def _sqlalchemy(folder: Path, **options: Any) -> TransactionalSink:
    return SqlAlchemySink(f"sqlite:///{folder / 'out.db'}", "t", staging=str(folder / "staging"), **options)


BOTH = pytest.mark.parametrize("make", [_sqlite, _sqlalchemy], ids=["SqliteSink", "SqlAlchemySink"])


def execute(folder: Path, *statements: str) -> list[Any]:
    database = sqlite3.connect(folder / "out.db")
    found = [row for statement in statements for row in database.execute(statement).fetchall()]
    database.commit()
    database.close()
    return found


def refusal(sink: TransactionalSink) -> str:
    with pytest.raises(SinkError) as refused:
        begun(sink)
    return str(refused.value)


def statement_in(message: str) -> str:
    """The statement that a message gives, with a type in the place of the word for one."""
    return message[message.index("(") + 1 :].partition(")")[0].replace(" TYPE", " INTEGER")


def written(sink: TransactionalSink, rows: Sequence[tuple[Any, ...]]) -> None:
    sink = begun(sink, eager=True)
    sink.resume(None)
    sink.consume(rows)
    sink.cut(1)
    sink.complete(1)
    sink.close()


@BOTH
def test_a_missing_column_comes_with_the_statement_that_adds_it(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT)", "INSERT INTO t VALUES ('before')")
    told = refusal(make(tmp_path))
    assert "table 't' has no column 'n', only 'word': add what is missing (ALTER TABLE " in told
    assert told.endswith("), or leave out the field: columns=['word']")
    execute(tmp_path, statement_in(told))
    written(make(tmp_path), [("a", 1)])
    assert execute(tmp_path, "SELECT word, n FROM t") == [("before", None), ("a", 1)]


@BOTH
def test_the_option_that_a_message_names_leaves_the_field_out(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT)")
    written(make(tmp_path, columns=["word"]), [("a", 1)])
    assert execute(tmp_path, "SELECT * FROM t") == [("a",)]


@BOTH
def test_all_missing_columns_are_told_at_once(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (other TEXT)")
    told = refusal(make(tmp_path))
    assert "has no columns 'word', 'n', only 'other'" in told
    assert told.count("ALTER TABLE") == 2 and "leave out" not in told
    for statement in statement_in(told).split("; "):
        execute(tmp_path, statement)
    written(make(tmp_path), [("a", 1)])
    assert execute(tmp_path, "SELECT other, word, n FROM t") == [(None, "a", 1)]


@BOTH
def test_a_column_of_the_key_cannot_be_left_out(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT)")
    assert "leave out" not in refusal(make(tmp_path, key="n"))


def test_names_that_want_quotes_have_them(tmp_path: Path) -> None:
    sink = SqliteSink(str(tmp_path / "out.db"), 'my "t"', ["word", "n"])
    execute(tmp_path, 'CREATE TABLE "my ""t""" (word)')
    told = refusal(sink)
    assert 'ALTER TABLE "my ""t""" ADD COLUMN "n"' in told


def test_sqlite_knows_no_case_of_names(tmp_path: Path) -> None:
    """SQLite itself takes the row, and would refuse to add a column whose name differs in case alone."""
    execute(tmp_path, "CREATE TABLE t (Word TEXT PRIMARY KEY, N INTEGER)")
    written(_sqlite(tmp_path, key="word"), [("a", 1), ("a", 2)])
    assert execute(tmp_path, "SELECT * FROM t") == [("a", 2)]


def test_a_name_in_another_case_is_no_missing_column(tmp_path: Path) -> None:
    execute(tmp_path, "CREATE TABLE t (Word TEXT, n INTEGER)")
    told = refusal(_sqlalchemy(tmp_path))
    assert "has no column 'word', only 'Word', 'n'; for 'word' name the field 'Word': write them as" in told
    assert "ALTER" not in told


@BOTH
def test_the_order_of_columns_does_not_matter(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (n INTEGER, word TEXT)")
    written(make(tmp_path), [("a", 1)])
    assert execute(tmp_path, "SELECT word, n FROM t") == [("a", 1)]


@BOTH
@pytest.mark.parametrize(
    "column",
    ["more TEXT", "more TEXT NOT NULL DEFAULT 'x'", "more INTEGER PRIMARY KEY", "more AS (n + 1)"],
)
def test_more_columns_that_need_no_value(tmp_path: Path, make: Make, column: str) -> None:
    execute(tmp_path, f"CREATE TABLE t (word TEXT, n INTEGER, {column})")
    written(make(tmp_path), [("a", 1)])
    assert execute(tmp_path, "SELECT word, n FROM t") == [("a", 1)]


@BOTH
def test_more_columns_that_need_a_value_are_refused_before_the_run(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT, n INTEGER, more TEXT NOT NULL)")
    assert refusal(make(tmp_path)).endswith(
        "table 't' wants a value of its column 'more' (NOT NULL, without a DEFAULT), and the sink writes "
        "'word', 'n' alone: emit a field of that name, or make the table again with a DEFAULT for it, as "
        "SQLite cannot change that of a column"
    )


@BOTH
def test_a_computed_column_is_refused(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT, n INTEGER AS (length(word)))")
    told = refusal(make(tmp_path))
    assert told.endswith("table 't' computes its column 'n' itself: leave out the field: columns=['word']")
    written(make(tmp_path, columns=["word"]), [("abc", 1)])
    assert execute(tmp_path, "SELECT * FROM t") == [("abc", 3)]


def test_a_view_is_refused(tmp_path: Path) -> None:
    execute(tmp_path, "CREATE TABLE u (word, n)", "CREATE VIEW t AS SELECT * FROM u")
    assert "cannot modify t because it is a view" in refusal(_sqlite(tmp_path))


@BOTH
def test_a_key_without_an_index_comes_with_the_statement_that_makes_one(tmp_path: Path, make: Make) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT, n INTEGER)")
    told = refusal(make(tmp_path, key=["word", "n"]))
    assert "has no primary key or unique index on (word, n): make one (CREATE UNIQUE INDEX " in told
    statement = told[told.index("CREATE") : told.index(", or leave out key")].removesuffix(")") + ")"
    execute(tmp_path, statement.replace("))", ")"))
    written(make(tmp_path, key=["word", "n"]), [("a", 1), ("a", 1)])
    assert execute(tmp_path, "SELECT * FROM t") == [("a", 1)]


@BOTH
@pytest.mark.parametrize(
    "table",
    [
        ["CREATE TABLE t (word TEXT PRIMARY KEY, n INTEGER)"],
        ["CREATE TABLE t (word TEXT UNIQUE, n INTEGER)"],
        ["CREATE TABLE t (word TEXT, n INTEGER)", "CREATE UNIQUE INDEX i ON t (word)"],
    ],
    ids=["primary key", "unique", "index"],
)
def test_a_key_with_an_index(tmp_path: Path, make: Make, table: Sequence[str]) -> None:
    execute(tmp_path, *table)
    written(make(tmp_path, key="word"), [("a", 1), ("a", 2)])
    assert execute(tmp_path, "SELECT * FROM t") == [("a", 2)]


@BOTH
@pytest.mark.parametrize("index", ["(word, n)", "(n)", "(word) WHERE n > 0"])
def test_an_index_that_makes_no_key(tmp_path: Path, make: Make, index: str) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT, n INTEGER)", f"CREATE UNIQUE INDEX i ON t {index}")
    assert "has no primary key or unique index on (word)" in refusal(make(tmp_path, key="word"))


def test_a_table_that_is_not_there_comes_with_the_statement_that_makes_it(tmp_path: Path) -> None:
    told = refusal(_sqlalchemy(tmp_path, key="word"))
    assert told.endswith(
        "has no table 't': create it first (CREATE TABLE t (word TYPE, n TYPE, PRIMARY KEY (word)))"
    )


@BOTH
def test_rows_that_were_staged_for_a_column_come_with_the_statement_that_adds_it(
    tmp_path: Path, make: Make
) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT, n INTEGER CHECK (n < 10))")
    sink = begun(make(tmp_path), eager=True)
    sink.resume(None)
    sink.consume([("a", 11)])
    sink.cut(1)
    with pytest.raises(SinkError, match="CHECK"):
        sink.complete(1)
    sink.close()
    execute(tmp_path, "DROP TABLE t", "CREATE TABLE t (word TEXT)")
    again = begun(make(tmp_path, columns=["word"]), eager=True)
    with pytest.raises(SinkError, match="which rows were staged for") as refused:
        again.resume(None)
    again.close()
    execute(tmp_path, statement_in(str(refused.value)))
    written(make(tmp_path, columns=["word"]), [("b", 1)])
    assert execute(tmp_path, "SELECT word, n FROM t") == [("a", 11), ("b", None)]


class Rows(Spout):
    outputs = ["word", "n"]

    def tuples(self) -> Any:
        yield ["a", 1]


def test_a_run_ends_before_a_row_is_taken(tmp_path: Path) -> None:
    execute(tmp_path, "CREATE TABLE t (word TEXT)")
    builder = TopologyBuilder()
    builder.set_spout("rows", Rows)
    builder.set_bolt("sink", _sqlite(tmp_path)).global_grouping("rows")
    with pytest.raises(ComponentError, match=r"ALTER TABLE .t. ADD COLUMN .n.\), or leave out the field"):
        run(builder)
    assert execute(tmp_path, "SELECT * FROM t") == []


# -- other databases, whose statements are compared without one


def test_a_schema_is_a_name_of_its_own() -> None:
    sink = SqlAlchemySink("sqlite://", "shop.my table", ["word", "n"], key="word")
    sink._engine = sa.create_engine("sqlite://")
    sink.choose({"source->stream->fields": {"rows": {"default": ["word", "n"]}}})
    assert sink._creation() == 'CREATE TABLE shop."my table" (word TYPE, n TYPE, PRIMARY KEY (word))'
    assert sink._additions(["n"]) == 'ALTER TABLE shop."my table" ADD COLUMN n TYPE'


# -- files that grow


@pytest.mark.parametrize(
    ("before", "option"),
    [
        (b"word\n", " (columns=['word'])"),
        (b"n,word\n", " (columns=['n', 'word'])"),
        (b"word;n\n", " (columns=['word', 'n'], delimiter=';')"),
        (b"word,more\n", ""),
        (b"a,1\n", ""),
    ],
)
def test_a_file_that_grows_names_the_option_that_goes_on(tmp_path: Path, before: bytes, option: str) -> None:
    path = tmp_path / "out.csv"
    path.write_bytes(before)
    told = refusal(CsvSink(str(path), grow=True))
    assert told == (
        f"{path} begins with {before!r}, expected b'word,n\\n': write the same columns as before, in the "
        f"same order{option}, or name another file"
    )
    if option:
        arguments = eval(f"dict({option.strip(' ()')})")
        written(CsvSink(str(path), grow=True, **arguments), [("a", 1)])
        assert path.read_bytes().startswith(before) and len(path.read_bytes().splitlines()) == 2


def test_a_file_without_names_is_refused_if_its_records_have_another_number_of_values(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text('"a\nb",1,2\n')
    assert refusal(CsvSink(str(path), header=False, grow=True)) == (
        f"{path} begins with a record of 3 values, ['a\\nb', '1', '2'], and the sink would write 2, of "
        "['word', 'n']: name as many (columns=[...]), or another file"
    )


@pytest.mark.parametrize("before", ["", "a,1\n", '"a,b",1\n'])
def test_a_file_without_names_that_fits_goes_on(tmp_path: Path, before: str) -> None:
    path = tmp_path / "out.csv"
    path.write_text(before)
    written(CsvSink(str(path), header=False, grow=True), [("z", 9)])
    assert path.read_text() == f"{before}z,9\n"

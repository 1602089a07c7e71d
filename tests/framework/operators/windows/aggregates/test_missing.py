"""Windows of files with empty cells: as a plain loop and pandas have them, however parallel."""

from __future__ import annotations

import statistics
from pathlib import Path
from random import Random
from typing import Any

import pytest

from framework.api import run
from framework.frontends.streams import Sliding, StreamBuilder, Tumbling
from framework.operators.sinks import CollectingSink
from framework.operators.sources import CsvSource
from framework.operators.windows.aggregates import Aggregates, Count, Max, Mean, Min, Sum, TopK, Variance

Row = tuple[int, str, int | None]
FIGURES = Aggregates(
    rows=Count(),
    total=Sum("cents"),
    least=Min("cents"),
    most=Max("cents"),
    mean=Mean("cents"),
    spread=Variance("cents", sample=True),
    top=TopK("cents", 2),
)


def made(path: Path) -> list[Row]:
    random, rows = Random(7), list[Row]()
    for number in range(400):
        item = random.choice(("tea", "cake", "bread", "none"))
        cents = None if item == "none" or not random.randrange(3) else random.randrange(-50, 500)
        rows.append((number, item, cents))
    cells = (f"{at},{item},{'' if cents is None else cents}\n" for at, item, cents in rows)
    path.write_text("at,item,cents\n" + "".join(cells), "utf-8")
    return rows


def figures(values: list[int | None]) -> tuple[Any, ...]:
    known = [value for value in values if value is not None]
    return (
        len(values),
        sum(known),
        min(known, default=None),
        max(known, default=None),
        sum(known) / len(known) if known else None,
        pytest.approx(statistics.variance(known)) if len(known) > 1 else None,
        sorted(known, reverse=True)[:2],
    )


def found(path: Path, form: Any, typed: bool, par: int) -> list[tuple[Any, ...]]:
    builder = StreamBuilder()
    types = {"at": "int64", "cents": "int64"}
    source = CsvSource(str(path), types=types, typed=typed, timestamp="at", unit="s")
    windows = builder.new_stream(source).key_by("item").window(form)
    windows.aggregate(FIGURES, bounds=True, par=par).to(CollectingSink, name="sink")
    return run(builder).result("sink")


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("form", [Tumbling("50s"), Sliding("60s", "20s")], ids=repr)
def test_empty_cells_are_left_out_as_by_a_plain_loop(form: Any, typed: bool, tmp_path: Path) -> None:
    rows = made(tmp_path / "sales.csv")
    alone = found(tmp_path / "sales.csv", form, typed, 1)
    assert {row[0] for row in alone} == {"tea", "cake", "bread", "none"}
    for key, start, end, *results in alone:
        values = [cents for at, item, cents in rows if item == key and start <= at * 1_000_000 < end]
        assert tuple(results) == figures(values), (key, start)
    assert repr(found(tmp_path / "sales.csv", form, typed, 3)) == repr(alone)


def test_pandas_says_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    path = tmp_path / "sales.csv"
    made(path)
    frame = pandas.read_csv(path, dtype={"cents": "Int64"}, keep_default_na=False, na_values={"cents": [""]})
    expected = {}
    for item, cents in frame.groupby("item")["cents"]:
        values = cents.sum(), cents.min(), cents.max(), cents.mean(), cents.var()
        expected[item] = [None if pandas.isna(value) else value for value in values]
    for key, _, _, rows, *results, top in found(path, Tumbling("1h"), False, 2):
        assert rows == (frame["item"] == key).sum()
        assert results == [None if e is None else pytest.approx(e) for e in expected.pop(key)]
        assert top == frame.loc[frame["item"] == key, "cents"].dropna().nlargest(2).tolist()
    assert not expected

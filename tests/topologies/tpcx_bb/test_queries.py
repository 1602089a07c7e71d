"""TPCx-BB's queries as pipelines give SQL's answers, row for row, however parallel a run is."""

from __future__ import annotations

from itertools import product

import pytest

from tests.framework.runtime.workers.running import INLINE, Workers
from tests.portions import at_every_change
from tests.topologies.brisk.cases import sizes
from tests.topologies.tpcx_bb.cases import QUERIES, Files, answered, comparable, of_sqlite, source_of


def matrix() -> list[tuple[str, Workers, int]]:
    """Queries, workers and numbers of tasks; the first have each query once, and begin on processes."""
    kinds = (Workers("process", 2), Workers("thread", 3), INLINE, Workers("thread", 2), Workers("process", 3))
    ways = list(product(kinds, (2, 1, 3)))
    step = 4  # has no divisor in common with the number of ways
    return [
        (query, *ways[(turn + step * place) % len(ways)])
        for turn in range(len(ways))
        for place, query in enumerate(QUERIES)
    ]


@pytest.mark.parametrize("query", QUERIES)
def test_the_answers_are_those_of_sql(files: Files, query: str) -> None:
    expected = of_sqlite(query, files[query])
    found = answered(query, source_of(query, files[query]), INLINE)
    assert comparable(query, found) == expected


@pytest.mark.few(1)
@pytest.mark.parametrize(("query", "workers", "tasks"), at_every_change(matrix(), len(QUERIES)), ids=str)
def test_they_are_the_same_for_any_tasks_and_workers(
    few: Files, query: str, workers: Workers, tasks: int
) -> None:
    """In the same order, too, where SQL says none."""
    options = sizes(f"{query} {workers} {tasks}")
    print(options)
    serial = answered(query, source_of(query, few[query]), INLINE, 1)
    found = answered(query, source_of(query, few[query]), workers, tasks, options=options)
    assert found == serial and comparable(query, serial) == of_sqlite(query, few[query])

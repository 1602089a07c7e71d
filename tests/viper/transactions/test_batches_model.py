"""Drawn batches, whose blocks are said once for many rows, against plain Python row by row."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.viper.transactions.batch_world import Batches
from tests.viper.transactions.programs import ELEMENTS, KEYS, SPECS, programs, say
from tests.viper.transactions.reference import Program, Reference
from viper.transactions.recorder import RowResults

CATCH = settings(max_examples=3000, phases=[Phase.generate], report_multiple_bugs=False, print_blob=False)


class Column(list[Any]):
    """One value for each row that a block is for."""


def widened(draw: Any, value: Any, rows: int, choices: list[Any]) -> Any:
    """The value, or one of some for each row."""
    if draw(st.booleans()):
        return value
    return Column(draw(st.sampled_from([value, *choices])) for _ in range(rows))


def wide_expression(draw: Any, expression: Any, rows: int) -> Any:
    if isinstance(expression, bool):
        return widened(draw, expression, rows, [True, False])
    if isinstance(expression, int):
        return widened(draw, expression, rows, [0, 5, -(2**63)])
    if isinstance(expression, float):
        return widened(draw, expression, rows, [0.5, -2.0])
    if isinstance(expression, tuple) and expression[0] != "value":
        return (expression[0], *(wide_expression(draw, operand, rows) for operand in expression[1:]))
    return expression


def wide_program(draw: Any, program: Program, rows: int) -> Program:
    made: Program = []
    for name, *rest in program:
        if name == "require":
            made.append((name, wide_expression(draw, rest[0], rows), rest[1]))
            continue
        at = 1 if name in ("exists", "delete", "put", "put_if_absent") else 2
        rest[at] = widened(draw, rest[at], rows, KEYS[rest[0]])
        if name in ("insert", "discard", "has"):
            rest[3] = widened(draw, rest[3], rows, ELEMENTS)
        elif name in ("put", "put_if_absent"):
            rest[2] = {column: wide_expression(draw, value, rows) for column, value in rest[2].items()}
        elif at == 2 and rest[3] is not None:
            rest[3] = wide_expression(draw, rest[3], rows)
        made.append((name, *rest))
    return made


def of_row(value: Any, row: int) -> Any:
    if isinstance(value, Column):
        return value[row]
    if isinstance(value, tuple):
        return tuple(of_row(one, row) for one in value)
    return {key: of_row(one, row) for key, one in value.items()} if isinstance(value, dict) else value


@st.composite
def batches(draw: Any) -> tuple[int, list[tuple[Any, Program]]]:
    count = draw(st.integers(0, 5))
    blocks = []
    for _ in range(draw(st.integers(0, 3))):
        where = draw(st.one_of(st.none(), st.lists(st.booleans(), min_size=count, max_size=count)))
        rows = count if where is None else sum(where)
        blocks.append((where, wide_program(draw, draw(programs(most=5)), rows)))
    return count, blocks


def expected(reference: Reference, count: int, blocks: list[tuple[Any, Program]]) -> list[Any]:
    """Compute the result of each transaction in order: its row, block, values and reason."""
    found, numbers = [], [0] * len(blocks)
    for row in range(count):
        for block, (where, program) in enumerate(blocks):
            if where is None or where[row]:
                values, reason = reference.run([of_row(one, numbers[block]) for one in program])
                found.append((row, block, values, reason))
                numbers[block] += 1
    return found


def check_taken(results: RowResults, wanted: list[Any], handles: list[list[Any]], first: int) -> None:
    assert list(results.aborted) == [int(reason is not None) for *_, reason in wanted]
    assert [results.reason(index) for index in range(len(results))] == [reason for *_, reason in wanted]
    assert list(results.rows) == [row - first for row, *_ in wanted]
    for block, of_block in enumerate(handles):
        mine = [values for _, number, values, _ in wanted if number == block]
        for place, handle in enumerate(of_block):
            column = results[handle]
            kind = float if column.format == "d" else int
            assert repr(list(column)) == repr([values[place] if values else kind(0) for values in mine])


def check(drawn: Any, takes: list[int], kills: bool, log_bytes: int, order: Any = expected) -> None:
    task, reference = Batches(log_bytes), Reference(SPECS)
    handles: list[list[Any]] = []
    for run in range(2 if kills else 1):  # the first one is killed when all was published
        first, handles = 0, []
        if run:
            task.begin()
        for count, blocks in drawn:
            task.recorder.start_rows(count)
            for where, program in blocks:
                with task.recorder.begin_rows(where) as t:
                    handles.append(say(t, program))
            task.place(count, first)
            first += count
    wanted = [order(reference, count, blocks) for count, blocks in drawn]
    first = 0
    for (count, blocks), of_batch in zip(drawn, wanted, strict=True):
        taken = 0
        while taken < count:
            while not (ready := task.evaluate()):
                task.recorder.release()
                task.tell(sum(count for count, _ in drawn))
            rows = min(ready, count - taken, takes.pop() if takes else count)
            results = task.recorder.take_rows(rows)
            part = [one for one in of_batch if taken <= one[0] < taken + rows]
            check_taken(results, part, handles[: len(blocks)], taken)
            taken += rows
        handles = handles[len(blocks) :]
    for table in task.world.tables:
        assert repr(list(table.rows())) == repr(reference.sorted_rows(table.spec.table_name))


DRAWN: dict[str, Any] = {
    "drawn": st.lists(batches(), max_size=3),
    "takes": st.lists(st.integers(1, 3), max_size=4),
    "kills": st.booleans(),
    "log_bytes": st.sampled_from([8192, 1 << 20]),
}


@settings(max_examples=150)
@given(**DRAWN)
def test_drawn(**drawn: Any) -> None:
    check(**drawn)


@pytest.mark.slow
@settings(max_examples=3000)
@given(**DRAWN)
def test_drawn_at_length(**drawn: Any) -> None:
    check(**drawn)


def block_by_block(reference: Reference, count: int, blocks: list[tuple[Any, Program]]) -> list[Any]:
    found = []
    for block, (where, program) in enumerate(blocks):
        rows = [row for row in range(count) if where is None or where[row]]
        for number, row in enumerate(rows):
            values, reason = reference.run([of_row(one, number) for one in program])
            found.append((row, block, values, reason))
    return sorted(found, key=lambda one: one[:2])


def test_another_order_is_caught() -> None:
    @CATCH
    @given(**DRAWN)
    def attempt(**drawn: Any) -> None:
        check(**drawn, order=block_by_block)

    with pytest.raises(AssertionError):
        attempt()

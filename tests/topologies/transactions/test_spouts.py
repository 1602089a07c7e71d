"""The spouts of the transactional applications: tuples and columns are the same events."""

from __future__ import annotations

from typing import Any

import pytest

from tests.topologies.transactions.cases import PARAMETERS, SPOUTS, part

EVENTS = 9_000
NAMES = tuple(SPOUTS)


def spout_of(name: str, form: str, injectors: int, **options: Any) -> Any:
    made = getattr(part(f"transactions.{form}"), SPOUTS[name])
    return made(EVENTS, 5, injectors, dict(PARAMETERS[name]), **options)


def brought(spout: Any, injector: int, start_us: int | None = None) -> list[Any]:
    """The events of an injector with their times."""
    found = []
    for block in spout.blocks(injector, start_us):
        rows = block.rows if isinstance(block.rows, list) else map(frozen, block.rows.to_pylist())
        found += zip(block.times, rows, strict=True)
    return found


def frozen(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in row.values())


@pytest.mark.few(2)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("injectors", [1, 3])
def test_both_forms_bring_all_events_at_their_times(generators: Any, name: str, injectors: int) -> None:
    whole = list(generators.APPLICATIONS[name](5, **PARAMETERS[name]).tuples(EVENTS))
    for form in ("spouts", "columns"):
        spout = spout_of(name, form, injectors)
        assert spout.partitions == injectors and spout.rows_total == EVENTS
        parts = [brought(spout, injector) for injector in range(injectors)]
        assert sorted(row for rows in parts for row in rows) == list(enumerate(whole))
        assert all(times == sorted(times) for times in ([time for time, _ in rows] for rows in parts))


@pytest.mark.parametrize("form", ["spouts", "columns"])
@pytest.mark.parametrize("name", NAMES)
def test_a_part_is_brought_and_held_like_the_whole(name: str, form: str) -> None:
    whole = brought(spout_of(name, form, 2), 1)
    later = brought(spout_of(name, form, 2), 1, 5_000)
    assert later == [row for row in whole if row[0] >= 5_000] and len(later) == 2_000
    held = spout_of(name, form, 2, held=True)
    held.initialize({}, {})
    assert brought(held, 1) == whole


@pytest.mark.parametrize("name", NAMES)
def test_other_data_has_another_name(name: str) -> None:
    given = [(100, 1, 1, {}), (101, 1, 1, {}), (100, 2, 1, {}), (100, 1, 1, dict(PARAMETERS[name]))]
    made = [getattr(part("transactions.spouts"), SPOUTS[name])(*each).identity for each in given]
    assert len(set(made)) == len(given)

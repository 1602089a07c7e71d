"""The benchmark of changes finds the first tuples of new owners, and runs as its users run it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest

from tests.benchmarks.conftest import Run, number
from viper.hashing import group_of_hash, groups_of_task, stable_hash

Load = Callable[[str], ModuleType]


def test_the_first_tuple_of_a_new_owner_counts_from_the_command(load_module: Load) -> None:
    bench = load_module("reconfiguring")
    owners = bench.owners_among(2), bench.owners_among(3)
    assert len(owners[0]) == len(owners[1]) == bench.GROUPS
    assert owners[1][groups_of_task(2, 3, bench.GROUPS)[0]] == 2
    groups = [group_of_hash(stable_hash(key), bench.GROUPS) for key in range(100)]
    stays = next(key for key, group in enumerate(groups) if owners[0][group] == owners[1][group])
    goes = next(key for key, group in enumerate(groups) if owners[1][group] == 2)
    before, task = owners[0][groups[goes]], owners[0][groups[stays]]
    rows = [(5, goes, 2), (11, goes, before), (12, stays, task), (13, goes, before), (17, goes, 2)]
    at_ns, keys, tasks = zip(*((1_000_000 * at, key, of) for at, key, of in rows), strict=True)

    assert bench.first_by_new_owners([(10_000_000, 2, 3)], keys, tasks, at_ns) == [7]
    with pytest.raises(AssertionError, match="no new owner"):
        bench.first_by_new_owners([(18_000_000, 2, 3)], keys, tasks, at_ns)


@pytest.mark.slow
@pytest.mark.parametrize("place", ["processes", "threads"])
def test_a_line_with_changes_and_one_without(run_script: Run, place: str) -> None:
    brief = ["--keys=500", "--bytes=100", "--changes=4", "--every=0.1", "--rates", "2000"]

    without, with_changes = run_script("reconfiguring.py", "--place", place, *brief)

    assert without[:5] == [place, "2,000", "0", "-", "-"] and with_changes[:3] == [place, "2,000", "4"]
    taken, late = map(number, with_changes[3:5]), map(number, with_changes[5:])
    for ordered in (list(taken), list(late)):
        assert ordered == sorted(ordered) and 0 < ordered[-1] < 10_000


@pytest.mark.slow
def test_a_line_with_state_and_one_without_for_each_backlog(run_script: Run) -> None:
    brief = ["--keys=500", "--bytes=100", "--changes=2", "--every=0.1", "--count=20000", "--place=processes"]

    state, stateless = run_script("reconfiguring.py", "--backlog", "1024", *brief)

    assert state[:3] == ["processes", "1,024", "state"] and stateless[2] == "stateless"
    assert all(0 < number(cell) < 10_000 for cell in (*state[3:5], *stateless[3:5]))

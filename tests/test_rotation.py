"""The environment chooses the samples; without it they are always the same."""

from __future__ import annotations

import pytest

from tests import rotation


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in (rotation.DETERMINISM, rotation.SCHEDULES, rotation.SLOW_TESTS):
        monkeypatch.delenv(variable, raising=False)


def test_without_a_choice_the_samples_are_always_the_same() -> None:
    assert rotation.seeds_of_this_run() == "DETERMINISM_SEED=1 SCHEDULES=0:1000 SLOW_TESTS=0/1"


def test_what_is_told_chooses_the_same_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETERMINISM_SEED", "77")
    monkeypatch.setenv("SCHEDULES", "200:400")
    assert (rotation.determinism_seed(), rotation.schedules()) == (77, range(200, 400))
    monkeypatch.setenv("SLOW_TESTS", "2/3")
    assert rotation.seeds_of_this_run() == "DETERMINISM_SEED=77 SCHEDULES=200:400 SLOW_TESTS=2/3"


def test_a_seed_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DETERMINISM_SEED", "x")
    with pytest.raises(ValueError, match="DETERMINISM_SEED='x': expected a number"):
        rotation.determinism_seed()


@pytest.mark.parametrize("text", ["", "200", "a:b", "1:2:3"])
def test_schedules_that_are_no_range(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDULES", text)
    with pytest.raises(ValueError, match=f"SCHEDULES='{text}': expected two numbers with a colon between"):
        rotation.schedules()


@pytest.mark.parametrize("text", ["5:5", "9:3", "-1:3"])
def test_schedules_of_which_there_are_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCHEDULES", text)
    with pytest.raises(ValueError, match="expected a first number from 0 on, and a larger one behind it"):
        rotation.schedules()


def test_each_slow_test_is_due_in_one_portion(monkeypatch: pytest.MonkeyPatch) -> None:
    tests = [f"tests/test_file.py::test_{number}" for number in range(300)]
    due: list[str] = []
    for number in range(3):
        monkeypatch.setenv("SLOW_TESTS", f"{number}/3")
        mine = [test for test in tests if rotation.is_due(test)]
        assert len(mine) > 50
        due += mine
    assert sorted(due) == sorted(tests)


@pytest.mark.parametrize("text", ["", "1", "a/b", "1/2/3"])
def test_a_portion_that_is_none(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOW_TESTS", text)
    with pytest.raises(ValueError, match=f"SLOW_TESTS='{text}': expected two numbers with a slash between"):
        rotation.portion_of_slow_tests()


@pytest.mark.parametrize("text", ["3/3", "-1/3", "0/0"])
def test_a_portion_that_there_is_not(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLOW_TESTS", text)
    with pytest.raises(ValueError, match="expected a number from 0 on, and a larger one behind it"):
        rotation.portion_of_slow_tests()

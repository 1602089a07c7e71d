"""The same error is logged a few times, then counted, and nothing is lost of the count."""

from __future__ import annotations

import logging
import random

import pytest

from framework.operators.log.repetition import Counting, Limits, key_of
from framework.runtime.workers.messages import Forwarding
from tests.framework.operators.log.records import Clock, Kept, raised, record

LIMITS = Limits(interval_s=10, most=5)


class Stage:
    """The stage, with a clock of its own."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self.clock, self.kept = Clock(), Kept()
        self.counting = Counting(self.kept, limits, self.clock)

    def log(self, times: int, **options: object) -> None:
        for _ in range(times):
            self.counting.handle(record(**options))  # type: ignore[arg-type]

    def at(self, seconds: float) -> None:
        """The time comes, and what is due then is told."""
        self.clock.now_s = 1000.0 + seconds
        self.counting.tell_due()

    def told(self) -> list[str]:
        """The messages since the last time."""
        messages = self.kept.messages
        self.kept.records.clear()
        return messages


@pytest.fixture
def stage() -> Stage:
    return Stage()


def test_the_first_few_are_logged_fully_and_the_others_counted(stage: Stage) -> None:
    stage.log(5 + 3214)
    assert stage.told() == ["trouble"] * 5
    stage.at(9.9)
    assert stage.told() == []
    stage.at(10)
    assert stage.told() == ["trouble ... repeated 3,214 times in 10 s"]


def test_what_goes_on_is_told_once_in_an_interval(stage: Stage) -> None:
    stage.log(6)
    stage.at(10)
    stage.told()
    stage.log(20)
    assert stage.told() == []
    stage.at(20)
    assert stage.told() == ["trouble ... repeated 20 times in 10 s"]


def test_what_comes_again_after_a_quiet_interval_is_logged_fully_again(stage: Stage) -> None:
    stage.log(6)
    stage.at(10)
    stage.at(20)
    stage.told()
    stage.log(1)
    assert stage.told() == ["trouble"]


def test_a_few_are_never_counted(stage: Stage) -> None:
    stage.log(5)
    stage.at(10)
    stage.log(5)
    stage.counting.finish()
    assert stage.told() == ["trouble"] * 10


def test_the_end_leaves_nothing_untold(stage: Stage) -> None:
    stage.log(7)
    stage.clock.now_s += 2.5
    stage.counting.finish()
    assert stage.told()[5:] == ["trouble ... repeated 2 times in 2.5 s"]
    stage.counting.finish()
    assert stage.told() == []


def test_what_is_due_is_told_before_what_comes_then(stage: Stage) -> None:
    stage.log(6)
    stage.told()
    stage.clock.now_s += 10
    stage.log(1, message="something else")
    assert stage.told() == ["trouble ... repeated 1 times in 10 s", "something else"]


def test_without_an_interval_everything_is_logged() -> None:
    stage = Stage(Limits(interval_s=0, most=5))
    stage.log(100)
    assert stage.told() == ["trouble"] * 100


def test_what_is_no_trouble_is_always_logged(stage: Stage) -> None:
    stage.log(100, level=logging.INFO)
    assert len(stage.told()) == 100


def test_the_end_of_an_interval_is_told_although_nothing_is_logged_then() -> None:
    stage = Stage(Limits(interval_s=0.01, most=1))
    stage.log(2)
    stage.clock.now_s += 1.0
    while (timer := stage.counting._timer) is not None:
        timer.join()
    assert stage.told() == ["trouble", "trouble ... repeated 1 times in 1.0 s"]


def test_no_count_is_lost_and_no_key_kept(stage: Stage) -> None:
    seed = 7
    print("seed", seed)
    draw, logged = random.Random(seed), 0
    for second in range(300):
        stage.at(second)
        for _ in range(draw.choice((0, 0, 1, 30))):
            logged += 1
            stage.log(1, line=draw.randrange(4))
    stage.counting.finish()
    assert logged == sum(getattr(kept, "viper_repeated", 1) for kept in stage.kept.records)
    assert stage.counting._repetition._seen == {}


class TestWhatIsTheSame:
    def test_an_error_is_the_same_by_component_type_and_place(self) -> None:
        key = key_of(record("one", error=raised(KeyError), task=1))
        assert key == key_of(record("other", error=raised(KeyError), task=2))
        assert key != key_of(record("one", error=raised(ValueError), task=1))
        assert key != key_of(record("one", error=raised(KeyError), name="viperstorm.component.split"))

    def test_a_warning_is_the_same_before_its_arguments_are_filled_in(self) -> None:
        assert key_of(record("no city for %s", "a")) == key_of(record("no city for %s", "b"))
        assert key_of(record("a")) != key_of(record("b"))
        assert key_of(record("a")) != key_of(record("a", line=8))
        assert key_of(record("a")) != key_of(record("a", name="myapp"))

    def test_a_message_that_is_all_argument_counts_itself(self) -> None:
        assert key_of(record("%s", "a")) != key_of(record("%s", "b"))


def test_a_count_says_where_the_error_was_raised_and_of_which_task(stage: Stage) -> None:
    error = raised(lambda: KeyError("tea"))
    stage.log(7, message="%s raised", error=error, task=4)
    stage.log(1, message="%s raised", error=error, task=4)
    stage.at(10)
    summary = stage.kept.records[-1]
    assert "(KeyError at " in summary.getMessage()
    assert "records.py:" in summary.getMessage()
    assert (summary.exc_info, summary.viper_task) == (None, 4)  # type: ignore[attr-defined]


def test_a_count_of_several_tasks_names_none(stage: Stage) -> None:
    stage.log(6, task=4)
    stage.log(1, task=5)
    stage.at(10)
    assert stage.kept.records[-1].viper_task is None  # type: ignore[attr-defined]


def test_counts_of_several_processes_add_up(stage: Stage) -> None:
    for _ in range(2):
        worker = Stage()
        worker.counting._target = Forwarding(stage.counting.handle)
        error = raised(KeyError)
        for _ in range(100):
            worker.counting.handle(record("KeyError raised", error=error))
        worker.counting.finish()
    assert stage.told() == ["KeyError raised"] * 5
    stage.counting.finish()
    (told,) = stage.told()
    assert told.startswith("KeyError raised (KeyError at ")
    assert told.endswith(" ... repeated 195 times in 0.0 s")


def test_a_record_that_cannot_be_made_a_line_of_ends_nothing(
    stage: Stage, capsys: pytest.CaptureFixture[str]
) -> None:
    class Wild:
        def __str__(self) -> str:
            raise LookupError("no text")

    stage.log(3, message=Wild())
    assert "no text" in capsys.readouterr().err
    stage.log(8, message="two %s %s", line=9)
    stage.counting.handle(record("two %s %s", "only one", line=9))
    stage.counting.finish()

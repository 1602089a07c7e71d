"""Tuples that nobody answers fail by themselves, between one and two timeouts later."""

from __future__ import annotations

from typing import Any

from tests.framework.reliability.pieces import Heard, chained, ending, tracked
from tests.framework.runtime.pieces import FakeClock, run_built

EVERY_OTHER = ending(lambda self, tup: self.ack(tup) if tup.values[0] % 2 else None, auto_ack=False)


def noting_times(clock: FakeClock, told: dict[Any, float]) -> dict[str, Any]:
    def fail(self: Any, tup_id: Any) -> None:
        told[tup_id] = clock.now
        assert self.failure == "timed out"

    return {"fail": fail}


def test_a_bolt_that_acks_every_other_tuple(clock: FakeClock) -> None:
    heard, told = Heard(), {}
    began = clock.now
    builder = chained(tracked(heard, range(6), **noting_times(clock, told)), EVERY_OTHER)
    report = run_built(builder, {"stop": clock}, topology__message__timeout__secs=3)
    assert (sorted(heard.acked), sorted(told)) == ([1, 3, 5], [0, 2, 4])
    assert all(began + 3 <= at <= began + 6 for at in told.values()), told
    assert report.components["source"].reasons == {"timed out": 3}


def test_by_the_clock_on_the_wall() -> None:
    heard = Heard()
    report = run_built(chained(tracked(heard, range(4)), EVERY_OTHER), topology__message__timeout__secs=1)
    assert (sorted(heard.acked), sorted(heard.failed)) == ([1, 3], [0, 2])
    assert report.elapsed_s >= 1


def test_no_timeouts_where_they_are_switched_off(clock: FakeClock) -> None:
    """The run is stopped after a while, and what was not answered is told."""
    heard = Heard()
    options = {"topology__enable__message__timeouts": False, "topology__message__timeout__secs": 1}
    limits = {"stop": clock, "duration_s": 50}
    report = run_built(chained(tracked(heard, range(4)), EVERY_OTHER), limits, **options)
    assert (sorted(heard.acked), heard.failed) == ([1, 3], [])
    assert report.components["source"].unanswered == 2
    assert not report.drained


def test_a_late_ack_changes_nothing(clock: FakeClock) -> None:
    """The tuple has timed out by then, and was emitted again."""
    heard = Heard()

    def fail(self: Any, tup_id: Any) -> None:
        heard.failed.append(tup_id)
        self.emit([tup_id], tup_id=tup_id)

    def process(self: Any, tup: Any) -> None:
        before, self.before = getattr(self, "before", None), tup
        if before is not None:
            self.ack(before)
            self.ack(tup)

    late = ending(process, auto_ack=False)
    report = run_built(
        chained(tracked(heard, ["id"], fail=fail), late), {"stop": clock}, topology__message__timeout__secs=1
    )
    assert (heard.acked, heard.failed) == (["id"], ["id"])
    assert report.components["b1"].second_answers == 0


def test_time_in_process_does_not_count(clock: FakeClock) -> None:
    heard = Heard()

    def process(self: Any, tup: Any) -> None:
        clock.now += 100

    run_built(
        chained(tracked(heard, range(4)), ending(process)),
        {"stop": clock},
        topology__message__timeout__secs=1,
    )
    assert (sorted(heard.acked), heard.failed) == ([0, 1, 2, 3], [])

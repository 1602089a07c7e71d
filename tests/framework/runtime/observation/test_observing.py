"""Snapshots of runs as values, and the rates between two of them; time is given, never waited for."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from framework.model.errors import ViperError
from framework.runtime.observation import (
    ComponentSnapshot,
    Recent,
    RunSnapshot,
    TaskSnapshot,
    bottleneck,
    rates_between,
)


def component(id: str = "split", **values: object) -> ComponentSnapshot:
    names = ("emitted", "processed", "acked", "failed", "errors", "restarts", "lost", "late", "waiting")
    counts = dict.fromkeys(names, 0)
    sequences = {"tasks": (), "error_sites": (), "held_by": ()}
    plain = {"role": "bolt", "fill": 0.0, "blocked_s": 0.0, **sequences, **counts}
    given = {"parallelism": len(values.get("tasks", ())) or 1, **plain, **values}  # type: ignore[arg-type]
    return ComponentSnapshot(id=id, **given)  # type: ignore[arg-type]


def snapshot(
    at_s: float, *components: ComponentSnapshot, elapsed_s: float | None = None, attempt: int = 0
) -> RunSnapshot:
    elapsed_s = at_s if elapsed_s is None else elapsed_s
    return RunSnapshot("t", "1", attempt, elapsed_s, at_s, True, False, None, 0, 0, (), 0, components)


def tasks(at_s: float, *busy_s: float) -> tuple[TaskSnapshot, ...]:
    return tuple(TaskSnapshot(id, seconds, at_s) for id, seconds in enumerate(busy_s))


def test_rates_of_a_bolt() -> None:
    before = component(processed=100, blocked_s=1.0, tasks=tasks(10, 1.0, 2.0))
    now = component(processed=300, blocked_s=2.0, tasks=tasks(12, 2.0, 2.5))
    rates = rates_between(snapshot(10, before), snapshot(12, now))["split"]
    assert rates.rate == 100.0
    assert (rates.busy, rates.capacity) == (0.375, 0.5)
    assert (rates.blocked, rates.idle) == (0.25, 0.375)
    assert rates.execute_s == pytest.approx(1.5 / 200)


def test_shares_are_of_the_time_that_workers_tell_of() -> None:
    """One has told 0.1 s before the first snapshot, and just at the second one."""
    told = tuple(replace(task, at_s=9.9) for task in tasks(10, 1.0))
    before, now = component(tasks=told), component(tasks=tasks(12, 3.1))
    assert rates_between(snapshot(10, before), snapshot(12, now))["split"].busy == pytest.approx(1.0)
    assert rates_between(snapshot(10, before), snapshot(12, component(tasks=told)))["split"].busy == 0.0


def test_tasks_that_stand_by_are_not_idle() -> None:
    before = component(tasks=tasks(0, 0.0, 0.0), parallelism=1)
    now = component(tasks=tasks(2, 1.0, 0.0), blocked_s=0.5, parallelism=1)
    rates = rates_between(snapshot(0, before), snapshot(2, now))["split"]
    assert (rates.busy, rates.blocked, rates.idle) == (0.5, 0.25, 0.25)


def test_a_spout_is_measured_by_what_it_emits() -> None:
    before, now = (component(role="spout", emitted=count, processed=7) for count in (0, 50))
    assert rates_between(snapshot(0, before), snapshot(2, now))["split"].rate == 25.0


def waiting(at_s: float, busy_s: float, waited_s: float) -> tuple[TaskSnapshot, ...]:
    return (TaskSnapshot(0, busy_s, at_s, waited_s=waited_s),)


def test_a_bolt_that_waits_has_no_time_left_and_a_spout_has() -> None:
    before, now = waiting(0, 1.0, 1.0), waiting(2, 2.9, 2.7)
    rates = rates_between(
        snapshot(0, component("ask", tasks=before), component("source", role="spout", tasks=before)),
        snapshot(2, component("ask", tasks=now), component("source", role="spout", tasks=now)),
    )
    for found in rates.values():
        assert (found.busy, found.waiting) == (pytest.approx(0.1), pytest.approx(0.85))
        assert found.idle == pytest.approx(0.05)
    assert rates["ask"].capacity == pytest.approx(0.95)
    assert rates["source"].capacity == pytest.approx(0.1)


def test_the_one_at_its_limit_is_named_and_a_waiting_spout_never() -> None:
    def named(**busy: tuple[str, float, float]) -> tuple[str, bool] | None:
        before, now = (
            snapshot(
                at_s,
                *(
                    component(id, role=role, tasks=waiting(at_s, at_s * busy_s, at_s * waited_s))
                    for id, (role, busy_s, waited_s) in busy.items()
                ),
            )
            for at_s in (1.0, 2.0)
        )
        found = bottleneck(now, rates_between(before, now))
        return None if found is None else (found.component, found.waits)

    assert named(source=("spout", 0.99, 0.95), ask=("bolt", 0.5, 0.0)) is None
    assert named(source=("spout", 0.99, 0.95), ask=("bolt", 0.92, 0.9)) == ("ask", True)
    assert named(source=("spout", 0.99, 0.0), ask=("bolt", 0.92, 0.9)) == ("source", False)
    assert named(split=("bolt", 0.95, 0.4), ask=("bolt", 0.92, 0.9)) == ("split", False)
    assert bottleneck(snapshot(1, component()), {}) is None


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({}, True),
        ({"blocked": 0.8}, False),  # the spout has something else to do
        ({"fill": 0.8}, False),
        ({"share": 0.45}, False),  # it is idle for most of the time
        ({"share": 0.5, "held": 0.2}, False),  # it waits for room itself
        ({"other": 0.8}, False),  # another bolt has less time left, and no full input
    ],
)
def test_the_bolt_before_which_all_wait_is_named(changed: dict[str, float], named: bool) -> None:
    of = {"share": 0.77, "blocked": 1.0, "fill": 1.0, "held": 0.0, "other": 0.02, **changed}

    def at(at_s: float) -> RunSnapshot:
        return snapshot(
            at_s,
            component("src", role="spout", tasks=waiting(at_s, 0.0, 0.0), blocked_s=at_s * of["blocked"]),
            component(
                "work",
                tasks=waiting(at_s, at_s * of["share"], at_s * of["share"] * 0.9),
                fill=of["fill"],
                blocked_s=at_s * of["held"],
            ),
            component("count", tasks=waiting(at_s, at_s * of["other"], 0.0), fill=0.3),
        )

    found = bottleneck(at(2.0), rates_between(at(1.0), at(2.0)))
    assert (found is not None) is named
    if found is not None:
        assert (found.component, found.waits, found.blocked) == ("work", True, "src")
        assert found.told == (
            "bolt work holds the run: its input is full, and spout src is blocked; it is in its code for 77% "
            "of the time, waiting, not computing: more tasks in more workers help, more cores do not"
        )


def test_what_was_waited_begins_anew_with_the_process() -> None:
    before, now = waiting(1, 40.0, 30.0), waiting(2, 0.25, 0.2)
    rates = rates_between(snapshot(1, component(tasks=before)), snapshot(2, component(tasks=now)))["split"]
    assert (rates.busy, rates.waiting) == (pytest.approx(0.05), pytest.approx(0.2))


def test_nothing_has_moved() -> None:
    rates = rates_between(snapshot(1, component()), snapshot(2, component()))["split"]
    assert (rates.rate, rates.busy, rates.capacity, rates.idle, rates.execute_s) == (0, 0, 0, 1.0, None)


def test_no_time_between_two() -> None:
    assert rates_between(snapshot(1, component()), snapshot(1, component())) == {}


def test_a_run_that_has_gone_back_is_not_compared() -> None:
    assert rates_between(snapshot(9, component()), snapshot(10, component(), attempt=1)) == {}
    assert rates_between(snapshot(9, component()), replace(snapshot(10, component()), run="2")) == {}


def test_the_work_of_a_restarted_process_counts_from_zero_on() -> None:
    before, now = component(tasks=tasks(1, 40.0)), component(tasks=tasks(2, 0.25))
    assert rates_between(snapshot(1, before), snapshot(2, now))["split"].busy == 0.25


def test_a_task_is_busy_for_no_more_than_all_of_its_time() -> None:
    before, now = component(tasks=tasks(1, 0.0)), component(tasks=tasks(2, 1.2), blocked_s=0.5)
    rates = rates_between(snapshot(1, before), snapshot(2, now))["split"]
    assert (rates.busy, rates.blocked, rates.idle) == (1.0, 0.0, 0.0)


def test_rates_are_of_the_last_seconds() -> None:
    recent = Recent(window_s=2.0)
    counts = [0, 1000, 1000, 1000, 1100]
    found = [recent.add(snapshot(at_s, component(processed=n))) for at_s, n in enumerate(counts)]
    assert found[0] == {}
    assert [rates["split"].rate for rates in found[1:]] == [1000, 500, 0, 50]


def test_the_same_from_json() -> None:
    made = snapshot(3, component(tasks=tasks(3, 0.5), held_by=("a:1",)), component("b", tasks=()))
    text = json.dumps(made.as_object())
    assert '"processed": 0' in text and RunSnapshot.from_object(json.loads(text)) == made


@pytest.mark.parametrize("wrong", [{}, {"components": [{"id": "a"}]}, {"components": [], "topology": "t"}])
def test_another_version(wrong: dict[str, object]) -> None:
    with pytest.raises(ViperError, match="another version"):
        RunSnapshot.from_object(wrong)


def test_a_component_that_has_come_anew_has_no_rates() -> None:
    before = snapshot(1, component("a"))
    assert list(rates_between(before, replace(before, at_s=2.0, components=(component("b"),)))) == []

"""The loop that tells how fast the machine was, with made-up times."""

from __future__ import annotations

from framework.optimizer.profiling import Sample, TaskSample
from framework.optimizer.profiling.profiler import Reference, spin_s


def factors(*looks: float) -> list[float]:
    times = iter(looks)
    reference = Reference(lambda: next(times))
    for _ in looks[1:]:
        reference.look()
    return reference.factors()


def test_what_ran_while_the_machine_was_slow_is_taken_as_shorter() -> None:
    found = factors(*[1.0] * 5, *[3.0] * 4)
    assert found == [*[1.0] * 4, 0.5, *[1 / 3] * 3]


def test_a_single_slow_look_does_not_count() -> None:
    assert factors(1.0, 1.0, 3.0, 1.0, 1.0) == [1.0, 1.0, 1.0, 1.0]


def test_a_sample_at_another_speed_keeps_its_counts() -> None:
    sample = Sample({"a:1": TaskSample("a", 80.0, processed=4)}, {"a:1": 1}, {"a": 4}, {}, {}, {}, 1.0)
    changed = sample.at_speed(0.5)
    assert changed.tasks["a:1"].cpu_ns == 40 and changed.tasks["a:1"].processed == 4
    assert changed.loads_ns() == {1: 10.0} and sample.loads_ns() == {1: 20.0}
    assert (changed.elapsed_s, sample.elapsed_s) == (0.5, 1.0)


def test_the_loop_takes_processor_time() -> None:
    assert spin_s() > 0

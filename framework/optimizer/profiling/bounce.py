"""The time of a cache line from one processor to another: two processes answer each other by a byte.

``python -m framework.optimizer.profiling.bounce CPU CPU`` prints nanoseconds for one way. The time
of the same steps in one process is subtracted, so that the way of the line is left, roughly.
"""

from __future__ import annotations

import mmap
import os
import sys
import time

_ROUNDS = 100
"""Answers of one measurement, so few that a byte counts them."""
_WARM_UP, _MEASUREMENTS = 20, 200
_PATIENCE_S = 5.0
_ASKED, _ANSWERED = 0, 64


def main(first: int, second: int) -> float:
    """Nanoseconds for one way between two processors.

    Raises:
        TimeoutError: the other side does not answer.
        OSError: a processor cannot be used.
    """
    with mmap.mmap(-1, 4096) as page:  # which a child of a fork shares
        child = os.fork()
        if child == 0:
            os.sched_setaffinity(0, {second})
            _answer(page)
            os._exit(0)
        os.sched_setaffinity(0, {first})
        try:
            there = min(_ask(page) for _ in range(_WARM_UP + _MEASUREMENTS))
        finally:
            page[_ASKED] = 255
            os.waitpid(child, 0)
        return max(0.0, (there - _alone(page)) / 2)


def _ask(page: mmap.mmap) -> float:
    """Nanoseconds for a question and its answer."""
    until = time.monotonic() + _PATIENCE_S
    start = time.perf_counter_ns()
    for number in range(1, _ROUNDS + 1):
        page[_ASKED] = number
        tries = 0
        while page[_ANSWERED] != number:
            tries += 1
            if not tries % 1024 and time.monotonic() > until:
                raise TimeoutError("the other processor does not answer")
    return (time.perf_counter_ns() - start) / _ROUNDS


def _answer(page: mmap.mmap) -> None:
    parent = os.getppid()
    tries = 0
    while (number := page[_ASKED]) != 255:
        page[_ANSWERED] = number
        tries += 1
        if not tries % 65536 and os.getppid() != parent:
            return


def _alone(page: mmap.mmap) -> float:
    """Nanoseconds of the same steps of both sides where nobody has to wait."""
    best = float("inf")
    for _ in range(_MEASUREMENTS):
        start = time.perf_counter_ns()
        for number in range(1, _ROUNDS + 1):
            page[_ASKED] = number
            if (found := page[_ASKED]) != 255:
                page[_ANSWERED] = found
            while page[_ANSWERED] != number:
                pass
        best = min(best, (time.perf_counter_ns() - start) / _ROUNDS)
    return best


if __name__ == "__main__":
    try:
        print(main(int(sys.argv[1]), int(sys.argv[2])))
    except (OSError, TimeoutError) as error:
        sys.exit(f"{error}")

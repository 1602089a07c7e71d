"""Runs whose bolts get other tasks all the time, while workers are killed.

A thread beside the run asks for changes, drawn from a seed, most of them once the last one has been carried
out. When that is depends on the machine, and so does which of them overlap; what the run writes does not.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from framework.runtime import Run
from tests.framework.runtime.scaled import some
from tests.kills.shapes import MOST_SCALED

PAUSES_S = 0.0005, 0.005, 0.05
"""Between two looks at whether a change has been carried out."""
AT_ONCE = 0.1
"""The chance of another command at a look although one has not been."""


@contextmanager
def scaled(run: Run, seed: int) -> Iterator[None]:
    """While the block runs, components of the run get other tasks.

    Args:
        run: it is executed in the block.
        seed: what numbers are drawn from.
    """
    is_over = threading.Event()

    def change() -> None:
        draw, names = random.Random(seed), sorted(run.scale({}))
        while names and not is_over.wait(draw.choice(PAUSES_S)):
            if draw.random() < AT_ONCE or run._scaling.now == run._scaling.change({}):
                chosen = draw.sample(names, draw.randint(1, len(names)))
                run.scale({name: some(draw, MOST_SCALED) for name in chosen})

    thread = threading.Thread(target=change, name="tests-scaling")
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()

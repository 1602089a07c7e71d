"""Stand-ins for components and custom groupings of Storm and Flux."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from framework.operators.components import Bolt, Spout, StatefulBolt, WindowedBolt
from framework.operators.components.component import tasks_of
from framework.operators.state import KeyValueState
from framework.operators.windows import TupleWindow


class LogInfoBolt(Bolt):
    """Logs every tuple that it receives."""

    def process(self, tup: Any) -> None:
        """Log one tuple: where it comes from, and its values."""
        self.log(f"{tup.component}/{tup.stream}: {list(tup.values)}")


class TestWordCounter(Bolt):
    """Counts words, and emits each with its count so far."""

    # pytest would take it for a class of tests, by its name.
    __test__ = False
    outputs = ("word", "count")

    def __init__(self) -> None:
        super().__init__()
        self._counts: Counter[Any] = Counter()

    def process(self, tup: Any) -> None:
        """Count the tuple's first value."""
        word = tup.values[0]
        self._counts[word] += 1
        self.emit([word, self._counts[word]])


class StatefulWordCounter(StatefulBolt):
    """Counts words in its key-value state, and emits each with its count so far."""

    outputs = ("word", "count")

    def init_state(self, state: KeyValueState) -> None:
        """Keep the state, in which words have their counts."""
        self._counts = state

    def process(self, tup: Any) -> None:
        """Count the tuple's first value."""
        word = tup.values[0]
        count = self._counts.get(word, 0) + 1
        self._counts.put(word, count)
        self.emit([word, count])


class TestWindowBolt(WindowedBolt):
    """Emits how many tuples each window has."""

    # pytest would take it for a class of tests, by its name.
    __test__ = False
    outputs = ("count",)

    def process_window(self, window: TupleWindow) -> None:
        """Count the tuples of a window."""
        self.emit([len(window)])


class TestGlobalCount(Bolt):
    """Counts tuples, and emits the count after each."""

    __test__ = False
    outputs = ("global-count",)

    def __init__(self) -> None:
        super().__init__()
        self._count = 0

    def process(self, tup: Any) -> None:
        """Count one tuple."""
        self._count += 1
        self.emit([self._count])


_WORDS = ("nathan", "mike", "jackson", "golda", "bertels")
_PAUSE_SECS = 0.1


class TestWordSpout(Spout):
    """Emits one of five names at random, ten times a second, for ever.

    The choice depends only on the task's index within the component, so it is the same in every run.

    Args:
        is_distributed: as in Storm; without effect, set the parallelism instead.
    """

    # pytest would take it for a class of tests, by its name.
    __test__ = False
    outputs = ("word",)

    def __init__(self, is_distributed: bool = True) -> None:
        super().__init__()
        self._random = random.Random(0)
        self._due = 0.0

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Seed the choice of words."""
        tasks = tasks_of(context["componentid"], context)
        self._random = random.Random(tasks.index(context["taskid"]))

    def next_tuple(self) -> None:
        """Emit a word if it is time for one; waiting would hold up the other tasks."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + _PAUSE_SECS
            self.emit([self._random.choice(_WORDS)])


class NGrouping:
    """Sends every tuple to the first tasks of the consumer.

    Args:
        n: how many tasks.
    """

    def __init__(self, n: int) -> None:
        self._n = n
        self._tasks: Sequence[int] = ()

    def prepare(self, context: Any, component: str, stream: str, target_tasks: Sequence[int]) -> None:
        """Choose the tasks.

        Raises:
            ValueError: the consumer has fewer.
        """
        if self._n > len(target_tasks):
            found = f"the consumer of {component!r} has {len(target_tasks)}"
            raise ValueError(f"NGrouping sends to {self._n} tasks, but {found}")
        self._tasks = sorted(target_tasks)[: self._n]

    def choose_tasks(self, values: Sequence[Any]) -> Sequence[int]:
        """The same tasks for every tuple."""
        return self._tasks

"""Stand-ins for bolts of Storm and Flux."""

from __future__ import annotations

from collections import Counter
from typing import Any

from framework.components import Bolt


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

"""The batches of a batching bolt as declared state: their tuples survive the bolt, and its process.

Tuples are pickled when a slice ends, those of a key together, and dropped when their batch is processed.
"""

from __future__ import annotations

import pickle
from collections import defaultdict
from collections.abc import Hashable, Mapping
from typing import Any, Final, Protocol

from framework.model.errors import StateError
from framework.operators.state.access import StateAccess
from framework.operators.state.declaration import PickledState
from framework.operators.state.loading import loaded
from viper.state import items

_PROTOCOL: Final = 5
_TICKS: Final = "ticks"
"""The key of the number of ticks since a batch was processed; tuples lie under ascending numbers."""


class Gatherer(Protocol):
    """A bolt that gathers batches."""

    _batches: defaultdict[Hashable, list[Any]]
    _tick_counter: int


class BatchState(PickledState):
    """The tuples that a batching bolt has gathered, if they survive its process; see `GatheredBatches`.

    Elsewhere batches lie in an attribute only, and cost nothing beside it.
    """

    kind = "batch"
    holds = "tuples"

    def __init__(self) -> None:
        super().__init__(per="task")

    def is_kept(self, conf: Mapping[str, Any]) -> bool:
        """As in the base class."""
        return conf.get("viper.recovery") == "exact"

    def handle(self, access: StateAccess) -> GatheredBatches:
        """As in the base class."""
        return GatheredBatches(access)


class Batches(defaultdict[Hashable, list[Any]]):
    """Tuples by key, which note the keys that have been looked at, and those that are gone."""

    def __init__(self) -> None:
        super().__init__(list)
        self.touched: dict[Hashable, None] = {}
        self.gone: list[Hashable] = []

    def __getitem__(self, key: Hashable) -> list[Any]:
        self.touched[key] = None
        return super().__getitem__(key)

    def pop(self, key: Hashable) -> list[Any]:  # type: ignore[override]
        """Take the tuples of a key out, which must be there."""
        found = super().pop(key)
        self.touched.pop(key, None)
        self.gone.append(key)
        return found

    def clear(self) -> None:
        """Take all tuples out."""
        self.gone += self
        self.touched.clear()
        super().clear()


class GatheredBatches:
    """The batches of one task, which it writes into its table when a slice ends."""

    def __init__(self, access: StateAccess) -> None:
        (self._table,) = access.tables
        self._batches = Batches()
        self._bolt: Gatherer | None = None
        self._rows: dict[Hashable, list[int]] = {}
        """The numbers of the rows with the tuples of each key."""
        self._written: dict[Hashable, int] = {}
        """The number of tuples of each key in these rows."""
        self._next = 0
        """The number of the next row."""
        self._ticks = 0
        """As the table has them."""

    def open(self, bolt: Gatherer) -> None:
        """Give a bolt the batches and the ticks that the table has."""
        found = dict(items(self._table, 0))
        if _TICKS in found:
            self._ticks = loaded(found.pop(_TICKS)[0])
        for number, (data,) in sorted(found.items()):
            key, tuples = loaded(data)
            self._batches[key].extend(tuples)
            self._note(key, number, len(tuples))
        self._batches.touched.clear()
        bolt._batches, bolt._tick_counter = self._batches, self._ticks
        self._bolt = bolt

    def flush(self) -> None:
        """As `DirtyHandle.flush`.

        Raises:
            StateError: a tuple, or a key, cannot be pickled.
            StateFullError: there is no room for the tuples.
        """
        if self._bolt is None:
            return
        batches = self._batches
        for key in batches.gone:
            self._written.pop(key, None)
            for number in self._rows.pop(key, ()):
                self._table.drop(number)
        batches.gone.clear()
        for key in batches.touched:
            self._write(key, batches.get(key, [])[self._written.get(key, 0) :])
        batches.touched.clear()
        if self._bolt._tick_counter != self._ticks:
            self._ticks = self._bolt._tick_counter
            self._table.set(_TICKS, (pickle.dumps(self._ticks, _PROTOCOL),))

    def forget(self) -> None:
        """As `DirtyHandle.forget`: a batch that has been tried is not tried again."""

    def _write(self, key: Hashable, tuples: list[Any]) -> None:
        if not tuples:
            return
        try:
            data = pickle.dumps((key, tuples), _PROTOCOL)
        except Exception as error:
            raise StateError(f"a tuple of batch {key!r:.300} cannot be pickled: {error}") from error
        self._table.set(self._next, (data,))
        self._note(key, self._next, len(tuples))

    def _note(self, key: Hashable, number: int, count: int) -> None:
        self._rows.setdefault(key, []).append(number)
        self._written[key] = self._written.get(key, 0) + count
        self._next = number + 1

"""Bolts that process tuples in batches, by ticks or by a timer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import Any

from framework.operators.components.bolt import Bolt
from framework.operators.components.collector import EmitResult
from framework.operators.components.tuple import Tuple
from framework.operators.state import BatchState


class BatchingBolt(Bolt):
    """Gathers tuples by key and processes them together every few ticks.

    It needs ticks: set ``topology.tick.tuple.freq.secs`` for it. As in streamparse, the batches fire at the
    first tick that comes more than `ticks_between_batches` ticks after the last firing. So with the default,
    the first batches fire at the second tick. Tuples that are left at the end of the input are processed
    before `close`.

    With ``viper.recovery: exact`` batches are declared state: their keys and tuples have to be such as can be
    pickled.
    """

    batch_contents = BatchState()
    """The tuples that the task has gathered, where they survive its process."""

    ticks_between_batches: int = 1
    """The number of ticks from one batch to the next."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._batches: defaultdict[Hashable, list[Tuple]] = defaultdict(list)
        self._tick_counter = 0
        self._current_tups: list[Tuple] = []

    @property
    def _keeps_batches(self) -> bool:
        """True if the gathered batches are declared state."""
        return "batch_contents" in vars(self)

    def _open_batches(self) -> None:
        """Continue with the batches that the task has, if they are declared state."""
        if self._keeps_batches:
            self.batch_contents.open(self)

    def group_key(self, tup: Tuple) -> Hashable:
        """The key of the batch that a tuple belongs to; by default all belong to one."""
        return None

    def process_batch(self, key: Hashable, tups: list[Tuple]) -> None:
        """Process the tuples of one key, in the order of their arrival; must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define process_batch(self, key, tups)")

    def process(self, tup: Tuple) -> None:
        """Put a tuple into its batch; not to be overridden."""
        self._current_tups = [tup]
        self._batches[self.group_key(tup)].append(tup)

    def process_tick(self, tick_tup: Tuple) -> None:
        """Count a tick and fire what is due; not to be overridden."""
        self._tick_counter += 1
        if self._tick_counter > self.ticks_between_batches and self._batches:
            self.process_batches()
            self._tick_counter = 0

    def process_batches(self) -> None:
        """Process and ack all batches, in the order of their first tuples.

        When `process_batch` raises, its batch fails. The later batches are kept if the bolt continues after
        exceptions (``exit_on_exception = False``), and fail as well if it does not.
        """
        for key in list(self._batches):
            self._current_tups = self._batches.pop(key)
            self._process_current(key)
            if self.auto_ack:
                for tup in self._current_tups:
                    self.ack(tup)
        self._current_tups = []

    def _process_current(self, key: Hashable) -> None:
        try:
            self.process_batch(key, self._current_tups)
        except Exception:
            self._give_up()
            raise

    def _give_up(self) -> None:
        failed = list(self._current_tups)
        if self.exit_on_exception:
            failed += [tup for batch in self._batches.values() for tup in batch]
            self._batches.clear()
        for tup in failed if self.auto_fail else ():
            self.fail(tup)

    def emit(self, tup: Sequence[Any], **kwargs: Any) -> EmitResult:  # type: ignore[override]
        """As `Bolt.emit`, anchored to the whole batch by default; never returns task ids."""
        if kwargs.get("anchors") is None and self.auto_anchor:
            kwargs["anchors"] = self._current_tups
        kwargs["need_task_ids"] = False
        return super().emit(tup, **kwargs)


class TicklessBatchingBolt(BatchingBolt):
    """As `BatchingBolt`, but a timer of its own takes the place of ticks.

    pystorm runs the timer on a thread of the component. Here the task's worker calls `process_batches` when
    the timer is due, so that the bolt needs no lock.
    """

    secs_between_batches: float = 2
    """Seconds between two firings."""

    def process_tick(self, tick_tup: Tuple) -> None:
        """Do nothing: ticks fire no batches of this bolt."""

"""The base class of sinks: bolts at the end of a topology, which take rows and emit nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from framework.operators.components import Bolt

Row = tuple[Any, ...]


class Sink(Bolt):
    """A bolt at the end of a topology that takes rows of values, many at a time, instead of tuples.

    A subclass defines `consume`, and `result` where the run's report is to show something. The other
    methods of a bolt are called as usual: `initialize` first, `process_tick` where ticks are configured,
    `close` last. A sink emits nothing, and does not learn which component, stream or task a row came from.
    """

    dies_with_process: ClassVar[bool] = False
    """True if its result is in the memory of its process, and lost when that is killed; a run reports the
    loss."""

    goes_back_with_task: ClassVar[bool] = False
    """True if its rows go back to the last commit of its task when its process is killed."""

    def consume(self, rows: Sequence[Row]) -> None:
        """Take some rows; must be overridden.

        A task's sink is called whenever rows are ready for it, always from one thread at a time. A call
        brings at least one row and at most ``viper.slice.tuples``; how many depends on timing, and nothing
        else should. From call to call and within each, rows come in the order of their positions.

        When the call returns, all its rows are acked. When it raises, all of them fail, including rows that
        it had processed already. ``viper.on.error`` says whether the run then ends (the default), the sink is
        made again, or it continues with the next rows.

        Args:
            rows: one tuple of values per row. The sequence may be shared with other tasks: keep its rows
                if need be, but do not change it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define consume(self, rows)")

    def result(self) -> Any:
        """Return the value that the run's report shows for this task; None for nothing.

        It is called once, after `close`. A sink in a worker process must return what pickle can carry.
        """
        return None

    def process(self, tup: Any) -> None:
        """Take one tuple where somebody brings them singly, such as `framework.testing.run_bolt`."""
        self.consume([tuple(tup.values)])

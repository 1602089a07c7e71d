"""Batch bolts, which receive many tuples in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from framework.model.errors import StateError
from framework.operators.components.bolt import Bolt
from framework.operators.components.collector import EmitResult
from framework.operators.components.rows import Rows
from framework.operators.components.tuple import Tuple

if TYPE_CHECKING:
    from viper._rows import RowResults
    from viper.transactions.recorder import Transaction


class RowError(Exception):
    """Says that a batch bolt could not process one of its rows.

    The rows before it count as processed, and their output is kept. The row fails with the cause. The rows
    behind it come again, in the next call.

    Args:
        index: the row's index in the batch.
        cause: what went wrong.
    """

    def __init__(self, index: int, cause: BaseException) -> None:
        super().__init__(f"row {index}: {type(cause).__name__}: {cause}")
        self.index = index
        self.cause = cause


class BatchBolt(Bolt):
    """Receives all tuples of one stream that are ready, up to a slice, in `process_rows`.

        class Split(BatchBolt):
            outputs = ["word"]

            def process_rows(self, rows):
                words, of = [], []
                for index, (line,) in enumerate(rows):
                    for word in line.split():
                        words.append([word])
                        of.append(index)
                self.emit_rows(words, of)

    The load decides how many rows come together, so their number must not matter. A bolt that treats its rows
    one after another emits the same, tuple for tuple, however they are divided into batches. A tick, the end
    of a window or anything else that is due at a position comes between two batches, never within one.

    On a typed stream rows are columns, too. Columns from another process are copied, unless the class says
    `keeps_columns = False`: then columns may lie in the memory that the processes share. Nothing that was
    made of them without a copy may outlive the call: no batch, array or view of NumPy's, nor the rows
    themselves. If anything does, the run ends with an error. Columns that the bolt emits are copied if they
    lie there.

    Tuples are acked when `process_rows` returns, and fail together if it raises, unless it raises a
    `RowError`. A batch bolt cannot answer single tuples.
    """

    keeps_columns = True
    """True if it may keep the columns that it receives; False saves their copy."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not (cls.auto_ack and cls.auto_fail and cls.auto_anchor):
            raise TypeError(
                f"batch bolt {cls.__name__} sets auto_ack, auto_fail or auto_anchor to False, but the tuples "
                "of a batch are acked when process_rows returns, fail if it raises, and are what its "
                "outputs are anchored to: derive it from Bolt"
            )

    def process_rows(self, rows: Rows) -> None:
        """Process tuples of one stream; must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define process_rows(self, rows)")

    def process_results(self, rows: Rows, results: RowResults) -> None:
        """Process results of transactions; must be overridden if `tables` names any.

        Called for rows that `process_rows` has been given, in their order, some or all of them. Rows that it
        emits lie below these rows in the order.

        Args:
            rows: the rows.
            results: ``results[handle]`` is the array of the values that a read of a block has given, one for
                each transaction of that block. `aborted` has a byte for each transaction, 1 for an aborted
                one.
        """
        raise NotImplementedError(f"{type(self).__name__} must define process_results(self, rows, results)")

    def transactions(self, rows: Rows, where: Any = None) -> Transaction:
        """Begin transactions, one for each row in process: ``with self.transactions(rows) as t:``.

        Keys and operands are arrays with a value for each of these rows, or one value for all. Of several
        blocks in a call, the transactions of each row come in the order of the blocks.

        Args:
            rows: those that `process_rows` has been given.
            where: an array of bools, one for each row: which of them have such a transaction; None for all.

        Raises:
            StateError: the bolt names no `tables`, or no rows are being given to `process_rows`.
            ValueError: other rows.
        """
        raise StateError(
            "transactions() is for the rows that process_rows() of a bolt with shared tables has just been "
            "given: name them in the attribute tables, and call it there"
        )

    def process(self, tup: Tuple) -> None:
        """Process a single tuple where somebody brings them singly; not to be overridden.

        Raises what `process_rows` raises, and of a `RowError` the cause.
        """
        fields = getattr(tup.values, "_fields", ())
        try:
            self.process_rows(Rows([tuple(tup.values)], tup.component, tup.stream, fields))
        except RowError as error:
            raise error.cause from error.cause.__cause__

    def emit_rows(
        self,
        rows: Any,
        of: Sequence[int] | None = None,
        stream: str | None = None,
        *,
        ends: Sequence[int] | None = None,
        gives_away: bool = False,
    ) -> None:
        """Emit tuples.

        Within `process_rows` each belongs to one of the rows in process, lies after it in the order, and is
        anchored to it. In which order a call emits for several rows does not matter: outputs are sorted by
        their input, and those of one input by the calls and within a call.

        Args:
            rows: the values of each tuple, a list or tuple, one per declared field. On a stream with a schema
                it may also be a record batch, a table, or a mapping of each field to its column.
            of: for each tuple the index of the row that it belongs to. It may be left out where there are as
                many tuples as rows, one for each; and is left out outside `process_rows`.
            stream: name of the stream; the default stream if None.
            ends: in the place of `of`, for each row in turn the number of tuples up to and including its own.
            gives_away: of columns: whether nobody writes to their memory any more. Otherwise it is copied,
                unless `Rows.batch` or `Rows.where` has made the batch.

        Raises:
            EmitError: a tuple belongs to no row; an unknown stream, a wrong number of values, or a value or a
                column that cannot be carried. Nothing of this call is emitted then.
            TypeError: the values of a tuple are neither list nor tuple.
        """
        self._collector.emit_rows(rows, of=of, ends=ends, stream=stream, gives_away=gives_away)

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Sequence[Any] | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
    ) -> EmitResult:
        """Emit a tuple, in `initialize` or at a tick; as `Bolt.emit`.

        Raises:
            EmitError: in `process_rows`, where `emit_rows` says which row the tuple belongs to.
        """
        return super().emit(tup, stream, anchors, direct_task, need_task_ids)

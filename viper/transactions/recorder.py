"""Recorder: the requests of a task to the tables of its group, from its tuples to the results called back.

A cycle of a task is

    start(), then the inbox is loaded and each tuple processed, by `begin` and `alone`, then place(...);
    publish(), collected(frontier), and somebody's Group.evaluate;
    as often as evaluated_inputs() says, take_results() and the callbacks of the next tuple; release().

For a batch bolt it is start_rows(count), begin_rows(where) for each of its blocks, place(...), and then
take_rows(count) in place of take_results().

Several loads may be placed before anything is called back; callbacks come in the order of all placed tuples.

Requests for which the log has no room wait in the memory of the process until `publish` finds room; its
return value says so. A batch is never too large for that; `has_room` says when it is better to gather no
more.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any, Final

from viper import _rows
from viper._backend import ffi, lib
from viper._rows import Handle, Result, RowResults, Transaction
from viper.errors import DivergedError, LogFullError, ResultLostError, StateFullError
from viper.position import Positions
from viper.rows import Inbox
from viper.transactions.group import Group
from viper.transactions.specs import Abort, ColumnSpec, TableSpec
from viper.transactions.view import View

__all__ = ["Abort", "Handle", "Recorder", "Result", "RowResults", "Transaction", "View"]

_ERRORS: Final = (DivergedError, LogFullError, StateFullError, ResultLostError)


class Recorder(_rows.Recorder):
    """The requests of a task to shared tables.

    The log may hold transactions of a predecessor that was killed. These are compared with what is recorded,
    and not written again; `is_replaying` is true until all were. Of functions that run alone, a successor has
    those that it gets again; `may_run_alone` is true if it has the next.
    """

    def __new__(cls, inbox: Inbox, group: Group, log: int) -> Recorder:
        """The recorder of a task.

        Args:
            inbox: what the task is loaded with.
            group: its tables and logs.
            log: the number of its own.
        """
        at = lib.vp_txlog_at(group.arena._header, group.layout.logs[log])
        specs = [table.spec for table in group.tables]

        def resolve(named: object) -> tuple[int, int]:
            return resolved(specs, named)

        self = super().__new__(
            cls,
            inbox,
            group.arena,
            int(ffi.cast("uintptr_t", at)),
            group.layout.log_bytes,
            tuple(table.native for table in group.tables),
            resolve,
            pickle.loads,
            _ERRORS,
        )
        self._group = group
        return self

    _group: Group

    def place(self, positions: Positions, first: int) -> None:
        """Give what was recorded since the last start its positions; recording stops.

        Args:
            positions: those of all that the inbox has handed out since it was loaded, None's rows included.
            first: the index of the first.

        Raises:
            DivergedError: a successor does not say what was said for the same tuple. `collected` raises it
                too, for what was not said again.
            IndexError: there are not that many positions.
            RuntimeError: nothing is being recorded.
        """
        self.place_at(int(ffi.cast("uintptr_t", positions._handle)), first)

    def run_alone(self) -> None:
        """Run the function whose turn it is, and let evaluation continue; right after `evaluate` reports it.

        An exception of the function other than Abort is raised here once its writes are undone. Its
        transaction counts as aborted then.
        """
        function = self.next_alone()
        view = View(self._group)
        outcome: tuple[bool, Any] = (False, "the function was ended")
        try:
            outcome = (True, function(view))
        except Abort as abort:
            outcome = (False, str(abort))
        except Exception as error:
            outcome = (False, f"{type(error).__name__}: {error}")
            raise
        finally:
            view.close()
            self._note(outcome)

    def _note(self, outcome: tuple[bool, Any]) -> None:
        try:
            kept = pickle.dumps(outcome, 5)
        except Exception as error:  # whatever a value's own code raises
            outcome = (False, f"its value cannot be kept: {type(error).__name__}: {error}")
            kept = pickle.dumps(outcome, 5)
        self.note_alone(outcome, kept)
        status = lib.VP_TX_DONE if outcome[0] else lib.VP_TX_FAILED_ALONE
        lib.vp_txgroup_alone_done(self._group.native, status)


def resolved(specs: Sequence[TableSpec], named: object) -> tuple[int, int]:
    """The number of the table among these that a user's object is, and its column's index, -1 for the table.

    Raises:
        TypeError: it is no table and no column.
        ValueError: it is of no table among these, or of one of another shape.
    """
    table = named.table if isinstance(named, ColumnSpec) else named
    if not isinstance(table, TableSpec):
        raise TypeError(
            f"expected a table or a column, such as {specs[0].table_name} or "
            f"{specs[0].table_name}.{next(iter(specs[0].column_kinds))}; found {named!r:.200}"
        )
    for number, spec in enumerate(specs):
        if spec.table_name == table.table_name:
            if spec != table:
                raise ValueError(f"there are two tables called {spec.table_name!r} of different shapes")
            return number, named.index if isinstance(named, ColumnSpec) else -1
    known = ", ".join(spec.table_name for spec in specs)
    raise ValueError(f"table {table.table_name!r} is not among the bolt's: {known}; add it to `tables`")

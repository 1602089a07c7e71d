"""Bolts: components that receive tuples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from framework.model.errors import StateError
from framework.model.specs import Spec, SpecMethod, bolt_spec
from framework.model.tables import SharedTable
from framework.operators.components.collector import EmitResult
from framework.operators.components.component import Component
from framework.operators.components.tuple import TICK_COMPONENT, TICK_STREAM, Tuple

if TYPE_CHECKING:
    from viper.transactions.recorder import Result, Transaction, View


def no_key() -> bool:
    """Refuse to say whose a key is, for a bolt without state by key."""
    raise StateError("owns_key is there while a bolt that declares state by key processes a tuple")


class Bolt(Component):
    """Receives tuples in `process`, and may emit, ack and fail them."""

    auto_anchor: bool = True
    """True if each emit is anchored to the tuple that is being processed, unless it names other anchors."""
    auto_ack: bool = True
    """True if a tuple is acked when `process` returns."""
    auto_fail: bool = True
    """True if a tuple fails when `process` raises."""
    state_key: str | Sequence[str] | None = None
    """The field, or the fields, that name the key of the bolt's declared state, where no fields grouping does
    (``viper.state.key`` overrides it)."""

    tables: Sequence[SharedTable] = ()
    """The shared tables that its transactions read and write."""

    _owns_key: Callable[[], bool] = staticmethod(no_key)

    @property
    def owns_key(self) -> bool:
        """True if this task may use the declared state of the key of the tuple in process.

        It may not where an ``all`` grouping brings each tuple to every task: there one task owns each key.

        Raises:
            StateError: the bolt declares no state by key, or no tuple with a key is in process.
        """
        return self._owns_key()

    def _judge_keys_by(self, owns_key: Callable[[], bool]) -> None:
        """Have `owns_key` ask the state of the task that the bolt is about to work for."""
        self._owns_key = owns_key

    @staticmethod
    def is_tick(tup: Tuple) -> bool:
        """True if a tuple is a tick."""
        return tup.component == TICK_COMPONENT and tup.stream == TICK_STREAM

    def process(self, tup: Tuple) -> None:
        """Process one tuple; must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define process(self, tup)")

    def process_result(self, tup: Tuple, result: Result) -> None:
        """Process the result of a transaction; must be overridden if `tables` names any.

        Called once for each transaction that `process` has declared for a tuple, in their order. Tuples that
        it emits lie below that tuple in the order.

        Args:
            tup: the tuple.
            result: true if the transaction was done: then `values` has what was read, in order, and
                ``result[handle]`` the value of one read. False if it was aborted: `aborted` says why.
        """
        raise NotImplementedError(f"{type(self).__name__} must define process_result(self, tup, result)")

    def transaction(self, tup: Tuple) -> Transaction:
        """Begin a transaction of the tuple in process: ``with self.transaction(tup) as t:``.

        Operations called on `t` are evaluated later, all of them or none, in the order of all transactions on
        the same tables. To be called in `process` only.

        Raises:
            StateError: the bolt names no `tables`, or no tuple is being given to `process`; a tick has no
                transactions.
            ValueError: another tuple than the one in process.
        """
        if isinstance(tup, Tuple) and self.is_tick(tup):
            raise StateError(
                "a tick has no transactions, as each task has ticks of its own: have a spout bring a tuple "
                "each time, and call transaction() or alone() for that in process()"
            )
        raise StateError(
            "transaction() is for the tuple that process() of a bolt with shared tables has just been given: "
            "name them in the attribute tables, and call it there"
        )

    def alone(self, tup: Tuple, function: Callable[[View], Any]) -> None:
        """Have a function called alone, at the place of the tuple in process among all transactions.

        It is for work that operations cannot express: keys that depend on data, scans, any Python. All
        transactions before it have been evaluated when it is called, and none after it.

        Args:
            tup: the tuple in process.
            function: is given a view of the tables, for as long as it runs. Its return value is the value of
                the result. If it raises `Abort`, it has changed nothing.

        Raises:
            StateError: as for `transaction`.
        """
        self.transaction(tup)

    def process_tick(self, tup: Tuple) -> None:
        """Process a tick; does nothing unless a subclass overrides it.

        Ticks come where ``topology.tick.tuple.freq.secs`` is set for the bolt or the topology.
        """

    def emit(
        self,
        tup: Sequence[Any],
        stream: str | None = None,
        anchors: Sequence[Any] | None = None,
        direct_task: int | None = None,
        need_task_ids: bool = False,
    ) -> EmitResult:
        """Emit a tuple.

        Args:
            tup: its values, a list or tuple, one per declared field.
            stream: name of the stream; the default stream if None.
            anchors: tuples (or their ids) that it depends on; by default the one that is being processed.
            direct_task: id of the receiving task, for a direct stream only.
            need_task_ids: whether to return the ids of the receiving tasks.

        Returns:
            The ids of the receiving tasks if asked for, else None.

        Raises:
            EmitError: an unknown stream, a wrong number of values, a value that cannot be carried.
            TypeError: the values are neither list nor tuple.
        """
        return self._collector.emit(
            tup, stream=stream, anchors=anchors, direct_task=direct_task, need_task_ids=need_task_ids
        )

    def ack(self, tup: Any) -> None:
        """Answer that a tuple (or the tuple of that id) has been processed."""
        self._collector.ack(tup)

    def fail(self, tup: Any) -> None:
        """Answer that a tuple (or the tuple of that id) could not be processed."""
        self._collector.fail(tup)

    @SpecMethod
    def spec(
        component: Any,
        name: str | None = None,
        inputs: Any = None,
        par: int | Mapping[str, int] | None = None,
        config: Mapping[str, Any] | None = None,
    ) -> Spec:
        """This bolt as a part of a `Topology` class; see `framework.frontends.dsl`."""
        return bolt_spec(component, name, inputs, par, config)

"""Storm's stateful bolts: key-value state, and callbacks around its commits."""

from __future__ import annotations

from framework.operators.components.bolt import Bolt
from framework.operators.state import KeyValues, KeyValueState, ReducingState


class StatefulBolt(Bolt):
    """A bolt with a key-value state of its task, as Storm's ``BaseStatefulBolt`` has it.

        class Count(StatefulBolt):
            outputs = ["word", "count"]

            def init_state(self, state):
                self.counts = state

            def process(self, tup):
                word = tup.values.word
                self.counts.put(word, self.counts.get(word, 0) + 1)
                self.emit([word, self.counts.get(word)])

    Its state is there again for the next instance, after an exception or the death of a worker. `init_state`
    is called for each instance. The other callbacks may be left out: they are for what the bolt does outside
    of the run, such as writing to a database, and should not emit.
    """

    key_values = KeyValues()
    """The state."""
    transactions = ReducingState("int64", max, per="task")
    """The number of the last transaction; None before the first."""

    def init_state(self, state: KeyValueState) -> None:
        """Receive the state, once, after `initialize` and before the first tuple; must be overridden.

        Args:
            state: what earlier instances of the task have put into it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define init_state(self, state)")

    def pre_prepare(self, txid: int) -> None:
        """Hear that the state of a transaction is about to be prepared.

        Called behind a slice of input when ``topology.state.checkpoint.interval.ms`` have passed since the
        last transaction, and behind the last slice.

        Args:
            txid: the number of the transaction; they ascend by one, also from one instance to the next.
        """

    def pre_commit(self, txid: int) -> None:
        """Hear that the state of a transaction is about to be committed; it follows `pre_prepare` at once.

        Args:
            txid: the number of the transaction.
        """

    def pre_rollback(self) -> None:
        """Hear that the state is about to be again what it was before the tuple for which the bolt raised.

        It matters to an instance that continues after an exception (``viper.on.error: skip``) and has copies
        of the state.
        """

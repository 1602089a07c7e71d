"""The first of the two calls for a tuple with transactions: the component says what it wants, no more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NoReturn

from framework.model.errors import EmitError
from framework.runtime.exchange.pieces import Piece
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.slot import ComponentSlot
from viper.rows import Inbox
from viper.transactions.recorder import Recorder


class Gathering:
    """Calls `process` of a bolt with shared tables.

    Meanwhile it may not emit or answer, as what it will say depends on tables that others may be ahead of;
    and its declared state stays closed, as it may be changed by callbacks of tuples before this one.

    Args:
        slot: holds the component.
        inbox: makes tuples of rows; the recorder knows by it which one is in process.
        recorder: takes down what the component wants.
    """

    def __init__(self, slot: ComponentSlot, inbox: Inbox, recorder: Recorder) -> None:
        self._slot = slot
        self._inbox = inbox
        self._recorder = recorder

    def gather(self, pieces: list[Piece]) -> dict[int, BaseException]:
        """Call it for tuples; returns what it has raised, by the number of the tuple among them.

        Such a tuple has no transactions.
        """
        raised: dict[int, BaseException] = {}
        if self._slot.state is not None:
            self._slot.state.scope.leave()
        self._recorder.start()
        self._inbox.load(pieces)
        with self._recording(self._slot.host.component):
            while not self._is_done(raised):
                pass
        return raised

    def _is_done(self, raised: dict[int, BaseException]) -> bool:
        process, inbox = self._slot.process, self._inbox
        try:
            for tup in inbox:
                process(tup)
        except user_errors() as error:
            raised[inbox.handed - 1] = error
            self._recorder.discard_input()
            return False
        return True

    @contextmanager
    def _recording(self, component: Any) -> Iterator[None]:
        with refusing(component):
            given = {"transaction": self._recorder.begin, "alone": self._recorder.alone}
            component.__dict__.update(given)
            try:
                yield
            finally:
                for name in given:
                    del component.__dict__[name]


@contextmanager
def refusing(component: Any) -> Iterator[None]:
    """Within the block, a component that says what it wants of shared tables can neither emit nor answer."""
    before = {name: component.__dict__.get(name) for name in _REFUSED}
    component.__dict__.update(_REFUSED)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del component.__dict__[name]
            else:
                component.__dict__[name] = value


def _refusal(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise EmitError(
            f"{name}() where a bolt says what it wants of shared tables: that is evaluated later, so "
            f"{name}() belongs into process_result(), of batches into process_results()"
        )

    return refuse


_REFUSED: Final = {name: _refusal(name) for name in ("emit", "emit_rows", "ack", "fail")}

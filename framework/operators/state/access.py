"""The interface between the runtime and a declared state: the access that it passes, the handle that it
expects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from viper.state import KeyedTable, Scope


def no_time() -> int:
    """The time where no tuple is in process.

    Raises:
        LookupError: always.
    """
    raise LookupError("state that is forgotten by time is there while a tuple is processed")


@dataclass(frozen=True, slots=True)
class StateAccess:
    """The way of one task to one of its states."""

    name: str
    """The attribute's name, for messages."""
    tables: Sequence[KeyedTable]
    """The state's tables, as `State.codes` names them."""
    scope: Scope
    """Says which key the state is of now. That of state by task stays at one key."""
    clock: Scope
    """Says what is taken back together: its `number` is another one for each tuple and each other callback,
    such as one with the rows of a batch bolt."""
    goes_on: bool
    """True if the component may continue after an exception, so that a tuple's changes must be taken back."""
    now: Callable[[], int] = no_time
    """The time of the tuple in process, in microseconds."""
    groups: range = range(0)
    """The key groups that the task owns."""
    group_count: int = 0
    """The number of key groups of its component; 0 where that has no state by key."""
    key_fields: int = 1
    """The number of fields in a key.

    With one field, a key is that value, which may be a tuple; with several, it is a tuple of them. 0 if the
    component makes its keys itself.
    """
    is_read_anytime: bool = True
    """True if others may read the tables behind any slice: the successor of a process that has died, or the
    tasks that claim keys with this one."""


@runtime_checkable
class DirtyHandle(Protocol):
    """A handle that holds changes back, which are not in the tables yet."""

    def flush(self) -> None:
        """Write all changes into the tables, as they are about to be committed.

        Raises:
            StateFullError: there is no room for them.
        """

    def forget(self) -> None:
        """Take back what the tuple in process has changed, but for tables, which go back by themselves."""


@runtime_checkable
class OwningHandle(Protocol):
    """A handle of state by key that knows more of its task's keys than the tables do."""

    def own(self, groups: range) -> None:
        """Have other key groups from now on, which the tables have already; all changes are committed.

        Args:
            groups: those that the task owns.
        """


@runtime_checkable
class NotingHandle(OwningHandle, Protocol):
    """One that leaves word for whichever task owns its keys next."""

    def note(self) -> None:
        """Leave word, as key groups are about to be handed over; all changes are written."""


@runtime_checkable
class LivingHandle(DirtyHandle, Protocol):
    """One that holds changes back until a checkpoint."""

    def save(self) -> None:
        """Write all changes into the tables, as a checkpoint is about to read them.

        Raises:
            StateError: a value cannot be pickled.
            StateFullError: there is no room for them.
        """

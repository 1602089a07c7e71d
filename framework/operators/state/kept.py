"""Values that were unpickled and are kept, and which of them may differ from what the tables have.

A value that a component was given may be changed in place, in each tuple that looks at it. It is pickled once
for all of a slice's tuples, when the slice ends. So where a tuple can be taken back alone, a value that is
dirty already is pickled before the tuple gets it, too: this image is what it goes back to.
"""

from __future__ import annotations

import pickle
from collections.abc import Hashable, Iterator
from typing import Any, Final

from framework.model.errors import StateError
from framework.operators.state.access import StateAccess
from framework.operators.state.loading import loaded

MOST_KEPT: Final = 1 << 16
"""Values that are kept between slices; beyond that all are read again."""


class Kept:
    """A value, and where it belongs."""

    __slots__ = ("entry", "key", "token", "value")

    def __init__(self, token: Hashable, key: Any, entry: Any, value: Any) -> None:
        self.token = token
        """The name by which it is found."""
        self.key = key
        """Of the state."""
        self.entry = entry
        """The key within a map; None of a list."""
        self.value = value


class KeptValues:
    """The values that one state of a task has unpickled."""

    def __init__(self, access: StateAccess) -> None:
        self._name = access.name
        self._clock = access.clock
        self._keeps_images = access.goes_on
        self._kept: dict[Hashable, Kept] = {}
        self._dirty: dict[Hashable, Kept] = {}
        self._images: dict[Hashable, tuple[Kept, bytes | None]] = {}
        """Values that the tuple in process may have changed, as they were before; None if the table has
        them."""
        self._tuple = -1
        """The number of that tuple."""

    def get(self, token: Hashable) -> Kept | None:
        """The value known by a token; None if it is not kept."""
        return self._kept.get(token)

    def keep(self, kept: Kept) -> Kept:
        """Keep a value that is not kept yet."""
        self._kept[kept.token] = kept
        return kept

    def note(self, kept: Kept) -> None:
        """Note a value that is about to be changed, given away, or dropped."""
        if self._tuple != self._clock.number:
            self._tuple = self._clock.number
            self._images.clear()
        if kept.token not in self._images:
            holds_back = self._keeps_images and kept.token in self._dirty
            self._images[kept.token] = kept, self.pickled(kept.value) if holds_back else None

    def touch(self, kept: Kept) -> None:
        """Note a value that may differ from what the table has from now on."""
        self.note(kept)
        self._dirty[kept.token] = kept

    def mark(self, kept: Kept) -> None:
        """Mark a value as changed, likewise, where the change will not be taken back."""
        self._dirty[kept.token] = kept

    def drop(self, kept: Kept) -> None:
        """Keep a value no longer, as the state has no such value any more."""
        self.note(kept)
        self._kept.pop(kept.token, None)
        self._dirty.pop(kept.token, None)

    def forget(self) -> None:
        """Take back what the tuple in process has changed."""
        if self._clock.number != self._tuple:
            return
        for token, (kept, image) in self._images.items():
            if image is None:
                self._kept.pop(token, None)
                self._dirty.pop(token, None)
            else:
                kept.value = loaded(image)
                self._kept[token] = self._dirty[token] = kept
        self._images.clear()

    def let_go(self, kept: Kept) -> None:
        """Keep a value no longer that has been written."""
        self._kept.pop(kept.token, None)

    def flush(self) -> Iterator[Kept]:
        """The values that may differ, which are to be written."""
        yield from self._dirty.values()
        self._dirty.clear()
        self._images.clear()
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()

    def trim(self) -> None:
        """Keep only what the tables do not have, if too much else is kept."""
        if len(self._kept) - len(self._dirty) > MOST_KEPT:
            self._kept = dict(self._dirty)

    def let_all_go(self) -> None:
        """Keep nothing any more, as the task is about to own other keys; what was dirty has been written.

        Raises:
            RuntimeError: something is dirty, and another task would not see it.
        """
        if self._dirty:
            raise RuntimeError(
                f"state {self._name} holds {len(self._dirty)} values back: expected hand_over() and a commit "
                "before its key groups are handed over"
            )
        self._kept.clear()
        self._images.clear()

    def pickled(self, value: Any) -> bytes:
        """The bytes of a value.

        Raises:
            StateError: it cannot be pickled.
        """
        try:
            return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise StateError(
                f"state {self._name} holds {value!r:.300}, which cannot be pickled: {error}"
            ) from error

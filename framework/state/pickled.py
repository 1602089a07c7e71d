"""A value of any type, which is pickled when a slice that may have changed it ends.

Values that were used are kept as they are, so that each is unpickled once. A value that was read may have
been changed in place; only of plain values is it sure that they were not.
"""

from __future__ import annotations

import pickle
from typing import Any, Final

from framework.errors import StateError
from framework.state.access import StateAccess
from viper.rows import is_plain

MOST_KEPT: Final = 1 << 16
"""Keys whose values are kept between slices; beyond that all are read anew."""


class PickledValue:
    """The value of the key of the tuple in process."""

    def __init__(self, access: StateAccess, default: Any) -> None:
        (self._table,) = access.tables
        self._name = access.name
        self._scope = access.scope
        self._clock = access.clock
        self._keeps_images = access.goes_on
        self._default = default if is_plain(default) else None
        self._pickled_default = None if is_plain(default) else self._pickled(default)
        self._kept: dict[bytes, _Kept] = {}
        """By the canonical bytes of their keys."""
        self._dirty: dict[bytes, _Kept] = {}
        """Those that may differ from what the table has."""
        self._images: dict[bytes, _Image] = {}
        """Those that the tuple in process may have changed, as they were before it."""
        self._tuple = -1
        """The number of that tuple."""

    @property
    def value(self) -> Any:
        """The value of the key of the tuple in process."""
        kept = self._look()
        if not is_plain(kept.value):
            self._touch(kept)
            kept.is_set = True  # as it may be changed in place, and the key have it then
        return kept.value

    @value.setter
    def value(self, value: Any) -> None:
        kept = self._look()
        self._touch(kept)
        kept.value, kept.is_set = value, True

    @value.deleter
    def value(self) -> None:
        self.clear()

    @property
    def is_set(self) -> bool:
        """Whether the key was given a value."""
        return self._look().is_set

    def clear(self) -> None:
        """Let the key have the default again."""
        kept = self._look()
        self._touch(kept)
        kept.value, kept.is_set = self._initial(), False

    def flush(self) -> None:
        """As `DirtyHandle.flush`."""
        for kept in self._dirty.values():
            self._write(kept)
        self._dirty.clear()
        self._images.clear()
        if len(self._kept) > MOST_KEPT:
            self._kept.clear()

    def forget(self) -> None:
        """As `DirtyHandle.forget`."""
        if self._clock.number != self._tuple:
            return
        for token, image in self._images.items():
            if image is None:  # the table has what the key had
                self._kept.pop(token, None)
                self._dirty.pop(token, None)
            else:
                kept = self._kept[token]
                kept.value, kept.is_set = self._unpickled(image[0]), image[1]
        self._images.clear()

    def _look(self) -> _Kept:
        token = self._scope.token
        kept = self._kept.get(token)
        if kept is None:
            found = self._table.get(self._scope.key)
            value = self._initial() if found is None else self._unpickled(found[0])
            kept = self._kept[token] = _Kept(token, self._scope.key, value, found is not None)
        return kept

    def _touch(self, kept: _Kept) -> None:
        """Note that a value may change."""
        if self._tuple != self._clock.number:
            self._tuple = self._clock.number
            self._images.clear()
        if kept.token not in self._images:
            was_dirty = kept.token in self._dirty
            self._images[kept.token] = (
                (self._pickled(kept.value), kept.is_set) if was_dirty and self._keeps_images else None
            )
            self._dirty[kept.token] = kept

    def _write(self, kept: _Kept) -> None:
        if not kept.is_set:
            self._table.drop(kept.key)
            return
        found, pickled = self._table.get(kept.key), self._pickled(kept.value)
        if found is None or found[0] != pickled:
            self._table.set(kept.key, (pickled,))

    def _initial(self) -> Any:
        return self._default if self._pickled_default is None else pickle.loads(self._pickled_default)

    def _pickled(self, value: Any) -> bytes:
        try:
            return pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise StateError(
                f"state {self._name} holds {value!r:.300}, which cannot be pickled: {error}"
            ) from error

    def _unpickled(self, data: bytes) -> Any:
        return pickle.loads(data)


class _Kept:
    __slots__ = ("is_set", "key", "token", "value")

    def __init__(self, token: bytes, key: Any, value: Any, is_set: bool) -> None:
        self.token = token
        self.key = key
        self.value = value
        self.is_set = is_set


_Image = tuple[bytes, bool] | None

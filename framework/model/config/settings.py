"""The entries of each layer, and the settings that result for a whole topology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from framework.model.topology.places import Place


@dataclass(frozen=True, slots=True)
class Entry:
    """A value as one layer sets it."""

    value: Any
    place: Place


Layer = Mapping[str, Entry]
"""The entries of one source of configuration, by key."""


@dataclass(frozen=True, slots=True, eq=False)
class Settings(Mapping[str, Any]):
    """The values that hold for the whole topology: of every key in `KEYS`, and of the user's own.

    A key in `KEYS` always has a value that its rule allows: what a layer sets wrongly is reported
    by `resolve` and left out.
    """

    entries: Mapping[str, Sequence[Entry]]
    """The entries of all layers for each key, the lowest first; the last one holds."""

    def __getitem__(self, key: str) -> Any:
        return self.entries[key][-1].value

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def origin(self, key: str) -> str:
        """Return the origin of a key's value: ``conf/defaults.yaml:12``, ``option -o`` and the like.

        Raises:
            KeyError: nothing sets this key.
        """
        return str(self.entries[key][-1].place)

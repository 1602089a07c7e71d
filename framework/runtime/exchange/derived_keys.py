"""The keys of rows, derived by their producer as the operator that receives them would do it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from framework.model.errors import EmitError
from framework.operators.components.tuple import Tuple
from framework.runtime.exchange.values import shown
from viper.hashing import group_of_hash, hashes_of_rows, task_of_group
from viper.payload import Row
from viper.scalars import python_keys
from viper.state import token_of

Values = type[tuple[Any, ...]]


class Address(NamedTuple):
    """The keys of one row, and what it has behind its own values on its way."""

    groups: tuple[int, ...]
    """The group of each key, ascending."""
    keys: tuple[Any, ...]
    """In the order in which the operator has given those of one group."""
    first: int | None
    """The group of the first key; its owner reports a late tuple.

    None if there was no key.
    """

    def parts(self, owners: Sequence[int]) -> Iterator[tuple[int, Address]]:
        """The share of each task in it, with the index of the task; `owners` has these indexes by group."""
        groups, begin = self.groups, 0
        while begin < len(groups):
            owner, end = owners[groups[begin]], begin + 1
            while end < len(groups) and owners[groups[end]] == owner:
                end += 1
            yield owner, Address(groups[begin:end], self.keys[begin:end], self.first)
            begin = end


class KeysOfRows:
    """Derives the keys of the rows of one stream of a producing task."""

    def __init__(
        self,
        keys: Callable[[Tuple], Iterable[Any]],
        stream: tuple[str, str, int],
        values: Values | None,
        groups: int,
        described: str,
    ) -> None:
        """
        Args:
            keys: that of the operator.
            stream: the component, the stream and the id of the task, as the operator's tuples have them.
            values: the named tuple class of the stream's values; None where it declares no fields.
            groups: the number of key groups.
            described: the stream, its consumer and the grouping, for messages.
        """
        self._keys = keys
        self._stream = stream
        self._make = None if values is None else values._make  # type: ignore[attr-defined]
        self._groups = groups
        self._described = described

    def of(self, row: Row) -> Address:
        """The address of a row.

        Raises:
            EmitError: the operator raised, or has given what is no key.
        """
        tup = Tuple("", *self._stream, row if self._make is None else self._make(row))
        try:
            keys = python_keys(self._keys(tup))
            hashes = _hashes(keys)
            if len(set(hashes)) < len(keys):  # else no two of them are equal, which tokens would cost 350 ns
                keys = list({token_of(key): key for key in keys}.values())
                hashes = _hashes(keys)
        except (Exception, SystemExit) as error:
            raise EmitError(
                f"{self._described}: keys() raised {type(error).__name__} for {shown(row)}: {error}"
            ) from error
        groups = [group_of_hash(hashed, self._groups) for hashed in hashes]
        order = sorted(range(len(keys)), key=groups.__getitem__)
        return Address(
            tuple([groups[index] for index in order]),
            tuple([keys[index] for index in order]),
            groups[0] if groups else None,
        )


def _hashes(keys: list[Any]) -> array[int]:
    hashes = array("Q")
    hashes.frombytes(hashes_of_rows(list(zip(keys)), (0,)))
    return hashes


def owners_of(tasks: int, groups: int) -> list[int]:
    """By key group, the index of the task that owns it."""
    return [task_of_group(group, tasks, groups) for group in range(groups)]

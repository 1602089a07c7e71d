"""How many outputs each of some inputs has had, which is what positions of outputs are made of."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, Final

from viper.rows import ends_of_bits

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WORD: Final = 8
"""Bytes that hold the bits of 64 inputs."""
_NOTHING: Final = memoryview(array("I"))
# Made once, as counting takes 20 ns each; never changed, but replaced by others, perhaps in another thread.
_ones = _zeros = _NOTHING


class Fanout:
    """How many outputs each of some inputs has had, in the shortest of three forms; it is never changed.

    Where each has one, or one at most, that takes no memory, or a bit for each: a filter of 16,384 rows spent
    30 us on numbers of 4 bytes that said so.

    Args:
        inputs: how many inputs there are.
        kept: the inputs that have one, by bits as native uint64 from the lowest upwards; None where each has.
        ends: in its place, for each input the number of outputs up to its own, that included, as uint32.

    Raises:
        ValueError: these are not as many as the inputs, and C would read on behind them.
    """

    __slots__ = ("_ends", "inputs", "kept")

    def __init__(self, inputs: int, kept: Buffer | None = None, ends: memoryview[int] | None = None) -> None:
        if kept is not None and (size := memoryview(kept).nbytes) < (inputs + 63) // 64 * _WORD:
            raise ValueError(f"{size} bytes of bits for {inputs} inputs: expected whole words of {_WORD}")
        if ends is not None and len(ends) != inputs:
            raise ValueError(f"{len(ends)} ends for {inputs} inputs")
        self.inputs = inputs
        """How many inputs there are."""
        self.kept: Any = kept
        """As given."""
        self._ends = ends

    @classmethod
    def of_ends(cls, ends: Buffer) -> Fanout:
        """By the number of outputs up to each input, as native uint32 that nobody changes."""
        numbers = memoryview(ends).cast("B").cast("I")
        return cls(len(numbers), None, numbers)

    @classmethod
    def of_none(cls, inputs: int) -> Fanout:
        """Of inputs that have no output."""
        global _zeros
        zeros = _zeros
        if len(zeros) < inputs:
            zeros = _zeros = memoryview(bytes(8 * inputs)).cast("I")
        return cls(inputs, None, zeros[:inputs])

    @property
    def told_ends(self) -> memoryview[int] | None:
        """The ends, where it has this form."""
        return self._ends

    @property
    def ends(self) -> memoryview[int]:
        """For each input the number of outputs up to and including its own, as uint32."""
        if self._ends is not None:
            return self._ends
        if self.kept is None:
            return _one_each(self.inputs)
        return memoryview(ends_of_bits(self.kept, self.inputs)).cast("I")

    def first(self, inputs: int) -> Fanout:
        """That of so many of the inputs, from the first on."""
        if inputs == self.inputs:
            return self
        return Fanout(inputs) if self._is_one_each else Fanout(inputs, None, self.ends[:inputs])

    def followed_by(self, other: Fanout, before: int) -> Fanout:
        """That of these inputs and of others behind them, which have `before` outputs before theirs."""
        made = array("I", self.ends)
        made.extend(other.ends if not before else map(before.__add__, other.ends))
        return Fanout(len(made), None, memoryview(made))

    @property
    def _is_one_each(self) -> bool:
        return self._ends is None and self.kept is None

    def __len__(self) -> int:
        return self.inputs

    def __repr__(self) -> str:
        ends = self.ends
        return f"Fanout({self.inputs} inputs, {ends[-1] if ends else 0} outputs)"


def _one_each(inputs: int) -> memoryview[int]:
    """1, 2, 3, ..."""
    global _ones
    ones = _ones
    if len(ones) < inputs:
        ones = _ones = memoryview(array("I", range(1, 2 * inputs + 1))).toreadonly()
    return ones[:inputs]

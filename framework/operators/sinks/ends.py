"""Numbers under which a sink applies rows: those of checkpoints, and of rows that belong to none.

A run without checkpoints has numbers of its own, `EAGER` and above, so that they are not taken for those of
checkpoints. The rows behind the last checkpoint have one too, when all input has come.

These rows are in no checkpoint. A run that is killed when one sink has applied them, and another has not, is
gone on with from the last checkpoint; then they come once more, and the sink that has them leaves them out.
So the number tells the checkpoint, and how many rows those are: if more come, they are others.
"""

from __future__ import annotations

from typing import Final

from framework.model.errors import SinkError

_END: Final = 1 << 62
EAGER: Final = 1 << 61
"""Numbers of runs without checkpoints are above this one, and below those of ends."""
_BITS: Final = 31
_MOST: Final = (1 << _BITS) - 1


def end_number(checkpoint: int, rows: int) -> int:
    """The number of so many rows behind a checkpoint, up to the end; larger than that of any checkpoint."""
    return _END | (rows + 1 if rows < _MOST else 0) << _BITS | checkpoint


def is_end(number: int) -> bool:
    """Whether a number is of rows behind the last checkpoint."""
    return number >= _END


def is_eager(number: int) -> bool:
    """True if a run without checkpoints has applied rows under a number."""
    return EAGER < number < _END


def checkpoint_of(number: int) -> int:
    """The checkpoint that a number is of, or that its rows stand behind."""
    return number & _MOST if is_end(number) else number


def rows_of(number: int) -> int | None:
    """How many rows were applied under the number of an end; None if there were too many to be told."""
    counted = number >> _BITS & _MOST
    return counted - 1 if counted else None


def refuse_more(part: str, number: int | None, come: int) -> None:
    """Refuse rows that a run has not applied at its end: to leave them out would be to lose them.

    Args:
        part: the sink's task, for the message.
        number: under which the rows at the end were applied.
        come: how many have come behind that checkpoint.

    Raises:
        SinkError: these are more.
    """
    expected = rows_of(number or 0)
    if expected is not None and come > expected:
        raise SinkError(
            f"{part}: an earlier run came to its end here, with {expected:,} rows behind checkpoint "
            f"{checkpoint_of(number or 0)}, and more have come: begin anew with another target. A run that "
            "is to be gone on with is suspended (viper stop --checkpoint), and not ended"
        )

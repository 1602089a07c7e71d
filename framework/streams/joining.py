"""The bolt that joins two streams of the Streams API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from framework.components import JoinBolt
from framework.streams.assembly import Input
from framework.windows.joins import Equal, Given, How, as_condition


class Joined(NamedTuple):
    """One of the two streams."""

    inputs: Sequence[Input]
    fields: Sequence[str]
    key: tuple[str, ...]
    """The fields of its key; empty where it has none."""


def join_bolt(
    left: Joined,
    right: Joined,
    on: Given,
    index: str | Sequence[str],
    fields: Sequence[str] | None,
    how: How = "inner",
) -> JoinBolt:
    """The bolt for a join; of two streams by key only tuples with the same key match.

    Args:
        left: the stream that is joined.
        right: the one that it is joined with.
        on: what must hold for two tuples.
        index: fields of the left stream to make an index by, beside the key.
        fields: names of the values; None for those of both.
        how: of which streams a tuple is put out also without a partner.

    Raises:
        TypeError: no condition.
        ValueError: both are the same, or have keys of different lengths; errors of `JoinBolt`.
    """
    if set(left.inputs) & set(right.inputs):
        raise ValueError("join() of a stream with itself: map one of them first, as by peek()")
    condition, indexed = as_condition(on), (index,) if isinstance(index, str) else tuple(index)
    if left.key and right.key:
        if len(left.key) != len(right.key):
            raise ValueError(f"join() of keys {left.key} and {right.key}: expected as many fields")
        for of_left, of_right in zip(left.key, right.key, strict=True):
            condition &= Equal(left=of_left, right=of_right)
        indexed = tuple(dict.fromkeys((*left.key, *indexed)))
    apart = [f"right_{name}" if name in left.fields else name for name in right.fields]
    return JoinBolt(
        _named(left.inputs),
        _named(right.inputs),
        condition,
        fields or [*left.fields, *apart],
        index=indexed,
        how=how,
    )


def _named(inputs: Sequence[Input]) -> list[str]:
    return [f"{given.component}:{given.stream}" for given in inputs]

"""The bolts that join two streams of the Streams API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from framework.frontends.streams.assembly import Input
from framework.frontends.streams.forms import CountWindow, Session, WindowForm
from framework.operators.components import JoinBolt, JPlus
from framework.operators.components.jplus import PairsAt
from framework.operators.windows.joins import Equal, Given, How, as_condition


class Joined(NamedTuple):
    """One of the two streams."""

    inputs: Sequence[Input]
    fields: Sequence[str]
    key: tuple[str, ...]
    """The fields of its key; empty where it has none."""


def bolt_of(
    left: Joined,
    right: Joined,
    on: Given,
    fields: Sequence[str] | None,
    *,
    window: WindowForm | None,
    index: str | Sequence[str],
    how: How,
    pairs_at: PairsAt,
) -> JoinBolt | JPlus:
    """The bolt for a join, with windows or without; arguments and errors as of `join_bolt` and
    `window_join_bolt`."""
    if window is None:
        if pairs_at != "tuple":
            raise ValueError(f"join(pairs_at={pairs_at!r}): expected a window, too")
        return join_bolt(left, right, on, index, fields, how)
    if index or how != "inner":
        raise ValueError("join(window=...) with index= or how=: expected one of them")
    return window_join_bolt(left, right, window, on, fields, pairs_at)


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
    _check(left, right)
    condition, indexed = as_condition(on), (index,) if isinstance(index, str) else tuple(index)
    if left.key and right.key:
        for of_left, of_right in zip(left.key, right.key, strict=True):
            condition &= Equal(left=of_left, right=of_right)
        indexed = tuple(dict.fromkeys((*left.key, *indexed)))
    return JoinBolt(
        _named(left.inputs),
        _named(right.inputs),
        condition,
        fields or _fields_of(left, right),
        index=indexed,
        how=how,
    )


def window_join_bolt(
    left: Joined,
    right: Joined,
    window: WindowForm,
    on: Given,
    fields: Sequence[str] | None,
    pairs_at: PairsAt,
) -> JPlus:
    """The bolt for a join of tuples that have one key, and are in one window.

    Args:
        left: the stream that is joined.
        right: the one that it is joined with.
        window: how windows are formed, by time.
        on: what must hold for two tuples.
        fields: names of the values; None for those of both.
        pairs_at: the place of pairs in the order.

    Raises:
        TypeError: no condition.
        ValueError: a stream has no key, or was put together of several; windows are formed by count; errors
            as of `join_bolt`.
    """
    _check(left, right)
    if not (left.key and right.key):
        raise ValueError("join(window=...) of streams without a key: expected key_by() on both")
    if len(left.inputs) + len(right.inputs) > 2:
        raise ValueError("join(window=...) behind union(): expected one stream on either side, as by peek()")
    if isinstance(window, CountWindow):
        raise ValueError("join(window=...) in windows by count: expected Tumbling, Sliding or Session")
    return JPlus(
        on=on,
        fields=fields or _fields_of(left, right),
        pairs_at=pairs_at,
        windows="multi" if isinstance(window, Session) else "single",
        **window.arguments,
    )


def _check(left: Joined, right: Joined) -> None:
    if set(left.inputs) & set(right.inputs):
        raise ValueError("join() of a stream with itself: map one of them first, as by peek()")
    if left.key and right.key and len(left.key) != len(right.key):
        raise ValueError(f"join() of keys {left.key} and {right.key}: expected as many fields")


def _fields_of(left: Joined, right: Joined) -> list[str]:
    return [*left.fields, *(f"right_{name}" if name in left.fields else name for name in right.fields)]


def _named(inputs: Sequence[Input]) -> list[str]:
    return [f"{given.component}:{given.stream}" for given in inputs]

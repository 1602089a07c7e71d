"""Components that raise where no line of theirs is on the stack, or more of ours than of theirs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import streamparse

from framework import Bolt, Spout


class YieldsText(Spout):
    """Yields what is no row."""

    outputs = ["value"]

    def tuples(self) -> Iterator[Any]:
        yield [1]
        yield "no row"


class YieldsLambda(Spout):
    """Yields what cannot be carried."""

    outputs = ["value"]

    def tuples(self) -> Iterator[Any]:
        yield [lambda: None]


class RaisesInInit(Bolt):
    """Cannot be made."""

    def __init__(self) -> None:
        raise LookupError("no such table")


class PortedRaisesInInit(streamparse.Bolt):
    """Cannot be made."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        raise LookupError("no such table")

"""The rules by which the emits of a component are checked, and their values copied."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from framework.planning import TimeMode
from framework.runtime.exchange.buffer import SPILL_AT
from framework.runtime.exchange.values import as_json


@dataclass(frozen=True, slots=True)
class EmitRules:
    """The rules by which a component's emits are checked, and their values copied."""

    limit: int = SPILL_AT
    """Rows in the buffer at which the task sends them off in the middle of a callback."""
    undeclared_is_error: bool = False
    """Whether the emit of a component without declared streams is refused; otherwise a warning is logged."""
    strict: bool = False
    """For a bolt: whether a second answer to a tuple, or an anchor that is not open, is an error."""
    checked: bool = False
    """Whether every emit is handled by Python code, and none in C."""
    tracks: bool = False
    """For a spout: whether tuples that it emits with an id are tracked."""
    time: TimeMode = TimeMode.LOGICAL
    """The topology's time: only in event time may a spout's emit give a timestamp."""
    holds_back: bool = False
    """For a spout: whether its tuples are held back for a while, so that nobody knows their receivers."""
    unit: str = "ms"
    """The unit of a timestamp that is a number: s, ms, us or ns."""
    carried: Callable[[Any], Any] | None = None
    """Converts a value to what arrives of it; None where the value itself arrives. It needs `checked`."""

    @classmethod
    def configured(cls, conf: Mapping[str, Any]) -> EmitRules:
        """The rules that a component's configuration gives."""
        is_json = conf["viper.values"] == "json"
        return cls(
            undeclared_is_error=conf["viper.emit.undeclared"] == "error",
            strict=conf["viper.answers"] == "strict",
            checked=is_json,
            unit=conf["viper.timestamp.unit"],
            carried=as_json if is_json else None,
        )

"""Tuples that come too late, which spouts have admitted nevertheless."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from framework.common.units import micros_of
from framework.operators.components.bolt import Bolt
from framework.operators.components.tuple import Tuple
from framework.operators.windows.spec import LATE_STREAM, TIME_FIELD


class LateTuples:
    """What a bolt with windows does with late tuples.

    Args:
        bolt: whose they are.
        conf: its configuration, which names the field of their time.
    """

    def __init__(self, bolt: Bolt, conf: Mapping[str, Any]) -> None:
        self._bolt = bolt
        self._field: str = conf[TIME_FIELD]
        self._unit: str = conf["viper.timestamp.unit"]
        self._stream: str | None = conf[LATE_STREAM]
        self._count = 0

    def time_of(self, tup: Tuple) -> int:
        """The time of a tuple in microseconds.

        Raises:
            ValueError: it has no such field, or no time there.
        """
        try:
            return micros_of(getattr(tup.values, self._field), self._unit)
        except (AttributeError, TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"{TIME_FIELD} is {self._field!r}, where {tup!r:.300} has no time in {self._unit}: {error}"
            ) from error

    def pass_by(self, tup: Tuple) -> None:
        """Leave out a tuple that no window takes."""
        self._count += 1
        self._bolt.report_metric("late tuples", self._count)
        if self._stream is not None:
            # What is different in each plan would make the output so.
            self._bolt.emit([tup._replace(id="", task=0)], stream=self._stream)

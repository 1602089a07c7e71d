"""Options of bolts with windows, and tuples that come too late although spouts have admitted them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self

from framework.common.units import micros_of
from framework.operators.components.bolt import Bolt
from framework.operators.components.tuple import Tuple
from framework.operators.windows.spec import LATE_STREAM, LATENESS_MS, PARTIAL, TIME_FIELD, milliseconds


class WindowOptions:
    """The options of windows, as methods that all bolts with windows share."""

    _window_config: Mapping[str, Any] = {}

    def with_allowed_lateness(self, lateness: timedelta | str) -> Self:
        """Keep windows for a time behind their end, for late tuples: with each of these they fire again."""
        return self._with({LATENESS_MS: milliseconds("the allowed lateness", lateness, zero=True)})

    def with_partial_window(self) -> Self:
        """At the end of the input, fire the windows that no tuple has completed."""
        return self._with({PARTIAL: True})

    def with_timestamp_field(self, field: str) -> Self:
        """Say that a field has the time of a tuple. Spouts must take their timestamps from it, too."""
        return self._with({TIME_FIELD: field})

    def with_late_tuple_stream(self, stream: str) -> Self:
        """Emit tuples that come too late for their windows on a stream, each as the only value."""
        return self._with({LATE_STREAM: stream})

    def _with(self, configured: Mapping[str, Any]) -> Self:
        self._window_config = {**self._window_config, **configured}
        return self


class LateTuples:
    """The late tuples of a bolt with windows: counts them, and emits them on their stream if there is one.

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

"""Storm's windowed bolts: they process windows of tuples, not single ones."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Self
from zoneinfo import ZoneInfo

from framework.operators.components.bolt import Bolt
from framework.operators.components.tuple import Tuple
from framework.operators.components.window_options import LateTuples, WindowOptions
from framework.operators.windows import Count, OpenWindows, TupleWindow, WindowState
from framework.operators.windows.spec import (
    LAG_MS,
    LENGTH_COUNT,
    PLACING,
    TIME_FIELD,
    WATERMARK_MS,
    forming,
    forming_sessions,
    milliseconds,
    spec_in,
)

Length = Count | timedelta
"""Of a window: a number of tuples or a duration, which `Duration` makes."""
Offset = timedelta | int | str
"""Of windows: a timedelta, a number of microseconds, or a text such as ``6h`` or ``-30m``."""


class WindowedBolt(WindowOptions, Bolt):
    """Processes the tuples of a window together, as Storm's ``BaseWindowedBolt``.

        class Sum(WindowedBolt):
            outputs = ["sum"]

            def process_window(self, window):
                self.emit([sum(tup.values.number for tup in window.tuples)])

        builder.set_bolt("sum", Sum().with_window(Duration.seconds(30), Duration.seconds(10)))

    How windows are formed is configuration, under Storm's keys: the ``with_...`` methods write it, and
    ``config`` of the class or of the component may have the same. The windows of a task are formed of all
    tuples that it receives, in their order. They are declared state: see ``docs/windows.md``.

    A tuple is acked when its window has taken it.
    """

    window_contents = WindowState()
    """The tuples of the task's windows."""

    _late: LateTuples | None = None
    """Finds late tuples, where a field has the time of each."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not (cls.auto_ack and cls.auto_fail and cls.auto_anchor):
            raise TypeError(
                f"windowed bolt {cls.__name__} sets auto_ack, auto_fail or auto_anchor to False, but a tuple "
                "is acked when its window has taken it: derive it from Bolt"
            )
        for name in ("process", "process_tick"):
            if getattr(cls, name) is not getattr(WindowedBolt, name):
                raise TypeError(
                    f"windowed bolt {cls.__name__} defines {name}, but gets its tuples in process_window: "
                    "derive it from Bolt, or remove the method"
                )

    def process_window(self, window: TupleWindow) -> None:
        """Process the tuples of a window; must be overridden."""
        raise NotImplementedError(f"{type(self).__name__} must define process_window(self, window)")

    def process(self, tup: Tuple) -> None:
        """Take a tuple into its windows; not to be overridden."""
        windows = self.window_contents
        if self._late is not None and self._takes_late(tup, self._late, windows):
            return
        windows.add(tup)
        window = windows.completed()
        if window is not None:
            self.process_window(window)

    def _takes_late(self, tup: Tuple, late: LateTuples, windows: OpenWindows) -> bool:
        """Deal with a tuple if it is late, and return whether it is."""
        time_us = late.time_of(tup)
        if not windows.is_late(time_us):
            return False
        updates = windows.add_late(tup, time_us)
        if updates is None:
            late.pass_by(tup)
            return True
        for window in updates:
            self.process_window(window)
        return True

    # -- how windows are formed, in Storm's words

    def with_window(
        self,
        length: Length | str,
        sliding: Length | str | None = None,
        offset: Offset | None = None,
        zone: str | ZoneInfo | None = None,
    ) -> Self:
        """Have windows of a length, the next of which fires an interval later.

        Args:
            length: a `Count` or a duration; with a zone days, weeks or months, such as ``1d``.
            sliding: likewise; None for one tuple, so that a window fires with each.
            offset: how much later than at the multiples of the interval windows end, or earlier if it is
                below 0: a timedelta, microseconds, or a text such as ``6h`` or ``-30m``.
            zone: the zone whose days, weeks or months these are, such as ``Europe/Berlin``.

        Raises:
            TypeError: one of them is none of these.
            ValueError: a length is not above 0, the zone is not known, or windows have no such bounds.
        """
        return self._formed(forming(length, Count(1) if sliding is None else sliding, offset, zone))

    def with_tumbling_window(
        self, length: Length | str, offset: Offset | None = None, zone: str | ZoneInfo | None = None
    ) -> Self:
        """Have each window begin where the one before ends; arguments and errors as of `with_window`."""
        return self._formed(forming(length, length, offset, zone))

    def with_session_window(self, gap: timedelta | str) -> Self:
        """Have windows that end when no tuple has come for some time; errors as of `with_window`.

        Args:
            gap: a tuple that comes just so much later begins the next session.
        """
        return self._formed(forming_sessions(gap))

    def with_lag(self, lag: timedelta | str) -> Self:
        """Say how far out of order tuples may come. Spouts put them in order (``viper.timestamp.slack``)."""
        return self._with({LAG_MS: milliseconds("the lag", lag, zero=True)})

    def with_watermark_interval(self, interval: timedelta | str) -> Self:
        """Accepted as Storm's, without effect: windows fire as soon as all their tuples have come."""
        return self._with({WATERMARK_MS: milliseconds("the watermark interval", interval)})

    withWindow = with_window
    withTumblingWindow = with_tumbling_window
    withTimestampField = WindowOptions.with_timestamp_field
    withLag = with_lag
    withLateTupleStream = WindowOptions.with_late_tuple_stream
    withWatermarkInterval = with_watermark_interval

    @property
    def component_configuration(self) -> Mapping[str, Any]:
        """The configuration that the ``with_...`` methods have made; Storm's
        ``getComponentConfiguration``."""
        return self._window_config

    def _formed(self, configured: Mapping[str, Any]) -> Self:
        """Have windows that are formed so, wherever those began that were to be formed before."""
        others = {key: value for key, value in self._window_config.items() if key not in PLACING}
        self._window_config = {**others, **configured}
        return self

    # -- what the runtime calls, and what it is told

    def _open_windows(self, conf: Mapping[str, Any]) -> None:
        """Continue with the windows that the task has."""
        spec = spec_in(conf)
        assert spec is not None, f"planning has refused windows without {LENGTH_COUNT}"
        self.window_contents.open(spec, conf)
        if conf[TIME_FIELD] is not None:
            self._late = LateTuples(self, conf)

    def _fire_to(self, end_us: int) -> None:
        """Process the window that ends at a time."""
        self.process_window(self.window_contents.window_to(end_us))

    def _fire_rest(self) -> None:
        """Process the window of what is left at the end of all, if anything is."""
        window = self.window_contents.rest()
        if window is not None:
            self.process_window(window)

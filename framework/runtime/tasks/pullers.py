"""Asking a spout for tuples: as a generator, or by `next_tuple`, and for no more than is granted."""

from __future__ import annotations

import datetime
import time
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator
from types import GeneratorType
from typing import Any, Final

from framework.operators.components import Later, Spout
from framework.runtime.exchange.buffer import EmitBuffer
from framework.runtime.tasks.context import TaskContext
from framework.runtime.tasks.hosts.faults import OnError
from framework.runtime.tasks.hosts.user_errors import user_errors
from framework.runtime.tasks.slot import ComponentSlot
from viper.quota import Quota

WAITED_S = 0.00005
"""Seconds of a call for a tuple from which on it is taken to have waited: a few times what a call costs."""
UNASKED_LINGER_S = 0.001
"""Seconds for which tuples linger at most that a call emits beyond what was asked for. To hand them on singly
takes four times the processor time, with 256 tuples in a call."""

_LIKE_TIMES: Final = (int, float, datetime.date, datetime.time, datetime.timedelta)
"""Of what `next_tuple` may return: the classes of values by which somebody may want to say a time."""
_A_TIME: Final = "a time: after(seconds) or at(datetime) of viperstorm"


class Puller(ABC):
    """Asks a spout for tuples until it has brought enough, or the slice is over."""

    def __init__(
        self, context: TaskContext, slot: ComponentSlot, buffer: EmitBuffer, linger_s: float
    ) -> None:
        """
        Args:
            context: the task's.
            slot: holds the spout.
            buffer: holds what it emits.
            linger_s: seconds for which tuples are asked for before they are handed on.
        """
        self._context = context
        self._slot = slot
        self._buffer = buffer
        self._linger_s = linger_s
        self._slice_end_s = 0.0
        """Monotonic time in seconds at which no more is to be asked for in this slice."""
        self._lingered_at_s = 0.0
        """Monotonic time in seconds from which what a call emits is handed on before it returns."""
        self._emitted_at_s = 0.0
        """Monotonic time in seconds of its last emit, or of when that was handed on."""
        self._emitted_before_call = 0
        self.is_asking = False
        """True if the spout is being asked for tuples."""
        self.later: Later | None = None
        """The time at which the spout has something again, if it has said so when it was asked last."""

    def waits(self, now_s: float) -> bool:
        """True if the spout has named a time that has not come, at a monotonic time in seconds."""
        if self.later is None or not self.later.has_come(now_s):
            return self.later is not None
        self.later = None
        return False

    def has_heard(self) -> None:  # noqa: B027
        """Note that the spout was called for another reason, and may have something now."""

    def _is_later(self, later: Later) -> bool:
        """Note a time that the spout names; true if it is to be asked no more in this turn."""
        now_s = time.monotonic()
        self.later = later
        return now_s >= self._slice_end_s or not later.has_come(now_s)

    def pull(self, count: int) -> bool:
        """Ask for so many tuples, or for as many as come until the slice is over.

        Returns:
            True if the spout has no more tuples.

        Raises:
            ComponentError: it raised, and the run ends with it.
        """
        self.is_asking = True
        self.begin_slice(time.monotonic())
        try:
            return self._pull(count)
        except user_errors() as error:
            self._raised(error)
            return False
        finally:
            self.is_asking = False

    def begin_slice(self, now_s: float) -> None:
        """Continue until a linger time after a monotonic time in seconds."""
        self._slice_end_s = self._lingered_at_s = now_s + self._linger_s

    def has_lingered(self, now_s: float) -> bool:
        """True if it is time to hand on emitted tuples, at the monotonic time in seconds of an emit.

        Once no more is asked for, that is soon, and at once where emits take their time.
        """
        since_s, self._emitted_at_s = now_s - self._emitted_at_s, now_s
        return now_s >= self._lingered_at_s or (not self._slice_end_s and since_s > WAITED_S)

    def end_slice(self, now_s: float) -> None:
        """Ask for no more in this slice, at a monotonic time in seconds; the call may continue to emit."""
        self._slice_end_s, self._emitted_at_s = 0.0, now_s
        self._lingered_at_s = now_s + min(self._linger_s, UNASKED_LINGER_S)

    @property
    def waiting(self) -> int:
        """Rows that the spout has emitted and that have not been sent off."""
        return len(self._buffer)

    @property
    def emitted_by_call(self) -> int:
        """Tuples of the present call that have been sent off."""
        return self._context.counters.emitted - self._emitted_before_call

    @abstractmethod
    def _pull(self, count: int) -> bool:
        """As `pull`; what the spout raises passes through."""

    @abstractmethod
    def _raised(self, error: BaseException) -> None:
        """Deal with what the spout has raised."""

    def close(self) -> None:  # noqa: B027
        """Ask for nothing more."""

    def _begin_call(self) -> None:
        self._emitted_before_call = self._context.counters.emitted

    def _timed(self, call: Any, *args: Any) -> Any:
        """Call a spout that may block.

        A spout that has kept its task waiting for a tuple will do so for the next one, too, so what it has
        brought is sent off at once.
        """
        began_s = time.monotonic()
        answer = self._slot.presence.away(call, *args)
        if time.monotonic() - began_s > WAITED_S:
            self._slice_end_s = 0.0
        return answer


class GeneratorPuller(Puller):
    """Draws from the generator of a spout that has one."""

    def __init__(
        self,
        context: TaskContext,
        slot: ComponentSlot,
        buffer: EmitBuffer,
        linger_s: float,
        generator: Iterator[Any],
    ) -> None:
        """
        Args:
            context: as in the base class, like all but the last.
            slot: holds the spout.
            buffer: holds what it emits.
            linger_s: seconds for which tuples are asked for before they are handed on.
            generator: yields values, or None for nothing at the moment.
        """
        super().__init__(context, slot, buffer, linger_s)
        self._generator = generator

    def _pull(self, count: int) -> bool:
        self._begin_call()
        if self._slot.presence.is_blocking:
            return self._pull_singly(self._drawn(), count)
        if self._slot.host.component.emit != self._buffer.outbox.emit:
            return self._pull_singly(self._generator, count)
        return self._pull_many(self._generator, count)

    def _pull_many(self, generator: Iterator[Any], count: int) -> bool:
        """As `_pull`; an emit that changes nothing on the way needs no call for each row.

        A row costs a third of what it does in `_pull_singly`.
        """
        outbox, emit, left = self._buffer.outbox, self._slot.host.component.emit, count
        while left > 0:
            drawn, over, values = outbox.draw(generator, left, self._slice_end_s - time.monotonic())
            if over or values is None:
                return over
            left -= drawn
            if type(values) is Later:
                if self._is_later(values):
                    return False
                continue
            left -= 1
            emit(values)
            if time.monotonic() >= self._slice_end_s or self._is_enough(values, count):
                return False
        return False

    def _pull_singly(self, generator: Iterator[Any], count: int) -> bool:
        emit, monotonic, drawn = self._slot.host.component.emit, time.monotonic, 0
        for values in generator:
            if values is None:
                return False
            if type(values) is Later:
                if self._is_later(values):
                    return False
                continue
            emit(values)
            drawn += 1
            if drawn == count or monotonic() >= self._slice_end_s or self._is_enough(values, count):
                return False
        return True

    def _is_enough(self, values: Any, count: int) -> bool:
        """True if values were a batch of many tuples, and have brought as many as were requested."""
        return type(values) is not list and type(values) is not tuple and self._has_brought(count)

    def _has_brought(self, count: int) -> bool:
        return self.emitted_by_call + self.waiting >= count

    def _drawn(self) -> Iterator[Any]:
        end = object()
        while (values := self._timed(next, self._generator, end)) is not end:
            yield values

    def _raised(self, error: BaseException) -> None:
        if self._slot.choice(error) is OnError.SKIP:  # which would end its stream without a word
            advice = "a generator cannot go on after an exception: catch it there"
            self._context.fail("tuples", error, tried=advice)
        self._name_place(error)
        self._slot.raised("tuples", error)

    def _name_place(self, error: BaseException) -> None:
        """Note at an error of an emit where the generator has yielded the values."""
        frame = self._generator.gi_frame if isinstance(self._generator, GeneratorType) else None
        if frame is not None and frame.f_lasti >= 0:  # one that has raised itself has no frame any more
            error.add_note(f"yielded at {frame.f_code.co_filename}:{frame.f_lineno}")
            if isinstance(error, TypeError):
                error.add_note(f"tuples() yields rows, None, or {_A_TIME}")

    def close(self) -> None:
        """Close the generator."""
        if isinstance(self._generator, Generator):
            self._slot.call("tuples", self._generator.close)


class PollingPuller(Puller):
    """Calls `next_tuple` again and again."""

    def _pull(self, count: int) -> bool:
        buffer, counters, emitted = self._buffer, self._context.counters, self._context.counters.emitted
        next_tuple = self._next_tuple()
        try:
            while True:
                before = len(buffer) + counters.emitted
                self._begin_call()
                answer = next_tuple()
                if answer is not None and self._hears(answer):
                    return False
                total = len(buffer) + counters.emitted
                if total == before or total - emitted >= count or time.monotonic() >= self._slice_end_s:
                    return False
        except StopIteration:
            return True

    def _hears(self, answer: Any) -> bool:
        """Note what `next_tuple` has returned; true if the spout is to be asked no more in this turn.

        Raises:
            TypeError: it seems to be meant for a time, and is none. A spout of streamparse's, whose answer
                nobody hears on Storm, may give any.
        """
        if type(answer) is Later:
            return self._is_later(answer)
        component = self._slot.host.component
        is_meant = isinstance(answer, _LIKE_TIMES) and not isinstance(answer, bool)
        if is_meant and isinstance(component, Spout):
            code = getattr(component.next_tuple, "__code__", None)
            place = "" if code is None else f" ({code.co_filename}:{code.co_firstlineno})"
            raise TypeError(
                f"next_tuple{place} returned {answer!r:.100}: expected None, or {_A_TIME}"
            )
        return False

    def has_heard(self) -> None:
        """As in the base class."""
        self.later = None

    def _next_tuple(self) -> Any:
        next_tuple = self._slot.host.component.next_tuple
        if not self._slot.presence.is_blocking:
            return next_tuple
        return lambda: self._timed(next_tuple)

    def _raised(self, error: BaseException) -> None:
        self._slot.raised("next_tuple", error)


def make_puller(context: TaskContext, slot: ComponentSlot, buffer: EmitBuffer, linger_s: float) -> Puller:
    """The puller that asks the component of a slot for tuples; to be made once that is initialized.

    Args:
        context: the task's.
        slot: holds the spout.
        buffer: holds what it emits.
        linger_s: seconds for which tuples are asked for before they are handed on.
    """
    generator = slot.host.tuples()
    if generator is None:
        return PollingPuller(context, slot, buffer, linger_s)
    return GeneratorPuller(context, slot, buffer, linger_s, generator)


class Allowance:
    """A task's part of the quota: taken before the spout is asked, used as it emits, given back afterwards.

    Args:
        quota: bounds how much all spouts emit together.
    """

    def __init__(self, quota: Quota) -> None:
        self._quota = quota
        self._is_limited = quota.left is not None
        self._granted = 0

    def take(self, count: int) -> int:
        """Ask for so many tuples; returns how many may be emitted, beyond those granted before."""
        granted = self._quota.take(count) if self._is_limited else count
        self._granted += granted
        return granted

    def use(self, count: int) -> None:
        """Note that so many tuples were emitted; less are granted from now on, if one call has emitted
        that many."""
        granted = count if count < self._granted else self._granted
        self._granted -= granted
        if self._is_limited:
            self._quota.settle(granted, count)

    def give_back(self) -> int:
        """Give back what is granted and has not been used; returns how much that was."""
        granted, self._granted = self._granted, 0
        if self._is_limited:
            self._quota.settle(granted, 0)
        return granted

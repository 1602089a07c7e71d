"""The values of tuples that wait for room, in the payloads in which they came."""

from __future__ import annotations

from viper.payload import Payload, worth_joining


class Backlog:
    """A queue of tuples' values. Large payloads are not copied to be together."""

    __slots__ = ("_gone", "_payloads", "count")

    def __init__(self) -> None:
        self.count = 0
        """The number of tuples."""
        self._payloads: list[Payload] = []
        self._gone = 0
        """Tuples of the first payload that have been dropped."""

    def put(self, payload: Payload) -> None:
        """Append tuples."""
        count = len(payload)
        if count:
            self._payloads.append(payload)
            self.count += count

    @property
    def next(self) -> Payload:
        """The payload that the first of them is in; there must be one."""
        return self._payloads[0]

    def first(self, most: int) -> Payload:
        """The first of them, so many at most; less where those behind are not worth joining to them."""
        if len(self._payloads) > 1 and len(self._payloads[0]) - self._gone < most:
            self._join(most)
        payload = self._payloads[0]
        return payload.slice(self._gone, min(len(payload) - self._gone, most))

    def drop(self, count: int) -> None:
        """Forget the first of them, which were in one payload."""
        self.count -= count
        self._gone += count
        if self._gone >= len(self._payloads[0]):
            del self._payloads[0]
            self._gone = 0

    def _join(self, most: int) -> None:
        payloads, self._gone = [self._rest(), *self._payloads[1:]], 0
        first, *others = payloads[: worth_joining(payloads, most)]
        self._payloads[: 1 + len(others)] = [first.joined(*others)]

    def _rest(self) -> Payload:
        payload = self._payloads[0]
        return payload.slice(self._gone, len(payload) - self._gone)

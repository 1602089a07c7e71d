"""The output of a task: where each row goes, and which rows are out already when a slice is repeated."""

from __future__ import annotations

from collections import deque
from typing import Any

from tests.model.recovery.memory import Writer
from tests.model.recovery.ring import LEAST, Position, Ring, Row
from tests.model.recovery.topology import group_of, owner_of


def shuffle(routing: Any, value: str, tasks: int) -> tuple[int, Any]:
    """In turn; the routing word is the next task's number."""
    turn = (routing or 0) % tasks
    return turn, turn + 1


def partial_key(routing: Any, value: str, tasks: int) -> tuple[int, Any]:
    """One of two tasks, that got less; the routing words are the loads."""
    loads = routing or (0,) * tasks
    hashed = sum(map(ord, value))
    first, second = hashed % tasks, hashed // 7 % tasks
    chosen = first if loads[first] <= loads[second] else second
    return chosen, (*loads[:chosen], loads[chosen] + 1, *loads[chosen + 1 :])


def fields(routing: Any, value: str, tasks: int) -> tuple[int, Any]:
    return owner_of(group_of(value), tasks), None


def only_one(routing: Any, value: str, tasks: int) -> tuple[int, Any]:
    return 0, None


GROUPINGS = {"shuffle": shuffle, "partial key": partial_key, "fields": fields, "global": only_one}


class Outputs:
    """The rows of a task that wait for room, ring by ring."""

    def __init__(self, rings: list[Ring], grouping: str, writer: Writer) -> None:
        self.rings = rings
        self.routing = self.recovered_routing(writer)
        self._route = GROUPINGS[grouping]
        self._process = writer.process
        self._waiting = [deque[Row]() for _ in rings]
        self._last = LEAST
        # What was published behind the last commit comes again, and is not published again.
        self.to_skip = [ring.tail - writer.read(("count", i), 0) for i, ring in enumerate(rings)]

    def recovered_routing(self, writer: Writer) -> Any:
        return writer.read("routing")

    def place(self, position: Position, value: Any) -> None:
        chosen, self.routing = self._route(self.routing, value, len(self.rings))
        self._waiting[chosen].append((position, value))
        self._last = position

    def is_out_already(self, ring: int, position: Position) -> bool:
        """True if the next row of a ring is one that the process before published; it is skipped then."""
        if not self.to_skip[ring]:
            return False
        self.to_skip[ring] -= 1
        return True

    def publish_one(self) -> bool:
        """Publish a row for which there is room; return whether there was one."""
        for ring, waiting, number in zip(self.rings, self._waiting, range(len(self.rings)), strict=True):
            while waiting and (not ring.is_full() or self.to_skip[number]):
                row = waiting.popleft()
                if not self.is_out_already(number, row[0]):
                    ring.publish(row, self._process)
                    return True
        return False

    @property
    def is_empty(self) -> bool:
        return not any(self._waiting)

    def promise(self, floor: Position) -> None:
        """Tell each reader what it need not wait for.

        What is emitted next lies neither below the floor nor below what was emitted last. Without the latter,
        a reader that has all rows of one input waits for others that another reader has no room for.
        """
        floor = max(floor, self._last)
        for ring, waiting in zip(self.rings, self._waiting, strict=True):
            ring.promise(waiting[0][0] if waiting else floor, self._process)

    def counts(self) -> list[int]:
        """Count the rows of each ring that belong to the next commit."""
        return [ring.tail - skip for ring, skip in zip(self.rings, self.to_skip, strict=True)]

"""Components for what rows are made of, and for where rows go."""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Mapping, Sequence
from typing import Any

from framework import Bolt, Stream
from tests.determinism.components import FIELDS, KEYS, STATELESS, NoisyBolt, Numbers, digest
from tests.determinism.noise import NOISE
from tests.framework.runtime.coroutines import out_of_order

VALUES: Sequence[Any] = (
    None,
    True,
    -(2**80),
    -0.0,
    float("inf"),
    "",
    "x" * 5_000,
    "\ud800\0ß",
    b"\0\xff" * 3,
    (1, ("a", None), 1.0),
    [1, [2, {"k": [3]}]],
    {"b": 1, "a": [True]},
    frozenset({3}),
    datetime.datetime(2020, 2, 29, 12, tzinfo=datetime.UTC),
    decimal.Decimal("1.10"),
)
"""Every kind of value that an emit snapshots, shares or writes in a way of its own."""

EQUAL_KEYS: Sequence[Any] = (1, 1.0, True, "1", (1, 2), (1.0, 2), b"1", None, decimal.Decimal(1), 2**70)
"""Keys some of which are equal although their types differ."""


class Wares(Numbers):
    """As `Numbers`, with a third value of one kind after the other."""

    outputs = [*FIELDS, "value"]

    def row(self, number: int) -> list[Any]:
        """The row of this number."""
        return [*super().row(number), VALUES[number % len(VALUES)]]


class Spoil(NoisyBolt):
    """Changes what it has received in place, and sends it on."""

    outputs = [*FIELDS, "value"]
    config = STATELESS

    def process(self, tup: Any) -> None:
        key, trail, value = tup.values[:3]
        if isinstance(value, list):
            value.append(trail)
        elif isinstance(value, dict):
            value[trail] = value.pop("a", None)
        self._noise()
        self.emit([key, f"{trail}s", value])
        if isinstance(value, list):
            value.clear()


class MixedKeys(Numbers):
    """As `Numbers`, with keys that equal one another across types."""

    def row(self, number: int) -> list[Any]:
        """The row of this number."""
        return [EQUAL_KEYS[number % len(EQUAL_KEYS)], super().row(number)[1]]


class Asks(NoisyBolt):
    """As a plain bolt, but asks for the receivers of some of its rows, whose ids it keeps to itself."""

    config = STATELESS

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        for copy in range(3):
            self._noise()
            asks = digest(f"{trail}{copy}") % 4 == 0
            self.emit([key, f"{trail}?{copy}"], need_task_ids=asks)


class Awaits(NoisyBolt):
    """Emits rows to two streams from a coroutine, and waits between them for as long as is drawn."""

    outputs = [Stream(FIELDS), Stream(FIELDS, name="side")]
    config = STATELESS

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        self._draw = random.Random(f"{storm_conf.get(NOISE)} {self.task_id}")

    async def process(self, tup: Any) -> None:  # type: ignore[override]
        key, trail = tup.values[:2]
        await out_of_order(self._draw)
        for copy in range(digest(f"await {trail}") % 4):
            self._noise()
            self.emit([(key + copy) % KEYS, f"{trail}~{copy}"])
            await out_of_order(self._draw)
            if copy == 1:
                self.emit([key, f"{trail}~"], stream="side")


class Directs(Bolt):
    """Names the task that each row goes to, by the row's key."""

    outputs = [Stream(FIELDS, direct=True)]
    config = STATELESS

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        tasks = context["task->component"]
        self._targets = sorted(int(task) for task, name in tasks.items() if name == "direct")

    def process(self, tup: Any) -> None:
        key, trail = tup.values[:2]
        self.emit([key, f"{trail}>"], direct_task=self._targets[key % len(self._targets)])


class ByTrail:
    """A custom grouping: one task, chosen by what the row says."""

    def prepare(
        self, context: Mapping[str, Any], component: str, stream: str, target_tasks: Sequence[int]
    ) -> None:
        """Note the tasks to choose from."""
        self._tasks = target_tasks

    def choose_tasks(self, values: Sequence[Any]) -> list[int]:
        """One task."""
        return [self._tasks[digest(values[1]) % len(self._tasks)]]


class Several(ByTrail):
    """A custom grouping: some of the tasks, or none, chosen by what the row says."""

    def choose_tasks(self, values: Sequence[Any]) -> list[int]:
        """Any number of tasks, in the order of their ids backwards."""
        chosen = digest(f"several {values[1]}")
        return [task for bit, task in enumerate(self._tasks) if chosen >> bit & 1][::-1]


class Where(NoisyBolt):
    """Emits a row with its replica and its number there: no guarantee, but the same for each plan."""

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        super().initialize(storm_conf, context)
        mine = [int(task) for task, name in context["task->component"].items() if name == self.component_name]
        self._replica = sorted(mine).index(self.task_id)
        self._count = 0

    def process(self, tup: Any) -> None:
        self._noise()
        self._count += 1
        self.emit([tup.values[0] % KEYS, f"{tup.values[1]}@{self._replica}:{self._count}"])

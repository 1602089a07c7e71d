"""Chains of drawn functions, beside loops of Python's that take one tuple after the other."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import Any

import pytest

from framework import StreamBuilder
from framework.frontends.streams import KeyedStream
from framework.operators.sinks import CollectingSink
from tests.framework.given import Given, Row
from tests.framework.runtime.workers.running import Workers, every_kind
from tests.portions import at_every_change

Loop = Callable[[Row], Iterator[Row]]
COUNT = 150
NOTHING: Any = object()
FIELDS = ("a", "b", "c")
VALUES: list[Callable[[int], Any]] = [
    lambda n: n,
    lambda n: f"text {n}",
    lambda n: n / 4,
    lambda n: (n, "x"),
    lambda n: None,
    lambda n: [n],
    lambda n: (n, [n]),
    lambda n: date(2020, 1, 1 + n % 20),
]
PLAIN = 5
"""Values that are plain come first."""


def hashable(value: Any) -> Any:
    """A key for a dictionary, in which lists and tuples are the same."""
    return tuple(map(hashable, value)) if isinstance(value, list | tuple) else value


@dataclass
class Chain:
    """Steps as a stream and as loops.

    Args:
        seed: they are drawn with it.
    """

    seed: int
    loops: list[tuple[str, Loop]] = field(default_factory=list)
    failed: dict[str, int] = field(default_factory=dict)
    passed: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.kinds = VALUES[: self.chance.choice([1, PLAIN, PLAIN, len(VALUES)])]
        self.raises_every = self.chance.choice([0, 0, 9, 40])
        self.par = self.chance.choice([None, None, 2, 3])
        width = self.chance.choice([1, 1, 2, 3])
        self.rows = [tuple(self.value() for _ in range(width)) for _ in range(COUNT)]
        self.builder = StreamBuilder()
        stream = self.builder.new_stream(Given(self.rows, " ".join(FIELDS[:width])), name="source")
        for number in range(self.chance.randrange(1, 6)):
            stream = self.step(stream, f"step{number}")
        stream.to(CollectingSink(), name="sink")

    def value(self) -> Any:
        return self.chance.choice(self.kinds)(self.chance.randrange(50))

    def names(self) -> list[str]:
        return list(FIELDS[: self.chance.choice([1, 1, 2, 3])])

    def number(self, step: str) -> Callable[..., int]:
        """A function of values that is the same in each process, and raises at times."""
        every = self.raises_every

        def number(*values: Any) -> int:
            made = zlib.crc32(f"{step}{values!r}".encode())
            if every and made % every == 0:
                raise ValueError(f"planted for {values!r}")
            return made >> 8

        return number

    def makes(self, step: str, width: int) -> Callable[..., Any]:
        number, kinds, as_list = self.number(step), self.kinds, self.chance.random() < 0.2

        def makes(*values: Any) -> Any:
            made = number(*values)
            row = [kinds[(made + index) % len(kinds)](made % 60) for index in range(width)]
            return row[0] if width == 1 else row if as_list else tuple(row)

        return makes

    def step(self, stream: Any, name: str) -> Any:
        """Add a step that is drawn."""
        by_key = ["count", "reduce", "aggregate"]
        kinds = ["map", "flat_map", "filter", "peek", "branch", "key", "key of field"]
        kind = self.chance.choice(kinds + (by_key * 3 if isinstance(stream, KeyedStream) else []))
        made, loop = getattr(self, kind.replace(" ", "_"))(stream, name)
        self.loops.append((name, loop))
        self.failed[name] = self.passed[name] = 0
        return made

    def map(self, stream: Any, name: str) -> tuple[Any, Loop]:
        fields = self.names()
        makes = self.makes(name, len(fields))

        def loop(row: Row) -> Iterator[Row]:
            made = makes(*row)
            yield (made,) if len(fields) == 1 else tuple(made)

        return stream.map(makes, fields=fields, par=self.par, name=name), loop

    def flat_map(self, stream: Any, name: str) -> tuple[Any, Loop]:
        fields, lazily = self.names(), self.chance.random() < 0.5
        number, makes = self.number(name), self.makes(f"{name} again", len(fields))

        def items(*values: Any) -> Iterator[Any]:
            for index in range(number(*values) % 4):
                yield makes(index, *values)

        def loop(row: Row) -> Iterator[Row]:
            for made in items(*row):
                yield (made,) if len(fields) == 1 else tuple(made)

        function = items if lazily else lambda *values: list(items(*values))
        return stream.flat_map(function, fields=fields, par=self.par, name=name), loop

    def filter(self, stream: Any, name: str) -> tuple[Any, Loop]:
        number = self.number(name)

        def loop(row: Row) -> Iterator[Row]:
            if number(*row) % 3:
                yield row

        return stream.filter(lambda *row: number(*row) % 3, par=self.par, name=name), loop

    def peek(self, stream: Any, name: str) -> tuple[Any, Loop]:
        number = self.number(name)

        def loop(row: Row) -> Iterator[Row]:
            number(*row)
            yield row

        return stream.peek(number, par=self.par, name=name), loop

    def branch(self, stream: Any, name: str) -> tuple[Any, Loop]:
        number = self.number(name)

        def loop(row: Row) -> Iterator[Row]:
            if number(*row) % 3 and number(*row) % 4:
                yield row

        branches = stream.branch(
            lambda *row: number(*row) % 3 == 0, lambda *row: number(*row) % 4, par=self.par, name=name
        )
        return branches[1], loop

    def key(self, stream: Any, name: str) -> tuple[Any, Loop]:
        number, is_list = self.number(name), len(self.kinds) > PLAIN and self.chance.random() < 0.5

        def key(*values: Any) -> Any:
            return [number(*values) % 7] if is_list else number(*values) % 7

        def loop(row: Row) -> Iterator[Row]:
            yield (key(*row), *row)

        return stream.key_by(key, field=f"key of {name}", par=self.par, name=name), loop

    def key_of_field(self, stream: Any, name: str) -> tuple[Any, Loop]:
        """By fields in another order, which may need no step at all."""
        fields = stream.fields
        chosen = self.chance.sample(fields, self.chance.randrange(1, len(fields) + 1))
        order = [fields.index(each) for each in chosen]
        order += [index for index in range(len(fields)) if index not in order]

        def loop(row: Row) -> Iterator[Row]:
            yield tuple(row[index] for index in order)

        return stream.key_by(chosen, par=self.par, name=name), loop

    def of_key(self, stream: Any, add: Callable[[Any, Row], Any]) -> Loop:
        """A loop that keeps a value of each key: (key, value) behind each row."""
        width, values = len(stream.key), dict[Any, Any]()

        def loop(row: Row) -> Iterator[Row]:
            key = hashable(row[:width])
            value = add(values.get(key, NOTHING), row[width:])
            values[key] = value
            yield (*row[:width], value)

        return loop

    def count(self, stream: Any, name: str) -> tuple[Any, Loop]:
        return stream.count_by_key(par=self.par, name=name), self.of_key(
            stream, lambda n, _: 1 if n is NOTHING else n + 1
        )

    def reduce(self, stream: Any, name: str) -> tuple[Any, Loop]:
        if len(stream.fields) != len(stream.key) + 1:
            return self.count(stream, name)
        number = self.number(name)

        def reduced(before: Any, value: Any) -> Any:
            return (number(before, value) % 100, "reduced")

        loop = self.of_key(stream, lambda v, row: row[0] if v is NOTHING else reduced(v, row[0]))
        return stream.reduce_by_key(reduced, par=self.par, name=name), loop

    def aggregate(self, stream: Any, name: str) -> tuple[Any, Loop]:
        number = self.number(name)

        def added(before: int, *values: Any) -> int:
            return (before + number(before, *values)) % 1000

        loop = self.of_key(stream, lambda v, row: added(0 if v is NOTHING else v, *row))
        return stream.aggregate_by_key(0, added, par=self.par, name=name), loop

    def expected(self) -> list[Row]:
        """All that the loops make; they count what each of them fails for and makes."""
        return [made for row in self.rows for made in self._through(0, row)]

    def _through(self, step: int, row: Row) -> Iterator[Row]:
        if step == len(self.loops):
            yield row
            return
        name, loop = self.loops[step]
        try:
            made = list(loop(row))
        except ValueError:
            self.failed[name] += 1
            return
        self.passed[name] += len(made)
        for each in made:
            yield from self._through(step + 1, each)


@pytest.mark.parametrize("seed", at_every_change(range(120), 25))
@every_kind
def test_a_chain_is_the_loops(seed: int, workers: Workers) -> None:
    print(f"seed={seed}")
    chain = Chain(seed)
    sizes = {"viper__slice__tuples": chain.chance.choice([7, 1000]), "viper__jumbo__size": 16}
    report = workers.run(chain.builder._assembly.builder, viper__on__error="skip", **sizes)
    assert list(map(repr, report.result("sink"))) == list(map(repr, chain.expected()))
    for name, component in report.components.items():
        if name in chain.failed:
            assert component.failed == chain.failed[name]
            assert component.emitted == chain.passed[name] or name in branches(chain)


def branches(chain: Chain) -> list[str]:
    """The steps that emit on several streams, of which the loops know one."""
    return [name for name, loop in chain.loops if ".branch." in loop.__qualname__]

"""Tuples that are put back come again: the same tuples in the same order, whatever is put back."""

from __future__ import annotations

from random import Random

import pytest

from framework.runtime.exchange.pieces import Cutter, InputSource, InputStream, Piece
from viper.arena import Arena
from viper.gate import ScaleGate
from viper.jumbo import Jumbo
from viper.link import Link
from viper.payload import Rows
from viper.position import END, Level, Position, Positions
from viper.reader import Reader

COUNT = 200
KINDS = {"a link": 1, "one source": 1, "several sources": 3, "another process": 3, "many short runs": 40}


class Way:
    """From some sources to a reader, with tuples on it that are drawn by a seed."""

    def __init__(self, kind: str, chance: Random) -> None:
        count = KINDS[kind]
        self._chance = chance
        self._tuples: list[list[int]] = [[] for _ in range(count)]
        for number in range(COUNT):
            self._tuples[chance.randrange(count)].append(number)
        self._link = Link(slots=COUNT, tuples=COUNT) if kind == "a link" else None
        reader: Reader | Link
        if self._link is not None:
            reader = self._link
        else:
            arena = Arena.private(1 << 20)
            gate = ScaleGate.create(arena, count, slots=16, tuples=64, payload_bytes=1 << 12)
            if kind == "another process":
                gate = ScaleGate.attach(arena, gate.offset)
            self._sources = [gate.source(index) for index in range(count)]
            reader = gate.reader(0)
        streams = {0: InputStream("spout", "default", 1, None, Level(0, 0, 0, 0))}
        named = [InputSource(f"spout:{index}", streams) for index in range(count)]
        reader.defer()
        self.reader = reader
        self.cutter = Cutter(reader, named, copies=False, whole=False)

    def add(self) -> None:
        """Some of what is left, as far as there is room; at its end, the promise that nothing more comes."""
        for index, left in enumerate(self._tuples):
            numbers = left[: self._chance.choice([1, 1, 2, 5])]
            positions = Positions()
            for number in numbers:
                positions.append(Position(number, 0, 0))
            jumbo = Jumbo(Rows([(number,) for number in numbers]))
            if self._link is not None:
                self._link.positions.extend(positions)
                self._link.put(jumbo)
            elif numbers and not self._sources[index].add(jumbo, positions, 0, len(numbers)):
                continue
            del left[: len(numbers)]
            if not left:
                (self._link or self._sources[index]).heartbeat(END)


def numbers_of(pieces: list[Piece]) -> list[int]:
    return [number for piece in pieces for (number,) in piece[0][piece[1] : piece[1] + piece[2]]]


def delivered(way: Way, chance: Random) -> list[int]:
    """List the tuples that are taken if a drawn part of each delivery is put back."""
    found: list[int] = []
    positions = Positions()
    while len(found) < COUNT:
        way.add()
        positions.clear()
        limit = chance.choice([1, 3, 10, 100])
        pieces = way.cutter.take_first(limit, positions, lambda taken: chance.randrange(len(taken) + 1))
        found += numbers_of(pieces)
        assert [position.ts for position in positions] == found[len(found) - len(positions) :]
        if way.reader.ready():  # what was put back comes next
            assert way.reader.watermark() == Position(len(found), 0, 0)
    assert way.reader.drained() and way.reader.waiting_tuples() == 0
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_put_back_comes_again(kind: str) -> None:
    for seed in range(20):
        chance = Random(f"{kind} {seed}")
        assert delivered(Way(kind, chance), chance) == list(range(COUNT)), seed


@pytest.mark.parametrize("kind", ["a link", "several sources"])
def test_a_tuple_that_is_not_put_back_shows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Link if kind == "a link" else Reader
    put_back = owner.put_back

    def forgetful(self: Reader | Link, rest: object, positions: Positions, kept: int) -> None:
        found = list(rest)  # type: ignore[call-overload]
        run, count = found[0]
        less = [(run, count - 1)] if count > 1 else []
        if less or found[1:]:
            put_back(self, less + found[1:], positions, kept)  # type: ignore[arg-type]
        else:
            positions.truncate(kept)

    monkeypatch.setattr(owner, "put_back", forgetful)
    chance = Random(1)
    with pytest.raises((AssertionError, IndexError)):
        delivered(Way(kind, chance), chance)

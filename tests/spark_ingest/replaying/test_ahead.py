from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import closing

import pytest

from spark_ingest.replaying.stage import Ahead

PATIENCE_S = 60


@pytest.fixture
def ahead() -> Iterator[Ahead]:
    with closing(Ahead()) as made:
        yield made


def test_all_items_in_order(ahead: Ahead) -> None:
    assert list(ahead.of(n for n in range(1, 100))) == list(range(1, 100))
    assert list(ahead.of(n for n in ())) == []


def test_several_generators_in_turn(ahead: Ahead) -> None:
    iterators = [ahead.of(n for n in range(first, 50, 3)) for first in (1, 2, 3)]
    taken = [next(iterators[turn % 3]) for turn in range(48)]
    assert taken == list(range(1, 49))
    for iterator in iterators:
        iterator.close()


def test_it_is_one_item_ahead(ahead: Ahead) -> None:
    reached = [threading.Event() for _ in range(3)]

    def items() -> Generator[int]:
        for number, event in enumerate(reached):
            event.set()
            yield number

    iterator = ahead.of(items())
    assert next(iterator) == 0
    assert reached[1].wait(PATIENCE_S)
    assert next(iterator) == 1
    assert reached[2].wait(PATIENCE_S)
    iterator.close()


def test_what_it_raises_comes_in_its_place(ahead: Ahead) -> None:
    def items() -> Generator[int]:
        yield 1
        raise ValueError("broken")

    iterator = ahead.of(items())
    assert next(iterator) == 1
    with pytest.raises(ValueError, match="broken"):
        next(iterator)


def test_closing_closes_the_generator(ahead: Ahead) -> None:
    closed = threading.Event()

    def items() -> Generator[int]:
        try:
            yield from range(1, 1000)
        finally:
            closed.set()

    iterator = ahead.of(items())
    next(iterator)
    iterator.close()
    assert closed.is_set()


def test_closing_ends_the_thread() -> None:
    before = set(threading.enumerate())
    ahead = Ahead()
    assert list(ahead.of(n for n in (1, 2))) == [1, 2]
    ahead.close()
    assert set(threading.enumerate()) == before

from __future__ import annotations

import threading
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import accumulate, pairwise

import pytest

from spark_ingest.replaying.ahead import Ahead

PATIENCE_S = 60


@pytest.fixture(params=[1, 2, 4])
def ahead(request: pytest.FixtureRequest) -> Iterator[Ahead]:
    with closing(Ahead(threads=request.param)) as made:
        yield made


def one(items: Generator[int]) -> Generator[Generator[int]]:
    """A single part."""
    yield items


def parts(*sizes: int) -> Generator[Generator[int]]:
    """Parts of so many numbers each, which go up from 1."""
    ends = list(accumulate(sizes, initial=1))
    return ((n for n in range(first, end)) for first, end in pairwise(ends))


def test_all_items_in_order(ahead: Ahead) -> None:
    assert list(ahead.of(one(n for n in range(1, 100)))) == list(range(1, 100))
    assert list(ahead.of(one(n for n in ()))) == []


@pytest.mark.parametrize("sizes", [(), (0, 0), (1, 1, 1, 1, 1, 1, 1, 1), (5, 0, 1, 0, 0, 7, 2), (0, 3)])
def test_parts_one_after_the_other(ahead: Ahead, sizes: tuple[int, ...]) -> None:
    assert list(ahead.of(parts(*sizes))) == list(range(1, sum(sizes) + 1))


def test_parts_are_begun_for_each_thread_and_no_more() -> None:
    begun = [threading.Event() for _ in range(9)]

    def part(number: int) -> Generator[int]:
        begun[number].set()
        yield number

    with closing(Ahead(threads=2)) as ahead:
        items = ahead.of(part(number) for number in range(9))
        assert next(items) == 0
        assert all(event.wait(PATIENCE_S) for event in begun[:3])
        assert not any(event.is_set() for event in begun[3:])
        items.close()
        assert not any(event.is_set() for event in begun[3:])


def test_an_error_of_a_part_comes_behind_the_items_before_it(ahead: Ahead) -> None:
    def broken() -> Generator[int]:
        raise ValueError("broken")
        yield

    def of_all() -> Generator[Generator[int]]:
        yield from parts(2, 1)
        yield broken()
        yield from parts(1)

    items = ahead.of(of_all())
    assert [next(items) for _ in range(3)] == [1, 2, 3]
    with pytest.raises(ValueError, match="broken"):
        next(items)


def test_an_error_of_what_makes_the_parts_comes_behind_their_items(ahead: Ahead) -> None:
    def of_all() -> Generator[Generator[int]]:
        yield from parts(2, 1, 1)
        raise ValueError("broken")

    items = ahead.of(of_all())
    assert [next(items) for _ in range(4)] == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="broken"):
        next(items)


def test_several_generators_in_turn(ahead: Ahead) -> None:
    iterators = [ahead.of(one(n for n in range(first, 50, 3))) for first in (1, 2, 3)]
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

    iterator = ahead.of(one(items()))
    assert next(iterator) == 0
    assert reached[1].wait(PATIENCE_S)
    assert next(iterator) == 1
    assert reached[2].wait(PATIENCE_S)
    iterator.close()


def test_what_it_raises_comes_in_its_place(ahead: Ahead) -> None:
    def items() -> Generator[int]:
        yield 1
        raise ValueError("broken")

    iterator = ahead.of(one(items()))
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

    iterator = ahead.of(one(items()))
    next(iterator)
    iterator.close()
    assert closed.is_set()


def test_closing_closes_all_parts_that_were_begun_and_what_makes_them(ahead: Ahead) -> None:
    begun, closed = [], []

    def part(number: int) -> Generator[int]:
        begun.append(number)
        try:
            yield number
            yield number
        finally:
            closed.append(number)

    def of_all() -> Generator[Generator[int]]:
        try:
            yield from map(part, range(99))
        finally:
            closed.append(99)

    items = ahead.of(of_all())
    assert [next(items), next(items)] == [0, 0]
    items.close()
    assert sorted(closed) == sorted([*begun, 99])


def test_closing_ends_the_threads() -> None:
    before = set(threading.enumerate())
    ahead = Ahead()
    assert list(ahead.of(one(n for n in (1, 2)))) == [1, 2]
    ahead.close()
    assert set(threading.enumerate()) == before

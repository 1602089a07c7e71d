"""Merge-sort in Python: whatever arrives when, what comes out is what sorting makes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from framework.runtime.exchange.reader import MergeSort, Place
from viper.position import END

SOURCES = st.lists(st.lists(st.integers(0, 20)), min_size=1, max_size=4)


def sorted_places(sources: list[list[int]]) -> list[tuple[Place, int]]:
    places = [((number, 0, 0), source) for source, of_one in enumerate(sources) for number in sorted(of_one)]
    return sorted(places)


@given(sources=SOURCES, data=st.data())
def test_tuples_come_in_order_whenever_they_arrive(sources: list[list[int]], data: st.DataObject) -> None:
    found: list[tuple[Place, int]] = []
    sort = MergeSort(len(sources), lambda source, place: found.append((place, source)))
    waiting = [[(number, 0, 0) for number in sorted(of_one)] for of_one in sources]
    while any(waiting):
        source = data.draw(st.sampled_from([n for n, places in enumerate(waiting) if places]))
        place = waiting[source].pop(0)
        sort.process(source, place, place)
        if data.draw(st.booleans()):
            sort.promise(source, place)
        before, limit = len(found), data.draw(st.integers(0, 3))
        assert sort.emit_ready(limit) == len(found) - before <= limit
        assert all(place >= sort.next for places in waiting for place in places)
    for source in range(len(sources)):
        sort.promise(source, tuple(END))
    sort.emit_ready(1000)
    assert found == sorted_places(sources)
    assert not sort.is_ready and sort.next == tuple(END)


def test_a_source_that_may_bring_something_earlier_holds_the_others_back() -> None:
    found: list[str] = []
    sort = MergeSort(3, lambda source, name: found.append(name))
    sort.process(0, (5, 0, 0), "a")
    sort.process(1, (4, 0, 0), "b")
    assert sort.emit_ready(9) == 0 and sort.holding == 2
    sort.promise(2, (4, 0, 0))  # it may bring one at 4, which would stand behind that of source 1
    assert sort.emit_ready(9) == 1 and found == ["b"]
    sort.promise(1, (6, 0, 0))
    sort.promise(2, (6, 0, 0))
    assert sort.emit_ready(9) == 1 and found == ["b", "a"]
    sort.promise(0, (7, 0, 0))
    assert sort.next == (6, 0, 0)


@given(sources=SOURCES, limits=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4))))
def test_what_is_taken_back_comes_again(sources: list[list[int]], limits: list[tuple[int, int]]) -> None:
    found: list[tuple[Place, int]] = []
    sort = MergeSort(len(sources), lambda source, place: found.append((place, source)))
    for source, numbers in enumerate(sources):
        for number in sorted(numbers):
            sort.process(source, (number, 0, 0), (number, 0, 0))
        sort.promise(source, tuple(END))
    for limit, back in limits:
        count = sort.emit_ready(limit)
        taken = [found.pop() for _ in range(min(back, count))][::-1]
        for source in {number for _, number in taken}:
            sort.take_back(source, [(place, place) for place, number in taken if number == source])
    sort.emit_ready(1000)
    assert found == sorted_places(sources)

"""Trees of tracked tuples as Python sees them; what the rules are is told by the tests of the C layer."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from multiprocessing import get_context

import pytest

from viper.arena import Arena, ArenaHandle
from viper.bell import Bell
from viper.errors import ArenaError, ForestError
from viper.forest import LOST, TOO_LARGE, Forest
from viper.position import Position, Positions

REASON = 7


@pytest.fixture
def arena() -> Arena:
    return Arena.private(10_000_000)


@pytest.fixture
def forest(arena: Arena) -> Forest:
    return Forest.create(arena, 3, trees=2000, links=2000)


def positions_of(trees: Sequence[int]) -> Positions:
    positions = Positions()
    for ts, tree in enumerate(trees):
        positions.append(Position(ts, 0, 0))
        positions.set_tree(ts, tree)
    return positions


def test_a_tree_is_acked_when_all_its_tuples_are(forest: Forest) -> None:
    spout = forest.table(0)
    trees = spout.begin(2)
    assert isinstance(trees, array) and trees.typecode == "Q" and len(set(trees)) == 2
    positions = positions_of([trees[0], trees[0], 0, trees[1]])
    forest.add(positions, 0, 4, 3)
    forest.ack_trees(trees)
    for _ in range(2):
        forest.ack(positions, 0, 4)
    assert spout.take() == [] and not spout.has_done
    forest.ack(positions, 3, 1)
    assert (spout.has_done, spout.open) == (True, 2)
    assert spout.take() == [(trees[1], 0)]
    forest.ack(positions, 0, 2)
    assert spout.take() == [(trees[0], 0)]
    assert (spout.has_done, spout.open, forest.alive(trees[0])) == (False, 0, False)


def test_a_tree_fails_once(forest: Forest) -> None:
    spout = forest.table(0)
    first, second = spout.begin(2)
    assert forest.fail(first, REASON) and not forest.fail(first, REASON)
    forest.ack_trees([first, second])
    assert not forest.fail(second, REASON) and not forest.fail(0, REASON)
    assert spout.take() == [(first, REASON), (second, 0)]


def test_too_large(forest: Forest) -> None:
    (tree,) = forest.table(0).begin(1)
    forest.add(positions_of([tree] * 3), 0, 3, 2**22 // 3)
    assert forest.table(0).take() == [(tree, TOO_LARGE)]


@pytest.mark.parametrize("reason", [0, -1, 2**32])
def test_reasons_out_of_range(forest: Forest, reason: int) -> None:
    with pytest.raises(ValueError, match=f"reason={reason}: expected 1 to"):
        forest.fail(1, reason)


@pytest.mark.parametrize(("first", "count"), [(-1, 1), (0, -1), (2, 1), (0, 3)])
def test_positions_out_of_range(forest: Forest, first: int, count: int) -> None:
    (tree,) = forest.table(0).begin(1)
    positions = positions_of([tree, tree])
    with pytest.raises(IndexError, match=r"out of range: there are 2 positions"):
        forest.add(positions, first, count, 1)
    with pytest.raises(IndexError, match=r"out of range: there are 2 positions"):
        forest.ack(positions, first, count)
    assert forest.alive(tree)


def test_begin_gives_what_there_is_room_for(forest: Forest) -> None:
    spout = forest.table(0)
    assert len(spout.begin(0)) == 0
    first = spout.begin(1500)
    assert [len(first), len(spout.begin(600)), len(spout.begin(1))] == [1500, 500, 0]
    assert spout.open == 2000
    forest.ack_trees(first[:2])
    assert [len(spout.take()), len(spout.begin(5))] == [2, 2]


def test_a_joint_stands_for_its_parents(forest: Forest) -> None:
    spout, bolt = forest.table(0), forest.table(1)
    a, b, c = spout.begin(3)
    forest.fail(c, REASON)
    joint = bolt.join([a, b, c, a, 0])
    forest.ack_trees([a, b])
    assert spout.take() == [(c, REASON)]
    forest.ack_trees(array("Q", [joint]))
    assert sorted(spout.take()) == [(a, 0), (b, 0)]
    assert bolt.take() == []
    assert bolt.join([a, 0]) == bolt.join([]) == 0


def test_done_joints_make_room_without_being_taken(arena: Arena) -> None:
    forest = Forest.create(arena, 2, trees=2, links=4)
    spout, bolt = forest.table(0), forest.table(1)
    trees = spout.begin(2)
    for _ in range(100):
        forest.ack_trees([bolt.join(trees)])
    own = [bolt.join(trees), bolt.join(trees)]
    with pytest.raises(ForestError, match=r"anchored to 2 tracked tuples.*raise viper\.tracked\.max"):
        bolt.join(trees)
    forest.ack_trees([*own, *trees])
    assert len(spout.take()) == 2


def test_roots_that_a_join_took_are_told_later(forest: Forest) -> None:
    both = forest.table(0)
    a, b, c = both.begin(3)
    forest.ack_trees([a])
    both.join([b, c])
    assert (both.has_done, both.open) == (True, 3)
    forest.fail(b, REASON)
    assert both.take() == [(a, 0), (b, REASON)]
    assert (both.has_done, both.open) == (False, 1)
    forest.ack_trees(both.begin(1))
    both.join([c])
    done, ended = both.fail_all()
    assert [reason for _, reason in done] == [0, LOST] and done[1][0] == c and ended == []


def test_what_is_held_expires(forest: Forest) -> None:
    spout, bolt = forest.table(0), forest.table(1)
    held, answered, busy = spout.begin(3)
    joint = bolt.join([held])
    forest.ack_trees([held])
    for tree in (joint, answered, busy):
        forest.hold(tree)
    forest.unhold(busy)
    assert spout.expire() == []
    forest.answer_held(answered)
    assert spout.expire() == [held]
    assert spout.expire() == [] and bolt.expire() == []
    assert spout.take() == [(answered, 0)]
    assert (forest.alive(joint), forest.alive(busy), spout.open) == (False, True, 1)


def test_an_incident(arena: Arena, forest: Forest) -> None:
    bell = Bell.create(arena)
    forest.set_bell(0, bell)
    spout = forest.table(0)
    acked, open_ = spout.begin(2)
    forest.ack_trees([acked])
    ticket = bell.ticket()
    assert forest.incidents == 0
    forest.incident()
    assert (forest.incidents, bell.ticket() - ticket) == (1, 1)
    assert spout.fail_all() == ([(acked, 0)], [open_])
    assert spout.fail_all() == ([], [])
    assert spout.open == 0


def test_a_bell_rings_for_the_first_that_is_done(arena: Arena, forest: Forest) -> None:
    bell = Bell.create(arena)
    forest.set_bell(1, bell)
    ticket = bell.ticket()
    forest.ack_trees(forest.table(0).begin(3))
    assert bell.ticket() == ticket
    forest.ack_trees(forest.table(1).begin(3))
    assert bell.ticket() - ticket == 1


def test_a_successor(arena: Arena, forest: Forest) -> None:
    forest.table(0).begin(5)
    again = Forest.attach(arena, forest.offset)
    assert again.table(0).reset() == 5
    assert (again.table(0).open, again.table(0).reset()) == (0, 0)


def test_a_table_is_the_same_each_time(forest: Forest) -> None:
    assert forest.table(2) is forest.table(2)
    for index in (-1, 3):
        with pytest.raises(IndexError, match=f"no table {index}: the forest has 3"):
            forest.table(index)
        with pytest.raises(IndexError, match=f"no table {index}: the forest has 3"):
            forest.set_bell(index, Bell.create(forest._arena))


def test_a_bell_in_another_arena(forest: Forest) -> None:
    bell = Bell.create(Arena.private(1000))
    with pytest.raises(ValueError, match="in another arena than the forest"):
        forest.set_bell(0, bell)


def test_attaching_where_there_is_none(arena: Arena, forest: Forest) -> None:
    offset = arena.allocate(10_000)
    with pytest.raises(ArenaError, match=f"no forest was made at offset {offset}"):
        Forest.attach(arena, offset)
    with pytest.raises(ArenaError, match="no region"):
        Forest.attach(arena, 2**40)


@pytest.mark.parametrize(
    ("tables", "trees", "links", "what"),
    [(0, 1, 1, "tables=0"), (1, 0, 1, "trees=0"), (1, 2**22 + 1, 1, "trees=4194305"), (1, 1, -1, "links=-1")],
)
def test_shapes_out_of_range(arena: Arena, tables: int, trees: int, links: int, what: str) -> None:
    with pytest.raises(ValueError, match=f"{what}: expected"):
        Forest.create(arena, tables, trees=trees, links=links)


def test_size_is_what_it_takes(arena: Arena) -> None:
    before = arena.statistics().used_bytes
    Forest.create(arena, 3, trees=100, links=33)
    assert arena.statistics().used_bytes - before == Forest.size(3, 100, 33)


def _ack_there(handle: ArenaHandle, offset: int, trees: list[int]) -> None:
    forest = Forest.attach(Arena.attach(handle), offset)
    joint = forest.table(1).join(trees[:2])
    forest.ack_trees([joint, *trees[:3]])
    forest.fail(trees[3], REASON)


def test_another_process_acks_and_fails() -> None:
    arena = Arena.shared(2_000_000)
    forest = Forest.create(arena, 2, trees=100, links=100)
    trees = forest.table(0).begin(5)
    process = get_context("spawn").Process(
        target=_ack_there, args=(arena.handle(), forest.offset, trees.tolist())
    )
    process.start()
    process.join()
    assert process.exitcode == 0
    assert sorted(forest.table(0).take()) == [(tree, 0) for tree in trees[:3]] + [(trees[3], REASON)]
    assert forest.table(0).open == 1

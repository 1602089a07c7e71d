"""A forest against a short model of it, through random calls of one thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from viper.arena import Arena
from viper.forest import LOST, Forest
from viper.position import Position, Positions

SPOUT, BOLT, TREES = 0, 1, 6
PLACE = 2**22 - 1
"""The part of a tree's number that says where it lies: a sweep goes by that."""
CHOICE = st.integers(0, 50)


@dataclass
class Tree:
    """A tree as it should be."""

    number: int
    parents: list[Tree] = field(default_factory=list)
    count: int = 1
    held: int = 0
    ended: bool = False
    stalled_since_sweep: bool = False

    @property
    def stalled(self) -> bool:
        return not self.ended and self.count == self.held


class Woods(RuleBasedStateMachine):
    """Every rule does one thing to the forest and to the model, and compares what comes back."""

    @initialize()
    def make(self) -> None:
        self.forest = Forest.create(Arena.private(200_000), 2, trees=TREES, links=2 * TREES)
        self.spout, self.bolt = self.forest.table(SPOUT), self.forest.table(BOLT)
        self.trees: list[Tree] = []
        self.done: list[tuple[int, int]] = []
        self.open = 0

    # -- the model

    def change(self, tree: Tree, count: int, held: int) -> None:
        if tree.ended:
            return
        was = tree.stalled
        tree.count, tree.held = tree.count + count, tree.held + held
        if tree.count == 0:
            self.end(tree, 0, was)
        elif tree.stalled != was:
            tree.stalled_since_sweep = False
            for parent in tree.parents:
                self.change(parent, 0, 1 if tree.stalled else -1)

    def end(self, tree: Tree, reason: int, was_stalled: bool = False) -> None:
        if tree.ended:
            return
        tree.ended = True
        if not tree.parents:
            self.done.append((tree.number, reason))
        for parent in tree.parents:
            if reason:
                self.end(parent, reason)
            else:
                self.change(parent, -1, -1 if was_stalled else 0)

    def choose(self, choice: int) -> Tree:
        return self.trees[choice % len(self.trees)]

    # -- what happens

    @rule(count=st.integers(0, 3))
    def begin(self, count: int) -> None:
        for number in self.spout.begin(count):
            assert number not in {tree.number for tree in self.trees}
            self.trees.append(Tree(number))
            self.open += 1

    @precondition(lambda self: self.trees)
    @rule(choices=st.lists(CHOICE, min_size=1, max_size=3))
    def join(self, choices: list[int]) -> None:
        parents = {tree.number: tree for tree in map(self.choose, choices)}
        alive = [tree for tree in parents.values() if not tree.ended]
        if len([tree for tree in self.trees if tree.parents and not tree.ended]) >= TREES // 2:
            return  # full is another test's
        number = self.bolt.join([self.choose(choice).number for choice in choices])
        assert (number == 0) == (not alive)
        for parent in alive:
            self.change(parent, 1, 0)
        if alive:
            self.trees.append(Tree(number, alive))

    @precondition(lambda self: self.trees)
    @rule(choices=st.lists(CHOICE, max_size=5), copies=st.integers(0, 3), acks=st.booleans())
    def add_or_ack(self, choices: list[int], copies: int, acks: bool) -> None:
        positions = Positions()
        for choice in choices:
            positions.append(Position(0, 0, 0))
            positions.set_tree(len(positions) - 1, self.choose(choice).number if choice else 0)
        if acks:
            self.ack(positions, choices)
        else:
            self.forest.add(positions, 0, len(choices), copies)
            for tree in (self.choose(choice) for choice in choices if choice):
                self.change(tree, copies, 0)

    def ack(self, positions: Positions, choices: list[int]) -> None:
        """Only as far as a count stays above what is held: nobody acks what he does not have."""
        for index, choice in enumerate(choices):
            tree = self.choose(choice)
            if choice and (tree.ended or tree.count > tree.held):
                self.forest.ack(positions, index, 1)
                self.change(tree, -1, 0)

    def own(self, tree: Tree) -> tuple[int, int]:
        """Its outstanding tuples but for joints, and how many of those are held."""
        joints = [other for other in self.trees if tree in other.parents and not other.ended]
        return tree.count - len(joints), tree.held - sum(joint.stalled for joint in joints)

    @precondition(lambda self: self.trees)
    @rule(choice=CHOICE, way=st.sampled_from(["hold", "unhold", "answer_held"]))
    def hold(self, choice: int, way: str) -> None:
        tree = self.choose(choice)
        count, held = self.own(tree)
        if tree.ended or (count > held if way == "hold" else held > 0):
            getattr(self.forest, way)(tree.number)
            self.change(tree, *{"hold": (0, 1), "unhold": (0, -1), "answer_held": (-1, -1)}[way])

    @rule()
    def hold_all_and_sweep(self) -> None:
        """Make roots expire: by chance alone it would hardly happen."""
        for tree in self.trees:
            count, held = self.own(tree)
            for _ in range(0 if tree.ended else count - held):
                self.forest.hold(tree.number)
                self.change(tree, 0, 1)
        self.expire()

    @precondition(lambda self: self.trees)
    @rule(choice=CHOICE, reason=st.integers(1, 9))
    def fail(self, choice: int, reason: int) -> None:
        tree = self.choose(choice)
        assert self.forest.fail(tree.number, reason) == (not tree.ended)
        self.end(tree, reason)

    # -- what the owners are told

    @rule()
    def take(self) -> None:
        assert self.spout.has_done == bool(self.done)
        taken = self.spout.take()
        assert sorted(taken) == sorted(self.done)
        self.open -= len(taken)
        self.done = []
        assert self.bolt.take() == []

    @rule()
    def expire(self) -> None:
        roots = [tree for tree in self.trees if not tree.parents and tree.stalled]
        expected = [tree for tree in roots if tree.stalled_since_sweep]
        for tree in roots:
            tree.stalled_since_sweep = True
        assert sorted(self.spout.expire()) == sorted(tree.number for tree in expected)
        for tree in expected:
            tree.ended = True
        self.open -= len(expected)

    @rule()
    def prune(self) -> None:
        assert self.bolt.expire() == []
        for tree in sorted(self.trees, key=lambda tree: tree.number & PLACE):
            if tree.parents and all(parent.ended for parent in tree.parents):
                tree.ended = True

    @rule()
    def incident(self) -> None:
        self.forest.incident()
        done, ended = self.spout.fail_all()
        assert sorted(done) == sorted(self.done)
        expected = [tree for tree in self.trees if not tree.parents and not tree.ended]
        assert sorted(ended) == sorted(tree.number for tree in expected)
        for tree in expected:
            tree.ended = True
        self.done, self.open = [], 0

    @rule()
    def bolts_incident(self) -> None:
        assert self.bolt.fail_all() == ([], [])
        for tree in [tree for tree in self.trees if tree.parents]:
            self.end(tree, LOST)

    @rule()
    def successor(self) -> None:
        assert self.spout.reset() == self.open
        for tree in self.trees:
            tree.ended = tree.ended or not tree.parents
        self.done, self.open = [], 0

    @invariant()
    def same_trees_live(self) -> None:
        trees: list[Any] = getattr(self, "trees", [])
        for tree in trees:
            assert self.forest.alive(tree.number) == (not tree.ended)
        if trees:
            assert self.spout.open == self.open


class TestWoods(Woods.TestCase):  # type: ignore[valid-type, misc]
    settings = settings(max_examples=50, stateful_step_count=40)


@pytest.mark.slow
class TestWoodsAtLength(Woods.TestCase):  # type: ignore[valid-type, misc]
    settings = settings(max_examples=200, stateful_step_count=40)

"""Storm's contract of tuples, written down without any of the framework.

Components tell it what they emit and answer. It knows at any time what is still outstanding of each root, so
it can say of every ack whether it was due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

Root = tuple[int, int, int]
"""One attempt at a spout's tuple: the spout's task, its id, and the number of emits of it till then."""
Delivery = tuple[int, str]
"""One tuple as one task has received it: the task, the tuple's id."""


@dataclass
class Model:
    """All tuples of a run."""

    roots: dict[int, frozenset[Root]] = field(default_factory=dict)
    """By emitted tuple: the roots that it belongs to."""
    carried: dict[int, frozenset[Root]] = field(default_factory=dict)
    """By emitted tuple: the roots whose payload it carries, be it anchored to them or not."""
    outstanding: Counter[Root] = field(default_factory=Counter)
    failed: set[Root] = field(default_factory=set)
    acked: set[Root] = field(default_factory=set)
    open: dict[Delivery, int] = field(default_factory=dict)
    """Deliveries without an answer, and which tuple each is."""
    answered: set[Delivery] = field(default_factory=set)
    reached: dict[str, set[Root]] = field(default_factory=dict)
    """By component: the payloads that have been processed there."""
    sinks: dict[int, set[str]] = field(default_factory=dict)
    """By spout's task: the components at the end of its paths."""
    wrong: list[str] = field(default_factory=list)
    """The violations of the contract."""

    # -- what is emitted

    def began(self, root: Root, copies: int) -> int:
        """A spout is about to emit a tuple that so many tasks receive; returns a number for it."""
        return self._add(frozenset([root]), frozenset([root]), copies)

    def emitted(self, anchors: Iterable[int], carried: Iterable[int], copies: int) -> int:
        """A bolt is about to emit a tuple; returns a number for it.

        Args:
            anchors: the tuples that it is anchored to.
            carried: the tuples whose payload it carries on.
            copies: how many tasks receive it.
        """
        roots = frozenset().union(*(self.roots[tup] for tup in anchors))
        payload = frozenset().union(*(self.carried[tup] for tup in carried))
        return self._add(roots, payload, copies)

    def _add(self, roots: frozenset[Root], carried: frozenset[Root], copies: int) -> int:
        number = len(self.roots)
        self.roots[number], self.carried[number] = roots, carried
        self.outstanding.update(dict.fromkeys(roots, copies))
        return number

    # -- what is answered

    def received(self, delivery: Delivery, number: int) -> None:
        """A task has received a tuple."""
        self.open[delivery] = number

    def ack(self, delivery: Delivery, component: str) -> None:
        """A task acks what it has received; only its first answer counts."""
        number = self.open.pop(delivery, None)
        if number is not None:
            self.outstanding.subtract(self.roots[number])
            self.reached.setdefault(component, set()).update(self.carried[number])

    def fail(self, delivery: Delivery) -> None:
        """A task fails what it has received; only its first answer counts."""
        number = self.open.pop(delivery, None)
        if number is not None:
            self.failed.update(self.roots[number])

    def fail_all_of(self, task: int) -> None:
        """A task's component was made again: what it had not answered has failed."""
        for delivery in [delivery for delivery in self.open if delivery[0] == task]:
            self.fail(delivery)

    # -- what spouts hear

    def heard_ack(self, root: Root) -> None:
        """A spout was told that a tuple has been processed."""
        if root in self.failed:
            self.wrong.append(f"{root} was acked, and has failed")
        if self.outstanding[root]:
            self.wrong.append(f"{root} was acked with {self.outstanding[root]} tuples outstanding")
        if root in self.acked:
            self.wrong.append(f"{root} was acked twice")
        for sink in sorted(self.sinks[root[0]]):
            if root not in self.reached.get(sink, ()):
                self.wrong.append(f"{root} was acked before it came to {sink}")
        self.acked.add(root)

    def heard_fail(self, root: Root, reason: str) -> None:
        """A spout was told that a tuple has failed."""
        if root in self.acked:
            self.wrong.append(f"{root} failed after it was acked")
        if reason != "timed out" and root not in self.failed:
            self.wrong.append(f"{root} failed ({reason}), but nobody has failed it")
        if reason == "timed out" and not self.outstanding[root] and root not in self.failed:
            self.wrong.append(f"{root} timed out, but nothing of it was outstanding")

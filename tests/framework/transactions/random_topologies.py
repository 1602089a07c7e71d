"""Topologies with transactions as Hypothesis draws them, and the components that they are of.

A topology has one or two spouts; perhaps a bolt in front, which multiplies some tuples and leaves out
others; one to three bolts with transactions, in one or two groups; and after some of these another bolt. All
that they do is in the tuples: for each member its calls, as programs of `tests.viper.transactions.programs`.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hypothesis import strategies as st

from framework import Bolt, Grouping, SeekableSpout, SharedTable, TopologyBuilder
from framework.model.config.keys import SCHEDULING
from framework.operators.sinks import CollectingSink
from tests.viper.transactions.programs import ALONE, KEYS, SPECS, programs, programs_of_sets, run_alone, say
from tests.viper.transactions.reference import Program
from viper.transactions.specs import TableSpec

Call = tuple[str, Any]
"""("program", a program), ("failed", one that is left by an exception), or ("alone", (table, column, key,
amount)) with a function that adds to a number."""
Event = tuple[int, tuple[tuple[Call, ...], ...]]
"""Its number, and for each member the calls."""

FIRST_ROWS: Final[dict[str, list[tuple[Any, ...]]]] = {
    "accounts": [(0, 100), (1, 50), (-5, 0)],
    "places": [("a", 7, 2.5, ("a",))],
    "pairs": [((1, "a"), 5, (0, 1), ()), ((1, "b"), 0, (), (0,))],
}
"""The rows that tables have at first: keys, and the values of all columns."""


def load_accounts() -> Iterator[tuple[Any, ...]]:
    yield from FIRST_ROWS["accounts"]


def load_places() -> Iterator[tuple[Any, ...]]:
    yield from FIRST_ROWS["places"]


def load_pairs() -> Iterator[tuple[Any, ...]]:
    yield from FIRST_ROWS["pairs"]


LOADS: Final = {"accounts": load_accounts, "places": load_places, "pairs": load_pairs}


def tables_of(group: int) -> dict[str, SharedTable]:
    """The tables of a group, by the names that programs have for them."""
    return {
        spec.table_name: SharedTable(
            f"{spec.table_name}{group}",
            key=spec.key_kinds[0] if spec.is_single_key else spec.key_kinds,
            columns=spec.column_kinds,
            rows=spec.most_rows,
            elements=spec.most_elements,
            default=_defaults(spec),
            load=LOADS[spec.table_name],
        )
        for spec in SPECS
    }


def _defaults(spec: TableSpec) -> dict[str, float] | None:
    if spec.default_values is None:
        return None
    pairs = zip(spec.column_kinds.items(), spec.default_values, strict=True)
    return {name: value for (name, kind), value in pairs if kind != "set"}


GROUPS: Final = (tables_of(0), tables_of(1))


# -- the components

STATELESS: Final = {"viper.stateless": True}


def copies(number: int) -> int:
    """Count the tuples that come of one in front of the members, and after them."""
    return (1, 2, 0, 1)[number % 4]


@dataclass(frozen=True)
class Death:
    """A member kills its process, once."""

    member: int
    number: int
    """The tuple's for which it does."""
    in_callback: bool
    mark: str
    """A file that is there once it has."""


class Events(SeekableSpout):
    """Brings what it is given."""

    outputs = ["number", "calls"]

    def __init__(self, given: Sequence[Event]) -> None:
        super().__init__()
        self._given = list(given)
        self._next = 0

    def tuples(self) -> Iterator[Event]:
        while self._next < len(self._given):
            self._next += 1
            yield self._given[self._next - 1]

    def offset(self) -> int:
        return self._next

    def seek(self, offset: int) -> None:
        self._next = offset


class Copies(Bolt):
    """Leaves out some tuples, and multiplies others; each copy has a number of its own."""

    outputs = ["number", "what"]
    config = STATELESS

    def process(self, tup: Any) -> None:
        number, what = tup.values
        for copy in range(copies(number)):
            self.emit([3 * number + copy, what])


class Wants(Bolt):
    """Has the transactions that tuples tell it to have, and emits what has come of each."""

    outputs = ["number", "what"]
    config = STATELESS

    def __init__(self, index: int, echoes: int, death: Death | None = None) -> None:
        """
        Args:
            index: which of the members it is.
            echoes: how often it emits each result.
            death: that of a process, if it is to be one of this member.
        """
        super().__init__()
        self._index = index
        self._echoes = echoes
        self._death = death

    def process(self, tup: Any) -> None:
        number, calls = tup.values
        tables = {table.table_name.rstrip("01"): table for table in self.tables}
        for kind, what in calls[self._index]:
            if kind == "alone":
                self.alone(tup, lambda view, what=what: run_alone(view, tables[what[0]], *what[1:]))
                continue
            try:
                with self.transaction(tup) as t:
                    say(t, what, tables)
                    if kind == "failed":
                        raise LookupError
            except LookupError:
                assert kind == "failed"
        self._may_die(number, in_callback=False)

    def process_result(self, tup: Any, result: Any) -> None:
        self._may_die(tup.values[0], in_callback=True)
        for echo in range(self._echoes):
            self.emit([tup.values[0], told(echo, list(result.values), result.aborted)])

    def _may_die(self, number: int, *, in_callback: bool) -> None:
        death = self._death
        if death and (death.member, death.number, death.in_callback) == (self._index, number, in_callback):
            with suppress(FileExistsError):
                Path(death.mark).touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)


class InFirst(Wants):
    tables = list(GROUPS[0].values())


class InSecond(Wants):
    tables = list(reversed(GROUPS[1].values()))


def told(echo: int, values: list[Any], aborted: str | None) -> str:
    """Write the text that is emitted of a result. Numbers are of the kind and the sign that they are of."""
    return f"{echo} {values!r} {aborted}"


# -- what they make up


GROUPINGS: Final = {
    "shuffle": Grouping.SHUFFLE,
    "local": Grouping.LOCAL_OR_SHUFFLE,
    "global": Grouping.GLOBAL,
    "fields": Grouping.fields("number"),
}


@dataclass(frozen=True)
class Member:
    """A bolt with transactions."""

    group: int
    reads: tuple[str, ...]
    """Of the spouts and the bolt in front."""
    grouping: str
    """One of `GROUPINGS`; where an example fails, Hypothesis prints a Grouping on thousands of lines."""
    tasks: int
    echoes: int
    behind: int
    """The number of tasks of the bolt after it; 0: there is none."""


@dataclass(frozen=True)
class Shape:
    """A topology with its input."""

    pool: tuple[Call, ...]
    """All calls that there are."""
    spouts: tuple[tuple[tuple[tuple[int, ...], ...], ...], ...]
    """Events, with for each member the numbers of calls in the pool."""
    front: int
    """The number of tasks of the bolt in front, which reads from the first spout; 0: there is none."""
    is_front_last: bool
    """True if it is defined after all others."""
    members: tuple[Member, ...]

    def events(self, spout: int) -> list[Event]:
        """List the events that a spout brings."""
        brought = enumerate(self.spouts[spout])
        return [
            (2 * nth + spout, tuple(tuple(self.pool[call] for call in calls) for calls in event))
            for nth, event in brought
        ]

    def names(self) -> list[str]:
        """All components but the sink, in their order of definition."""
        found = [f"spout{number}" for number in range(len(self.spouts))]
        front = ["front"] if self.front else []
        found += [] if self.is_front_last else front
        for number, member in enumerate(self.members):
            found += [f"member{number}", f"behind{number}"] if member.behind else [f"member{number}"]
        return found + (front if self.is_front_last else [])

    def build(self, death: Death | None = None) -> TopologyBuilder:
        """The topology; `death`: that of a process, if there is to be one."""
        builder = TopologyBuilder()
        for name in self.names():
            number = int(name[-1]) if name != "front" else 0
            if name.startswith("spout"):
                builder.set_spout(name, Events(self.events(number)))
            elif name == "front":
                builder.set_bolt(name, Copies, self.front).shuffle_grouping("spout0")
            elif name.startswith("behind"):
                behind = self.members[number].behind
                builder.set_bolt(name, Copies, behind).shuffle_grouping(f"member{number}")
            else:
                self._set_member(builder, number, death)
        sink = builder.set_bolt("sink", CollectingSink, config=STATELESS)  # which never dies
        for number, member in enumerate(self.members):
            sink.global_grouping(f"behind{number}" if member.behind else f"member{number}")
        return builder

    def _set_member(self, builder: TopologyBuilder, number: int, death: Death | None) -> None:
        member = self.members[number]
        wants = (InFirst, InSecond)[member.group](number, member.echoes, death)
        declared = builder.set_bolt(f"member{number}", wants, member.tasks)
        for source in member.reads:
            declared.grouping(source, GROUPINGS[member.grouping])


# -- how they are drawn


@st.composite
def transfers(draw: Callable[..., Any]) -> Program:
    """From one of few accounts to another, or to itself."""
    source, target = (("accounts", "balance", draw(st.sampled_from(KEYS["accounts"][:3]))) for _ in range(2))
    amount = draw(st.integers(0, 60))
    return [
        ("read", *source, None),
        ("require", (">=", ("value", 0), amount), draw(st.sampled_from([None, "too little"]))),
        ("subtract", *source, amount),
        ("add", *target, amount),
        ("read", *target, None),
    ]


PROGRAMS: Final = st.one_of(transfers(), transfers(), programs(), programs(), programs_of_sets())
CALLS: Final = st.integers(0, 11).flatmap(
    lambda drawn: (
        st.tuples(st.just("alone"), st.builds(lambda to, n: (*to, n), st.sampled_from(ALONE), AMOUNTS))
        if drawn == 0
        else st.tuples(st.just("failed" if drawn == 1 else "program"), PROGRAMS)
    )
)
AMOUNTS: Final = st.sampled_from([-50, 3, 70, 2000])  # one of them too much, so that functions abort


@st.composite
def members(draw: Callable[..., Any], sources: list[str]) -> Member:
    return Member(
        draw(st.sampled_from([0, 0, 1])),
        tuple(draw(st.lists(st.sampled_from(sources), min_size=1, max_size=2, unique=True))),
        draw(st.sampled_from(list(GROUPINGS))),
        draw(st.integers(1, 3)),
        draw(st.sampled_from([1, 1, 2, 0])),
        draw(st.sampled_from([0, 0, 1, 2])),
    )


@st.composite
def shapes(draw: Callable[..., Any], most: int = 24) -> Shape:
    """A topology whose spouts have so many events at the most, which repeat each other's calls."""
    front, spouts = draw(st.sampled_from([0, 1, 2])), draw(st.integers(1, 2))
    sources = [f"spout{number}" for number in range(spouts)] + (["front"] if front else [])
    drawn = draw(st.lists(members(sources), min_size=1, max_size=3))
    pool = draw(st.lists(CALLS, min_size=3, max_size=8))
    calls = st.lists(st.integers(0, len(pool) - 1), max_size=3).map(tuple)
    kinds = draw(st.lists(st.tuples(*[calls] * len(drawn)), min_size=3, max_size=8))
    # Lists without a least size are empty or short most of the time.
    counts = [draw(st.integers(0 if spout else most // 4, most)) for spout in range(spouts)]
    events = (tuple(draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n))) for n in counts)
    return Shape(tuple(pool), tuple(events), front, draw(st.booleans()), tuple(drawn))


@st.composite
def options(draw: Callable[..., Any], kind: str) -> dict[str, Any]:
    """A configuration that must not show, for workers of a kind; dots are written as ``__``."""
    jumbo = draw(st.sampled_from([1, 2, 16]))
    return {
        "viper__worker": kind,
        "topology__workers": 1 if kind == "inline" else draw(st.integers(2, 3)),
        "viper__transactions__gather": draw(st.sampled_from([1, 2, 7, 1000])),
        "viper__transactions__bytes": draw(st.sampled_from([1 << 14, 1 << 22])),
        "viper__jumbo__size": jumbo,
        "viper__channel__tuples": jumbo * draw(st.sampled_from([1, 3])),
        "viper__slice__tuples": draw(st.sampled_from([1, 5, 64])),
        "viper__scheduling": draw(st.sampled_from(SCHEDULING)),
        "viper__seed": draw(st.integers(0, 1000)),
    }


def recovering(shape: Shape) -> dict[str, Any]:
    """Options by which nothing shows of members that die; spouts and the sink are in another process."""
    placement: dict[str, Any] = {name: 1 for name in [*shape.names(), "sink"]}
    for number, member in enumerate(shape.members):
        placement[f"member{number}"] = [2 + task % 2 for task in range(member.tasks)]
    return {
        "topology__workers": 3,
        "viper__placement": placement,
        "viper__recovery": "exact",
        "viper__transactions__bytes": 1 << 22,  # as those of a slice stay there until it is committed
    }

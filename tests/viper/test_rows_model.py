"""An outbox and an inbox against a short model of both, through random calls."""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from viper.rows import Inbox, Outbox

PORTS = (("default", 2, True), ("any", -1, True), ("unread", 2, False))
NAMES = [name for name, _, _ in PORTS]
STREAMS = st.sampled_from([*NAMES, "nowhere", None])
PLAIN = st.one_of(
    st.integers(), st.text(max_size=3), st.none(), st.tuples(st.booleans(), st.binary(max_size=2))
)
VALUES = st.lists(st.one_of(PLAIN, PLAIN, PLAIN, st.lists(PLAIN, max_size=1)), min_size=1, max_size=3)
NOTES = st.one_of(st.none(), st.integers(0, 3))
HEADS = st.sampled_from([("a", "default", 1, None), ("b", "s", 2, None)])


class Record(NamedTuple):
    id: str
    component: str
    stream: str
    task: int
    values: tuple[Any, ...]


class Boxes(RuleBasedStateMachine):
    """Every rule does one thing to the boxes and to the model, and compares what comes back."""

    @initialize(limit=st.integers(1, 6), pause_at=st.integers(1, 6), takes_ids=st.booleans())
    def make(self, limit: int, pause_at: int, takes_ids: bool) -> None:
        self.slow: list[Any] = []
        self.full = 0
        self.outbox = Outbox(PORTS, self.on_slow, self.on_full, limit, takes_ids)
        self.takes_ids = takes_ids
        self.inbox = Inbox(Record, self.outbox, pause_at)
        self.limit, self.pause_at = limit, pause_at
        self.rows: list[tuple[int, tuple[Any, ...]]] = []
        self.notes: list[tuple[int, Any]] = []
        self.discarded = self.expected_full = self.records = self.handed = 0
        self.unread: list[tuple[Any, ...]] = []
        self.marks: list[int] = []
        self.open = False

    def on_slow(self, *args: Any, **options: Any) -> None:
        self.slow.append((args, options))

    def on_full(self) -> None:
        self.full += 1

    def put(self, port: int, row: tuple[Any, ...], note: object) -> None:
        if not PORTS[port][2]:
            self.discarded += 1
            return
        if note is not None:
            self.notes.append((len(self.rows), note))
        self.rows.append((port, row))
        self.expected_full += len(self.rows) >= self.limit

    @rule(values=VALUES, stream=STREAMS, as_tuple=st.booleans(), id_=NOTES, with_id=st.booleans())
    def emit(self, values: list[Any], stream: str | None, as_tuple: bool, id_: object, with_id: bool) -> None:
        given: Any = tuple(values) if as_tuple else values
        options: dict[str, Any] = {} if stream == "default" else {"stream": stream}
        if with_id:
            options["tup_id"] = id_
        id_ = id_ if with_id else None
        calls = len(self.slow)
        self.outbox.emit(given, **options)
        port = NAMES.index(stream) if stream in NAMES else -1
        fits = port >= 0 and PORTS[port][1] in (-1, len(values)) and (self.takes_ids or not with_id)
        fits = fits and (id_ is None or PORTS[port][2])
        if fits and not any(isinstance(value, list) for value in values):
            self.put(port, tuple(values), id_)
            assert len(self.slow) == calls
        else:
            assert self.slow[calls:] == [((given,), options)]

    @rule(port=st.integers(0, 2), values=VALUES, note=NOTES)
    def append(self, port: int, values: list[Any], note: object) -> None:
        self.outbox.append(port, tuple(values), note)
        self.put(port, tuple(values), note)

    @rule()
    def take(self) -> None:
        rows, tags, notes = self.outbox.take()
        assert notes == (self.notes or None)
        self.notes = []
        assert tags is not None
        assert list(zip(memoryview(tags).cast("H").tolist(), rows, strict=True)) == self.rows
        self.rows = []

    @rule(rows=st.lists(st.tuples(PLAIN), max_size=5), cut=st.integers(0, 5), heads=st.tuples(HEADS, HEADS))
    def load(self, rows: list[Any], cut: int, heads: Any) -> None:
        cut = min(cut, len(rows))
        self.inbox.load([(rows, 0, cut, heads[0]), (rows, cut, len(rows) - cut, heads[1])])
        self.unread = [(*heads[index >= cut][:3], row) for index, row in enumerate(rows)]
        self.handed = 0

    @rule(
        rows=st.lists(st.tuples(st.tuples(PLAIN), st.integers(0, 1)), max_size=5),
        heads=st.tuples(HEADS, HEADS),
    )
    def load_mixed(self, rows: list[Any], heads: Any) -> None:
        which = array("H", [head for _, head in rows])
        self.inbox.load([([row for row, _ in rows], 0, len(rows), heads, which.tobytes())])
        self.unread = [(*heads[head][:3], row) for row, head in rows]
        self.handed = 0

    @rule()
    def read(self) -> None:
        record = next(self.inbox, None)
        if self.open:
            self.marks.append(len(self.rows))
        paused = len(self.rows) >= self.pause_at
        self.open = bool(self.unread) and not paused
        assert self.inbox.paused == paused
        if self.open:
            self.records += 1
            self.handed += 1
            assert record == (str(self.records), *self.unread.pop(0))
        else:
            assert record is None

    @rule()
    def cut(self) -> None:
        if self.open:
            self.marks.append(len(self.rows))
        assert memoryview(self.inbox.cut()).cast("I").tolist() == self.marks
        self.marks = []

    @invariant()
    def counts_agree(self) -> None:
        assert len(self.outbox) == len(self.rows)
        assert self.outbox.discarded == self.discarded
        assert self.full == self.expected_full
        assert self.inbox.open == self.open
        assert (self.inbox.last_id, self.inbox.handed) == (self.records, self.handed)


class TestBoxes(Boxes.TestCase):  # type: ignore[valid-type, misc]
    settings = settings(max_examples=40, stateful_step_count=40)


@pytest.mark.slow
class TestBoxesAtLength(Boxes.TestCase):  # type: ignore[valid-type, misc]
    settings = settings(max_examples=200, stateful_step_count=40)

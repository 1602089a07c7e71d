"""Rows and records leave nothing behind, whichever way a call ends."""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from array import array
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from viper.hashing import hashes_of_columns, hashes_of_rows, split, stable_hash, targets_of_rows
from viper.rows import Inbox, Outbox, ends, is_plain, kept, partition, plain_rows


class Record(NamedTuple):
    id: str
    component: str
    stream: str
    task: int
    values: tuple[Any, ...]


class Values(NamedTuple):
    word: str


WORD = "a word of its own"
ENCODED = "ett ord, två ord" * 99
HEAD = ("component", "stream", 7, Values)
BAD_PORT: Any = (WORD,)
BAD_ROWS: Any = [WORD]


def raising(*args: Any, **options: Any) -> None:
    raise LookupError


def quiet(*args: Any, **options: Any) -> None: ...


def outbox(slow: Callable[..., Any] = quiet, full: Callable[..., Any] = quiet, limit: int = 9999) -> Outbox:
    return Outbox((("default", 1, True), ("unread", 1, False)), slow, full, limit)


def swallowed(call: Callable[[], Any]) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        call()


def emit_and_take() -> None:
    box = outbox()
    box.emit([WORD])
    box.emit((WORD,), stream="default")
    box.append(0, (WORD,))
    box.take()
    box.emit([WORD])


class Exported:
    """Something that exports what is given, whatever that is."""

    def __init__(self, exported: object) -> None:
        self._exported = exported

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self._exported


def read_records() -> None:
    inbox = Inbox(Record, outbox(), 99)
    rows = [(WORD,)] * 5
    assert len(list(inbox.load([(rows, 0, 3, HEAD), (rows, 1, 2, (*HEAD[:3], None))]))) == 5
    inbox.cut()
    inbox.load([(rows, 0, 5, HEAD)])
    next(inbox)


WAYS: dict[str, Callable[[], Any]] = {
    "emit and take": emit_and_take,
    "discard": lambda: outbox().emit([WORD], stream="unread"),
    "slow": lambda: outbox().emit([WORD], anchors=[WORD]),
    "slow raises": lambda: swallowed(lambda: outbox(slow=raising).emit([[WORD]], stream=WORD)),
    "full raises": lambda: swallowed(lambda: outbox(full=raising, limit=1).emit([WORD])),
    "arity": lambda: outbox().emit([WORD, WORD]),
    "not plain at the end": lambda: outbox().emit([(WORD, WORD, [])]),
    "bad ports": lambda: swallowed(lambda: Outbox((("default", 1, True), BAD_PORT), quiet, quiet, 1)),
    "bad port": lambda: swallowed(lambda: outbox().append(5, (WORD,))),
    "bad inbox": lambda: swallowed(lambda: Inbox(Record, WORD, 1)),  # type: ignore[arg-type]
    "records": read_records,
    "bad piece": lambda: swallowed(lambda: next(Inbox(Record, None, 1).load([([(WORD,)], 0, 2, HEAD)]))),
    "bad row": lambda: swallowed(lambda: next(Inbox(Record, None, 1).load([(BAD_ROWS, 0, 1, HEAD)]))),
    "bad load": lambda: swallowed(lambda: Inbox(Record, None, 1).load((WORD,))),  # type: ignore[arg-type]
    "extend": lambda: outbox().extend(0, [(WORD,), (WORD,)]),
    "extend unread": lambda: outbox().extend(1, [(WORD,)]),
    "bad extend": lambda: swallowed(lambda: outbox().extend(5, [(WORD,)])),
    "plain rows": lambda: plain_rows([[WORD], (WORD,), [[WORD]]], 1, 0, []),
    "bad plain rows": lambda: swallowed(lambda: plain_rows([[WORD]], 1, -1, [])),
    "ends": lambda: ends([0, 0, 2], 3),
    "bad ends": lambda: swallowed(lambda: ends([0, 3], 3)),
    "ends of no numbers": lambda: swallowed(lambda: ends([WORD], 3)),  # type: ignore[list-item]
    "kept": lambda: kept((WORD, [WORD])),
    "plain": lambda: is_plain((WORD, (WORD, [WORD]))),
    "partition": lambda: partition([(WORD,)] * 3, array("H", [0, 1, 2]), 2),
    "hash": lambda: stable_hash((WORD, [WORD, 2**80], {WORD: WORD, "set": {WORD}}, ENCODED)),
    "bad hash": lambda: swallowed(lambda: stable_hash((WORD, [WORD, object()]))),
    "targets": lambda: targets_of_rows([(WORD, HEAD)], (0, 1), 3, 4, lambda value: 1),
    "bad row to hash": lambda: swallowed(lambda: hashes_of_rows([(WORD, WORD), HEAD], (1, 5))),
    "rare raises": lambda: swallowed(lambda: hashes_of_rows([(WORD,), (HEAD,)], (0,), raising)),
    "bad index": lambda: swallowed(lambda: hashes_of_rows([(WORD,)], (0, WORD))),  # type: ignore[arg-type]
    "bad capsules": lambda: swallowed(lambda: hashes_of_columns([Exported((WORD, WORD))])),  # type: ignore[list-item]
    "no capsules": lambda: swallowed(lambda: hashes_of_columns([Exported(HEAD)])),  # type: ignore[list-item]
    "split": lambda: split(array("H", [0, 1, 2]), 2),
    "bad split": lambda: swallowed(lambda: split(b"x", 2)),
    "bad partition": lambda: swallowed(lambda: partition([(WORD,)], b"", 2)),
}


def references() -> list[int]:
    gc.collect()
    return [sys.getrefcount(item) for item in (WORD, Values, Record, HEAD, quiet, raising, Outbox, Inbox)]


@pytest.mark.few(26)
@pytest.mark.parametrize("way", WAYS)
def test_no_reference_is_left_or_lost(way: str) -> None:
    WAYS[way]()
    before = references()
    for _ in range(100):
        WAYS[way]()
    assert references() == before


def test_boxes_in_a_cycle_are_collected() -> None:
    class Owner:
        def __init__(self) -> None:
            self.outbox = Outbox((("default", 1, True),), self.slow, self.slow, 9)
            self.inbox = Inbox(Record, self.outbox, 9).load([([(self,)], 0, 1, HEAD)])
            next(self.inbox)

        def slow(self) -> None: ...

    gone = weakref.ref(Owner())
    gc.collect()
    assert gone() is None


def test_memory_stays_flat_over_a_million_rows() -> None:
    box = outbox()
    inbox = Inbox(Record, box, 1 << 30)
    rows = [(f"word {number}",) for number in range(1000)]

    def thousands(count: int) -> None:
        for _ in range(count):
            for record in inbox.load([(rows, 0, 1000, HEAD)]):
                box.emit([record.values.word])
            box.take()
            inbox.cut()

    thousands(10)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        thousands(300)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    thousands(700)
    assert after - before < 10_000  # bytes; a single reference lost per row would be millions

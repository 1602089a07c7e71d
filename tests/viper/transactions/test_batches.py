"""Blocks that are said once for all rows of a batch, case by case."""

from __future__ import annotations

from array import array
from decimal import Decimal
from typing import Any

import pytest

from tests.viper.transactions.batch_world import Batches, positions_of
from tests.viper.transactions.programs import ACCOUNTS, PAIRS, PLACES
from tests.viper.transactions.world import HOLDER, World
from viper.errors import DivergedError, LogFullError
from viper.rows import Inbox
from viper.transactions.recorder import Recorder
from viper.transactions.specs import TableSpec

numpy = pytest.importorskip("numpy")


class TestArrays:
    def test_a_transfer(self) -> None:
        task = Batches()
        task.world.tables[0].load([(0, 100), (1, 0)])
        source, target = numpy.array([0, 1, 0, 5]), numpy.array([1, 0, 1, 1])
        amount = numpy.array([30, 40, 71, 1], dtype=numpy.int32)
        kept: list[Any] = []

        def what(t: Any) -> None:
            balance = t.read(ACCOUNTS, source)
            t.require(amount <= balance, "not enough")
            t.subtract(ACCOUNTS, source, amount)
            t.add(ACCOUNTS, target, amount)
            kept.extend([balance, balance - amount])

        results = task.run(4, (None, what))
        assert results.aborted == b"\0\1\1\1"
        assert [results.reason(index) for index in range(4)] == [
            None,
            "not enough",
            "not enough",
            "no row 5 in accounts",
        ]
        assert numpy.asarray(results[kept[0]]).tolist() == [100, 0, 0, 0]
        assert (results[kept[1]].tolist(), results[kept[1]].format) == ([70, 0, 0, 0], "q")
        assert list(task.world.tables[0].rows()) == [(0, 70), (1, 30)]

    def test_blocks_are_interleaved_by_row(self) -> None:
        task = Batches()
        reads: list[Any] = []

        def adds(t: Any) -> None:
            t.add(PLACES.n, "a", 1)
            reads.append(t.read(PLACES.n, "a"))

        def doubles(t: Any) -> None:
            n = t.read(PLACES.n, "a")
            t.set(PLACES.n, "a", n * 2)
            reads.append(t.read(PLACES.n, "a"))

        results = task.run(3, (None, adds), (numpy.array([True, False, True]), doubles))
        assert (results[reads[0]].tolist(), results[reads[1]].tolist()) == ([4, 9, 10], [8, 20])
        assert results.rows.tolist() == [0, 0, 1, 2, 2]

    @pytest.mark.parametrize(
        ("amounts", "total"),
        [
            (array("q", [1, -2, 2**40]), 2**40 - 1),
            (array("b", [1, -2, 3]), 2),
            (array("B", [1, 255, 3]), 259),
            (array("h", [1, -2, 3]), 2),
            (array("H", [1, 65535, 3]), 65539),
            (array("i", [1, -2, 3]), 2),
            (array("I", [1, 2**32 - 1, 3]), 2**32 + 3),
            (numpy.array([1, 9, 2, 9, 3, 9])[::2], 6),
            (numpy.array([3, 2, 1])[::-1], 6),
            (numpy.array([True, False, True]), 2),
            ([1, True, 3], 5),
            (memoryview(array("q", [4, 5, 6])), 15),
        ],
    )
    def test_ints(self, amounts: Any, total: int) -> None:
        task = Batches()
        task.run(3, (None, lambda t: t.add(PLACES.n, "a", amounts)))
        assert task.world.tables[1].get("a") == {"n": 3 + total, "x": 0.5, "cars": ()}

    @pytest.mark.parametrize(
        "amounts",
        [array("d", [1, 0.5, 2]), array("f", [1, 0.5, 2]), [1, 0.5, 2], numpy.array([1.0, 0.5, 2.0])],
    )
    def test_floats(self, amounts: Any) -> None:
        task = Batches()
        task.run(3, (None, lambda t: t.add(PLACES.x, "a", amounts)))
        assert task.world.tables[1].get("a") == {"n": 3, "x": 4.0, "cars": ()}

    def test_ints_become_floats(self) -> None:
        task = Batches()
        task.run(
            2, (None, lambda t: t.set(PLACES.x, ["a", "b"], t.read(PLACES.x, "c") * numpy.array([3, 5])))
        )
        assert [row[2] for row in task.world.tables[1].rows()] == [1.5, 2.5]

    def test_arrays_may_change_behind_the_block(self) -> None:
        task = Batches()
        keys, amounts = numpy.array([1, 2]), numpy.array([10, 20])
        task.recorder.start_rows(2)
        with task.recorder.begin_rows() as t:
            t.set(ACCOUNTS, keys, amounts)
            keys[:] = amounts[:] = 7
        keys[:] = 8
        task.place(2)
        task.evaluate()
        assert list(task.world.tables[0].rows()) == [(1, 10), (2, 20)]

    def test_keys_of_several_values(self) -> None:
        task = Batches()
        texts = numpy.array(["a", "b"])
        task.run(2, (None, lambda t: t.put(PAIRS, (numpy.array([1, 2]), "x"), a=1)))
        task.run(2, (None, lambda t: t.put(PAIRS, (7, texts), a=2)))
        task.run(2, (None, lambda t: t.insert(PAIRS.s, ([1, 7], ["x", "b"]), [5, "e"])))
        assert list(task.world.tables[2].rows()) == [
            ((1, "x"), 1, (5,), ()),
            ((2, "x"), 1, (), ()),
            ((7, "a"), 2, (), ()),
            ((7, "b"), 2, ("e",), ()),
        ]

    def test_one_key_and_one_element_for_all(self) -> None:
        task = Batches()
        kept: list[Any] = []

        def what(t: Any) -> None:
            kept.append(t.insert(PLACES.cars, "a", 5))
            kept.append(t.insert(PLACES.cars, numpy.array(["a", "b", "b"]), 5))
            kept.append(t.insert(PLACES.cars, "c", numpy.array([1, 2, 1])))

        results = task.run(3, (None, what))
        assert [results[handle].tolist() for handle in kept] == [[1, 0, 0], [0, 1, 0], [1, 1, 0]]

    def test_known_conditions(self) -> None:
        task = Batches()

        def what(t: Any) -> None:
            t.require(numpy.array([True, False, True]), "first")
            t.require([True, True, False])

        results = task.run(3, (None, what), ([False, True, True], lambda t: t.require(False, "never")))
        assert [results.reason(index) for index in range(5)] == [
            None,
            "first",
            "never",
            "condition 2",
            "never",
        ]

    def test_many_rows(self) -> None:
        """Rows of numbers are known once they were looked up, whichever others share their place."""
        specs = [TableSpec("many", "int64", {"n": "int64"}, rows=60_000)]
        world = World(specs, log_bytes=1 << 24)
        recorder = Recorder(Inbox(tuple, None, 10), world.group, 0)
        rng = numpy.random.default_rng(5)
        keys = rng.integers(0, 1 << 40, 50_000)
        keys[::3] = keys[5]
        recorder.start_rows(len(keys))
        with recorder.begin_rows() as t:
            t.set(specs[0], keys, t.read(specs[0], keys, 0) + 1)
        recorder.place(positions_of(len(keys)), 0)
        while True:
            recorder.publish()
            recorder.collected((len(keys), 0, 0))
            world.group.evaluate(HOLDER, 0)
            if not recorder.in_flight:
                break
            recorder.take_rows(recorder.evaluated_inputs())
            recorder.release()
        found, counts = numpy.unique(keys, return_counts=True)
        assert list(world.tables[0].rows()) == list(zip(found.tolist(), counts.tolist(), strict=True))


class TestRhythm:
    def test_a_batch_is_taken_in_parts(self) -> None:
        task = Batches()
        task.recorder.start_rows(5)
        with task.recorder.begin_rows([True, False, True, True, True]) as t:
            t.add(PLACES.n, "a", 1)
            n = t.read(PLACES.n, "a")
        task.recorder.place(positions_of(5), 0)
        task.tell(3)
        assert (task.evaluate(), task.recorder.in_flight) == (3, 5)
        first = task.recorder.take_rows(2)
        with pytest.raises(
            IndexError, match="2 rows cannot be taken: not all their transactions are evaluated"
        ):
            task.recorder.take_rows(2)
        task.tell(5)
        task.evaluate()
        with pytest.raises(IndexError, match="4 rows cannot be taken: the batch has no more"):
            task.recorder.take_rows(4)
        second = task.recorder.take_rows(3)
        assert (first[n].tolist(), second[n].tolist()) == ([4], [5, 6, 7])
        assert (first.rows.tolist(), second.rows.tolist()) == ([0], [0, 1, 2])
        with pytest.raises(IndexError, match="there is no batch"):
            task.recorder.take_rows(1)

    def test_a_batch_that_failed_wants_nothing(self) -> None:
        task = Batches()
        task.recorder.start_rows(2)
        with task.recorder.begin_rows() as t:
            t.add(PLACES.n, "a", 1)
        task.recorder.discard_input()
        task.place(2)
        assert task.evaluate() == 2
        assert len(task.recorder.take_rows(2)) == 0
        assert list(task.world.tables[1].rows()) == []

    def test_a_block_left_by_an_exception_is_dropped(self) -> None:
        task = Batches()
        task.recorder.start_rows(1)
        with pytest.raises(KeyError), task.recorder.begin_rows() as t:
            t.require(t.read(PLACES.n, ["a"]) > 5, "reason")
            raise KeyError
        task.place(1)
        assert (task.evaluate(), len(task.recorder.take_rows(1))) == (1, 0)

    def test_rows_and_tuples_are_not_mixed(self) -> None:
        task = Batches()
        with pytest.raises(RuntimeError, match="said in process_rows"):
            task.recorder.begin_rows()
        task.recorder.start_rows(1)
        with pytest.raises(RuntimeError, match="while a tuple is processed"):
            task.recorder.begin(("1",))
        with task.recorder.begin_rows():
            with pytest.raises(RuntimeError, match="within another one"):
                task.recorder.begin_rows()
            with pytest.raises(RuntimeError, match="still being said"):
                task.recorder.place(positions_of(1), 0)
        task.place(1)
        task.evaluate()
        with pytest.raises(RuntimeError, match="taken by take_rows"):
            task.recorder.take_results()

    def test_another_process_is_told(self) -> None:
        task = Batches()
        for amounts in ([1, 2], [1, 3]):
            task.begin()
            task.recorder.start_rows(2)
            with task.recorder.begin_rows() as t:
                t.add(ACCOUNTS, 1, numpy.array(amounts))
            if amounts == [1, 2]:
                task.place(2)
        with pytest.raises(DivergedError, match=r"position \(1, 0, 0\).*differs from its operation 1 on"):
            task.place(2)

    def test_a_block_that_no_log_has_room_for(self) -> None:
        task = Batches(4096)
        task.recorder.start_rows(1)

        def what() -> None:
            with task.recorder.begin_rows() as t:
                for _ in range(130):
                    t.add(ACCOUNTS, 1, 1)

        with pytest.raises(LogFullError, match="130 operations"):
            what()
        task.place(1)


WRONG: list[tuple[Any, type[Exception], str]] = [
    (
        lambda t: t.read(ACCOUNTS, numpy.array([1])),
        ValueError,
        "the key is given for 1 rows, and the block is for 2",
    ),
    (
        lambda t: t.read(ACCOUNTS, [1.5, 2]),
        TypeError,
        "keys of table accounts are int64; found an array of other",
    ),
    (lambda t: t.read(ACCOUNTS, numpy.array([1.0, 2.0])), TypeError, "keys of table accounts are int64"),
    (lambda t: t.read(ACCOUNTS, ["a", "b"]), TypeError, "a key of table accounts is int64; found 'a'"),
    (
        lambda t: t.read(ACCOUNTS, numpy.zeros((2, 2), int)),
        TypeError,
        "only integer scalar arrays|a key of table",
    ),
    (lambda t: t.read(ACCOUNTS, b"ab"), TypeError, "a key of table accounts is int64; found b'ab'"),
    (
        lambda t: t.read(ACCOUNTS, numpy.array([1, 2**63], "uint64")),
        OverflowError,
        r"a key of table accounts is int64; found .*9223372036854775808.* does not fit into 64 bits",
    ),
    (lambda t: t.read(ACCOUNTS, [1, 2**63]), OverflowError, "a key of table accounts is int64; found 92"),
    (lambda t: t.read(ACCOUNTS, numpy.array([1, 2], "complex")), TypeError, "is an array of format Zd"),
    (lambda t: t.add(ACCOUNTS, 1, numpy.array([1, 2], "float16")), TypeError, "is an array of format e"),
    (lambda t: t.add(ACCOUNTS, 1, [1, None]), TypeError, "the operand is a number.*found None"),
    (lambda t: t.add(PLACES.x, "a", [1.5, Decimal(2)]), TypeError, "the operand is a number.*found Decimal"),
    (lambda t: t.read(PLACES.n, ["a", 5]), TypeError, "a key of table places is text; found 5"),
    (lambda t: t.read(PAIRS.a, ([1, 2, 3], "a")), ValueError, "a part of the key is given for 3 rows"),
    (
        lambda t: t.add(ACCOUNTS, 1, [1, 2, 3]),
        ValueError,
        "the operand is given for 3 rows, and the block is for 2",
    ),
    (lambda t: t.add(ACCOUNTS, 1, [1, 0.5]), TypeError, "column accounts.balance is int64; found a float"),
    (lambda t: t.add(ACCOUNTS, 1, ["a", 1]), TypeError, "the operand is a number.*found 'a'"),
    (lambda t: t.add(PLACES.x, "a", ["a", 1.5]), TypeError, "the operand is a number.*found 'a'"),
    (lambda t: t.insert(PLACES.cars, "a", [1]), ValueError, "the element is given for 1 rows"),
    (
        lambda t: t.insert(PLACES.cars, "a", [1, 1.5]),
        TypeError,
        "an element of the set places.cars is an int",
    ),
    (lambda t: t.require([1, 0]), TypeError, "require takes a condition, or an array of bools"),
    (lambda t: t.require(t.read(ACCOUNTS, [1, 2])), TypeError, "require takes a condition"),
    (lambda t: t.read(ACCOUNTS, [t.read(ACCOUNTS, 1), 2]), TypeError, "a handle is no key of table acc"),
]


@pytest.mark.parametrize(("what", "error", "message"), WRONG)
def test_what_is_wrong_is_told(what: Any, error: type[Exception], message: str) -> None:
    task = Batches()
    task.recorder.start_rows(2)
    with task.recorder.begin_rows() as t, pytest.raises(error, match=message):
        what(t)


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        ([True], ValueError, "a bool for each of the 2 rows of the batch; found 1"),
        ([True, 1], TypeError, "`where` is a bool for each row; found 1"),
        (numpy.array([True]), ValueError, "the 2 rows of the batch; found 1 items of 1 bytes"),
        (numpy.array([1, 2]), ValueError, "found 2 items of 8 bytes"),
        (5, TypeError, "bytes-like object is required"),
    ],
)
def test_masks_that_are_none(where: Any, error: type[Exception], message: str) -> None:
    task = Batches()
    task.recorder.start_rows(2)
    with pytest.raises(error, match=message):
        task.recorder.begin_rows(where)


def test_handles_of_another_batch() -> None:
    """They stand for those in their place: a bolt keeps the latest, and earlier batches are called back."""
    task = Batches()
    kept: list[Any] = []

    def what(t: Any) -> None:
        kept.append(t.read(PLACES.n, ["a"]))
        kept.append(t.read(PLACES.x, "a"))

    def longer(t: Any) -> None:
        kept.extend(t.read(PLACES.n, "a") for _ in range(3))

    results = task.run(1, (None, what))
    task.run(1, (None, what))
    task.run(1, (None, longer), (None, what))
    assert [results[handle].tolist() for handle in kept[:5]] == [[3], [0.5], [3], [0.5], [3]]
    for other in kept[5:]:
        with pytest.raises(LookupError, match="of another batch, whose blocks say something else"):
            results[other]
    with pytest.raises(TypeError, match="had by a handle; found 0"):
        results[0]  # type: ignore[index]
    with pytest.raises(IndexError, match="there are 1 transactions, and none of index 1"):
        results.reason(1)

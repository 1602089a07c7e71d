"""A partition on its way from an executor to a task, without Spark: what breaks off resumes where it was."""

from __future__ import annotations

import itertools
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pa = pytest.importorskip("pyarrow")

from spark_ingest import JobError, SparkError  # noqa: E402
from spark_ingest.direct.inbox import ROOM  # noqa: E402
from spark_ingest.direct.listening import Listening  # noqa: E402
from spark_ingest.direct.receiver import Receiver  # noqa: E402
from spark_ingest.direct.rendezvous import Rendezvous  # noqa: E402
from spark_ingest.direct.sender import send_partition  # noqa: E402

SECRET = "a secret"
REPOSITORY = Path(__file__).parents[3]


def batches(count: int, rows: int = 10, first: int = 0) -> list[Any]:
    """Batches of times 0, 0, 1, 1, ... and numbers 0, 1, 2, ..."""
    return [
        pa.RecordBatch.from_pydict(
            {"_time_us": [n // 2 for n in numbers], "n": list(numbers), "x": [str(n) for n in numbers]}
        )
        for numbers in (range(first + i * rows, first + (i + 1) * rows) for i in range(count))
    ]


END = pa.RecordBatch.from_pydict(
    {"_time_us": [2**63 - 1], "n": [None], "x": [None]}, schema=batches(1)[0].schema
)
"""The last batch of each stream."""
BROKEN = object()
"""In the place of a batch: the input ends there, without an end."""


class Sending(threading.Thread):
    """An executor that sends a partition."""

    def __init__(
        self,
        rendezvous: Rendezvous,
        given: Sequence[Any],
        partition: int = 0,
        epoch: int = 0,
        until_us: int | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self.sent = 0
        self.rows = -1
        self.error: BaseException | None = None
        self._told = (rendezvous.address, SECRET, epoch, until_us)
        self._partition = partition
        self._given = given
        self.start()

    def run(self) -> None:
        try:
            self.rows = send_partition(self._counted(), self._partition, *self._told)
        except BaseException as error:
            self.error = error

    def _counted(self) -> Iterator[Any]:
        for batch in self._given:
            if batch is BROKEN:
                return
            if batch is None:
                raise ConnectionResetError("the executor was killed")
            self.sent += 1
            yield batch
        yield END


@pytest.fixture
def rendezvous() -> Iterator[Rendezvous]:
    made = Rendezvous(Listening(), SECRET)
    yield made
    made.close()


def receiver_at(rendezvous: Rendezvous) -> Receiver:
    return Receiver({"address": rendezvous.address, "secret": SECRET, "listening": list(Listening())})


@pytest.fixture
def receiver(rendezvous: Rendezvous) -> Iterator[Receiver]:
    made = receiver_at(rendezvous)
    yield made
    made.close()


def numbers(received: Iterator[Any], limit: int | None = None) -> list[int]:
    """The column n of all batches, or of so many."""
    found: list[int] = []
    count = 0
    for batch in received:
        if isinstance(batch, pa.RecordBatch):
            found += batch.column("n").to_pylist()
            count += 1
        if count == limit:
            break
    return found


def test_all_rows_arrive_in_order(rendezvous: Rendezvous, receiver: Receiver) -> None:
    sending = Sending(rendezvous, batches(20))
    assert numbers(receiver.batches(0, None)) == list(range(200))
    sending.join()
    assert (sending.error, sending.rows) == (None, 200)


def test_a_partition_without_rows(rendezvous: Rendezvous, receiver: Receiver) -> None:
    sending = Sending(rendezvous, [])
    assert numbers(receiver.batches(0, None)) == []
    sending.join()
    assert (sending.error, sending.rows) == (None, 0)


def test_batches_without_rows(rendezvous: Rendezvous, receiver: Receiver) -> None:
    empty = batches(1)[0].slice(0, 0)
    Sending(rendezvous, [empty, *batches(1), empty])
    assert numbers(receiver.batches(0, None)) == list(range(10))


def test_nothing_for_now_is_none(rendezvous: Rendezvous, receiver: Receiver) -> None:
    assert next(receiver.batches(0, None)) is None


def test_each_partition_goes_to_its_task(rendezvous: Rendezvous, receiver: Receiver) -> None:
    other = receiver_at(rendezvous)
    Sending(rendezvous, batches(2, first=1000), partition=1)
    Sending(rendezvous, batches(2), partition=0)
    assert numbers(other.batches(1, None))[0] == 1000
    assert numbers(receiver.batches(0, None))[0] == 0
    other.close()


@pytest.mark.slow
def test_a_task_that_takes_nothing_holds_the_executor_back(
    rendezvous: Rendezvous, receiver: Receiver
) -> None:
    large = batches(40, rows=100_000)
    received = receiver.batches(0, None)
    sending = Sending(rendezvous, large)
    first = numbers(received, limit=1)
    while sending.sent < ROOM + 1:
        time.sleep(0.001)  # until it is stopped by the kernel's buffers, which are of no fixed size
    assert sending.sent < 40
    assert sending.rows == -1
    assert first + numbers(received) == list(range(4_000_000))


def test_rows_of_an_earlier_time_are_left_out(rendezvous: Rendezvous, receiver: Receiver) -> None:
    Sending(rendezvous, batches(3))
    assert numbers(receiver.batches(0, 6)) == list(range(12, 30))


class TestBrokenOff:
    def test_a_second_attempt_goes_on_where_the_first_was(
        self, rendezvous: Rendezvous, receiver: Receiver
    ) -> None:
        received = receiver.batches(0, None)
        first = Sending(rendezvous, [*batches(3), None])
        found = numbers(received, limit=3)
        first.join()
        second = Sending(rendezvous, batches(8, rows=7))  # other batches, the same rows
        assert found + numbers(received) == list(range(56))
        second.join()
        assert (second.error, second.rows) == (None, 56)

    @pytest.mark.parametrize("start_us", [None, 6])
    @pytest.mark.parametrize("sent", [1, 2, 5])
    @pytest.mark.parametrize("rows", [1, 5, 10, 100])
    def test_wherever_it_broke_off(
        self, rendezvous: Rendezvous, receiver: Receiver, sent: int, rows: int, start_us: int | None
    ) -> None:
        received = receiver.batches(0, start_us)
        first = 2 * (start_us or 0)
        arrived = max(0, sent * 10 - first)
        attempt = Sending(rendezvous, [*batches(sent), None])
        found = []
        while len(found) < arrived:
            found += numbers(received, limit=1)
        next(received)
        attempt.join()
        Sending(rendezvous, batches(100 // rows, rows=rows))
        assert found + numbers(received) == list(range(first, 100))

    def test_an_end_that_spark_has_not_set_is_none(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        """To the function that sends, a task that is being killed looks like the end of its rows."""
        received = receiver.batches(0, None)
        first = Sending(rendezvous, [*batches(3), BROKEN])
        found = numbers(received, limit=3)
        first.join()
        assert "broken off" in str(first.error)
        Sending(rendezvous, batches(4))
        assert found + numbers(received) == list(range(40))

    def test_other_rows_are_found_out(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        received = receiver.batches(0, None)
        first = Sending(rendezvous, [*batches(3), None])
        numbers(received, limit=3)
        first.join()
        second = Sending(rendezvous, batches(9, first=1))
        while second.is_alive():
            next(received)
        assert "has other rows now" in str(second.error)

    def test_fewer_rows_are_found_out(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        received = receiver.batches(0, None)
        first = Sending(rendezvous, [*batches(3), None])
        numbers(received, limit=3)
        first.join()
        second = Sending(rendezvous, batches(2))
        while second.is_alive():
            next(received)
        assert "30 rows of a partition were sent before, but now it has only 20" in str(second.error)

    def test_an_attempt_that_hangs_gives_way(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        received = receiver.batches(0, None)
        gate = threading.Event()

        def hanging() -> Iterator[Any]:
            yield from batches(2)
            gate.wait()

        Sending(rendezvous, hanging())  # type: ignore[arg-type]
        found = numbers(received, limit=2)
        Sending(rendezvous, batches(4))
        assert found + numbers(received) == list(range(40))
        gate.set()

    def test_a_task_that_asks_again_gets_all_of_it(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        first = Sending(rendezvous, batches(9))
        numbers(receiver.batches(0, None), limit=2)
        again = receiver.batches(0, 5)
        next(again)
        first.join()
        assert isinstance(first.error, OSError | EOFError)
        Sending(rendezvous, batches(9))
        assert numbers(again) == list(range(10, 90))


class TestEpochs:
    def test_follow_each_other(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        received = receiver.batches(0, None)
        Sending(rendezvous, batches(2), epoch=0, until_us=10)
        first = itertools.islice((found for found in received if found is not None), 3)
        assert [found if isinstance(found, int) else found.num_rows for found in first] == [10, 10, 10]
        Sending(rendezvous, batches(1, first=20), epoch=1)
        assert numbers(received) == list(range(20, 30))

    def test_one_that_is_repeated_is_not_taken_twice(
        self, rendezvous: Rendezvous, receiver: Receiver
    ) -> None:
        received = receiver.batches(0, None)
        Sending(rendezvous, batches(2), epoch=0, until_us=10)
        found = numbers(received, limit=2)
        while next(received) is None:
            pass
        again = Sending(rendezvous, batches(2), epoch=0, until_us=10)
        while again.is_alive():
            next(received)
        assert (again.error, again.rows) == (None, 0)
        Sending(rendezvous, batches(1, first=20), epoch=1)
        assert found + numbers(received) == list(range(30))

    def test_a_task_that_comes_in_between_has_missed_some(
        self, rendezvous: Rendezvous, receiver: Receiver
    ) -> None:
        received = receiver.batches(0, None)
        Sending(rendezvous, batches(2), epoch=3, until_us=10)
        with pytest.raises(SparkError, match="cannot be sent again"):
            numbers(received)

    def test_a_job_without_any(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        received = receiver.batches(0, None)
        next(received)
        rendezvous.tell(epochs=0)
        assert numbers(received) == []


class TestTheJob:
    def test_an_error_reaches_the_tasks(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        rendezvous.tell(failed={"error": "JobError", "message": "no such column"})
        with pytest.raises(JobError, match="no such column"):
            numbers(receiver.batches(0, None))

    def test_also_one_that_comes_later(self, rendezvous: Rendezvous) -> None:
        rendezvous.tell(failed={"error": "SparkError", "message": "out of memory"})
        late = receiver_at(rendezvous)
        with pytest.raises(SparkError, match="out of memory"):
            numbers(late.batches(0, None))
        late.close()

    def test_who_keeps_it_must_not_die(self, rendezvous: Rendezvous, receiver: Receiver) -> None:
        received = receiver.batches(0, None)
        next(received)
        rendezvous.close()
        with pytest.raises(SparkError, match="keeps the Spark job died"):
            numbers(received)

    def test_its_end_before_a_partition_was_asked_for_again(
        self, rendezvous: Rendezvous, receiver: Receiver
    ) -> None:
        Sending(rendezvous, batches(3))
        numbers(receiver.batches(0, None))
        rendezvous.tell(epochs=1)
        successor = receiver_at(rendezvous)
        with pytest.raises(SparkError, match="cannot be sent again"):
            numbers(successor.batches(0, None))
        successor.close()

    def test_a_rendezvous_that_is_not_there(self, rendezvous: Rendezvous) -> None:
        rendezvous.close()
        with pytest.raises(SparkError, match="does not answer"):
            receiver_at(rendezvous)


def test_executors_need_nothing_of_this_project(rendezvous: Rendezvous, receiver: Receiver) -> None:
    """Spark's code unpickles and runs where neither this project nor its tests can be imported."""
    cloudpickle = pytest.importorskip("pyspark.cloudpickle")
    from spark_ingest.direct import sender, wire

    for module in (sender, wire):
        cloudpickle.register_pickle_by_value(module)
    pickled = cloudpickle.dumps((sender.send_partition, rendezvous.address, SECRET))
    code = (
        "import sys, pickle\n"
        "sys.modules['spark_ingest'] = sys.modules['framework'] = None\n"
        "import pyarrow as pa\n"
        "send, address, secret = pickle.loads(sys.stdin.buffer.read())\n"
        "batch = pa.RecordBatch.from_pydict({'_time_us': [1, 2, 2**63 - 1], 'n': [1, 2, 0]})\n"
        "assert send(iter([batch]), 0, address, secret, 0, None) == 2\n"
    )
    ran = subprocess.Popen([sys.executable, "-I", "-c", code], stdin=subprocess.PIPE)
    assert ran.stdin is not None
    with ran.stdin:
        ran.stdin.write(pickled)
    assert numbers(receiver.batches(0, None)) == [1, 2]
    assert ran.wait() == 0

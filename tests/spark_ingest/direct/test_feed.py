"""The identity of a job's feed, and a stream that a task has left; without Spark."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyarrow")

from spark_ingest.direct.feed import MEETING, DirectFeed
from spark_ingest.direct.listening import Listening
from spark_ingest.direct.rendezvous import Rendezvous
from spark_ingest.job.spec import BESIDE, job_of
from tests.spark_ingest.direct.test_transfer import SECRET, Sending, batches, rendezvous  # noqa: F401


def feed(**given: Any) -> DirectFeed:
    keywords = {"table": "flights", "timestamp": "at", "columns": ["n", "x"], "streams": 1}
    options = {name: given.pop(name) for name in list(given) if name in ("start", "until", *BESIDE)}
    return DirectFeed(job_of({**keywords, **given})[0], **options)


class TestIdentity:
    @pytest.mark.parametrize(
        "given",
        [
            {"start": 5},
            {"until": 5},
            {"streaming": True},
            {"streaming": True, "once": True},
            {"streaming": True, "slack": 2},
            {"streaming": True, "late": "drop"},
            {"table": "others"},
            {"streams": 2},
            {"nulls": "drop"},
        ],
        ids=str,
    )
    def test_what_is_asked_for(self, given: dict[str, Any]) -> None:
        without = {"streaming": True} if len(given) > 1 else {}
        assert feed(**given).identity != feed(**without).identity
        assert feed(**given).identity == feed(**given).identity

    @pytest.mark.parametrize(
        "given", [{"master": "local[7]"}, {"conf": {"spark.app.name": "x"}}, {"listen": "0.0.0.0"}], ids=str
    )
    def test_not_where_it_runs(self, given: dict[str, Any]) -> None:
        assert feed(**given).identity == feed().identity


class TestLeft:
    """A component that is made again has a feed of its own; the one before may be still open."""

    @pytest.fixture
    def meeting(self, rendezvous: Rendezvous) -> dict[str, Any]:  # noqa: F811
        told = {"address": rendezvous.address, "secret": SECRET, "listening": list(Listening())}
        return {MEETING: {**told, "min_us": 0}}

    def test_a_successor_gets_all_of_it(
        self,
        rendezvous: Rendezvous,  # noqa: F811
        meeting: dict[str, Any],
    ) -> None:
        left, successor = feed(), feed()
        left.open(meeting)
        blocks = left.blocks(0, None)
        next(blocks)
        first = Sending(rendezvous, batches(9))
        assert next(block for block in blocks if block is not None).rows[0] == (0, "0")
        blocks.close()  # type: ignore[attr-defined]
        first.join(30)
        assert isinstance(first.error, OSError | EOFError)

        second = Sending(rendezvous, batches(9))  # waits for the successor, not for the one that has left
        successor.open(meeting)
        rows = [row for block in successor.blocks(0, None) if block is not None for row in block.rows]
        assert [number for number, _ in rows] == list(range(90))
        second.join(30)
        assert (second.error, second.rows) == (None, 90)
        left.close()
        successor.close()

    def test_one_that_is_closed_late_does_not_harm_its_successor(
        self,
        rendezvous: Rendezvous,  # noqa: F811
        meeting: dict[str, Any],
    ) -> None:
        one = feed()
        one.open(meeting)
        before, after = one.blocks(0, None), one.blocks(0, None)
        next(before)
        next(after)
        before.close()  # type: ignore[attr-defined]
        Sending(rendezvous, batches(2))
        assert sum(len(block.rows) for block in after if block is not None) == 20
        one.close()

"""Tuples that failed are emitted again as pystorm's `ReliableSpout` does it."""

from __future__ import annotations

from io import BytesIO
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import framework

Call = tuple[str, str]
calls_of = st.lists(
    st.tuples(st.sampled_from(["emit", "ack", "fail", "fail"]), st.sampled_from("abc")), max_size=30
)


def emitted_by_ours(calls: list[Call]) -> tuple[list[Any], Any]:
    spout, log = framework.ReliableSpout(), []
    spout._collector = SimpleNamespace(
        emit=lambda tup, **how: log.append((tup, how["tup_id"], how["stream"]))
    )
    return drive(spout, calls), log


def emitted_by_pystorms(calls: list[Call], base: Any) -> tuple[list[Any], Any]:
    spout, log = base(input_stream=BytesIO(), output_stream=BytesIO()), []
    spout.logger = SimpleNamespace(error=lambda *_: None, info=lambda *_: None)
    spout.send_message = lambda message: log.append((message["tuple"], message["id"], message.get("stream")))
    return drive(spout, calls), log


def drive(spout: Any, calls: list[Call]) -> list[Any]:
    states = []
    for call, tup_id in calls:
        if call == "emit":
            spout.emit([tup_id], tup_id=tup_id, stream="s")
        else:
            getattr(spout, call)(tup_id)
        states.append((sorted(spout.unacked_tuples), dict(spout.failed_tuples)))
    return states


@given(calls=calls_of)
def test_the_same_calls_emit_the_same(streamparse: Any, calls: list[Call]) -> None:
    assert emitted_by_ours(calls) == emitted_by_pystorms(calls, streamparse.ReliableSpout)


def test_a_tuple_is_given_up_after_its_fails() -> None:
    _, log = emitted_by_ours([("emit", "a")] + [("fail", "a")] * 9)
    assert len(log) == 1 + framework.ReliableSpout.max_fails


def test_an_id_is_required() -> None:
    with pytest.raises(ValueError, match="must emit with a tup_id"):
        framework.ReliableSpout().emit([1])


def test_a_timestamp_is_kept_for_the_replay() -> None:
    spout, stamps = framework.ReliableSpout(), []
    spout._collector = SimpleNamespace(emit=lambda tup, **how: stamps.append(how["timestamp"]))
    spout.emit([1], tup_id="a", timestamp=17)
    spout.fail("a")
    assert stamps == [17, 17]

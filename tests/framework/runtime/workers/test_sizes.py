"""Values on their way between processes: what is too large, and what cannot be carried at all."""

from __future__ import annotations

from typing import Any

import pytest

from framework import Spout, TopologyBuilder
from framework.model.errors import ComponentError
from framework.model.tracebacks import of_user_code
from framework.operators.sinks import CollectingSink
from tests.framework.runtime.workers.components import Forward
from tests.framework.runtime.workers.running import INLINE, PROCESSES, THREADS, Workers, every_kind, several
from tests.framework.runtime.workers.values import EmitsHandles, EmitsLocks, Large

STORE = 4096
"""Bytes that a channel has for each source."""


def topology(source: type[Spout]) -> TopologyBuilder:
    builder = TopologyBuilder()
    builder.set_spout("source", source)
    builder.set_bolt("middle", Forward).shuffle_grouping("source")
    builder.set_bolt("sink", CollectingSink).global_grouping("middle")
    return builder


def sizes(count: int, length: int) -> dict[str, Any]:
    return {"viper__channel__bytes": STORE, "large__count": count, "large__bytes": length}


@pytest.mark.few(3)
@pytest.mark.parametrize("length", [3, 50, 1000, 3000])
def test_a_jumbo_tuple_that_is_too_large_goes_in_pieces(length: int) -> None:
    found = PROCESSES.run(topology(Large), **sizes(300, length)).result("sink")
    assert found == [(f"{n} ".ljust(length, "x"),) for n in range(300)]


def test_one_value_that_is_too_large_is_named_with_its_size_and_the_key_to_change() -> None:
    with pytest.raises(ComponentError) as caught:
        PROCESSES.run(topology(Large), **sizes(3, STORE))
    error = caught.value
    assert (error.component, error.during) == ("source", "emit")
    text = str(error)
    assert "('0 xxxx" in text
    assert "takes 4,1" in text
    assert "expected at most 4,096; raise viper.channel.bytes, or use --worker inline" in text


@pytest.mark.parametrize("workers", [INLINE, THREADS], ids=str)
def test_what_stays_in_its_process_may_be_of_any_size(workers: Workers) -> None:
    assert len(workers.run(topology(Large), **sizes(3, 100 * STORE)).result("sink")) == 3


@every_kind
def test_what_pickle_cannot_carry_is_refused_where_it_is_emitted(workers: Workers) -> None:
    with pytest.raises(ComponentError, match=r"in tuples: EmitError: cannot carry .*lock") as caught:
        workers.run(topology(EmitsLocks))
    assert caught.value.component == "source"


@several
def test_what_only_its_own_process_can_read_is_told_by_who_cannot_read_it(workers: Workers) -> None:
    if workers.kind == "thread":
        assert len(workers.run(topology(EmitsHandles)).result("sink")) == 1
        return
    with pytest.raises(ComponentError, match=r"cannot read .*: a handle of another process") as caught:
        workers.run(topology(EmitsHandles))
    assert (caught.value.component, caught.value.during) == ("middle", "input")
    assert "_made_again" in "".join(of_user_code(caught.value.__cause__))

"""Errors are shown at the user's line that they go back to, with nothing of ours before it."""

from __future__ import annotations

import traceback
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.model.errors import ComponentError, EmitError
from framework.model.tracebacks import formatted, of_user_code
from framework.operators.sinks import CollectingSink
from framework.runtime.exchange.values import snapshot
from tests.framework.hosting import raising
from tests.framework.hosting.kinds import everywhere
from tests.framework.runtime.workers.components import Rows
from tests.framework.runtime.workers.running import Workers


def shown(workers: Workers, builder: TopologyBuilder) -> str:
    with pytest.raises(ComponentError) as caught:
        workers.run(builder, viper__on__error="stop")
    return "".join(of_user_code(caught.value.__cause__))


@pytest.mark.parametrize(
    ("spout", "line"),
    [(raising.YieldsText, 'yield "no row"'), (raising.YieldsLambda, "yield [lambda: None]")],
)
@everywhere
def test_what_a_generator_yields_is_shown_at_its_yield(workers: Workers, spout: Any, line: str) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", spout)
    builder.set_bolt("sink", CollectingSink).global_grouping("source")
    text = shown(workers, builder)
    assert text.startswith("Traceback (most recent call last):\n")
    assert f"in tuples\n    {line}\n" in text
    assert text.count("Traceback") == 1
    assert "framework/runtime" not in text


@pytest.mark.parametrize("bolt", [raising.RaisesInInit, raising.PortedRaisesInInit])
@everywhere
def test_what_a_constructor_raises_is_one_traceback_of_the_users(workers: Workers, bolt: Any) -> None:
    builder = TopologyBuilder()
    builder.set_spout("source", Rows, args=[[[1]]])
    builder.set_bolt("bolt", bolt).shuffle_grouping("source")
    text = shown(workers, builder)
    assert text.count("Traceback") == 1
    assert 'raising.py", line' in text.splitlines()[1]
    assert text.endswith('    raise LookupError("no such table")\nLookupError: no such table\n')


def test_what_has_only_frames_of_ours_keeps_them() -> None:
    with pytest.raises(ValueError) as caught:
        TopologyBuilder().build("empty")
    frames = caught.value.__traceback__
    assert frames is not None
    assert "builder.py" in "".join(of_user_code(caught.value.with_traceback(frames.tb_next)))


def test_an_error_of_ours_that_user_code_has_made_ends_with_the_users_line() -> None:
    with pytest.raises(EmitError) as caught:
        snapshot(lambda: None)
    assert "values.py" in "".join(traceback.format_exception(caught.value))
    *_, line, message = of_user_code(caught.value)
    assert "snapshot(lambda: None)" in line
    assert message.startswith("framework.model.errors.EmitError: cannot carry")


def test_an_error_that_only_code_of_ours_has_seen_is_its_message() -> None:
    """As one of a program, or of an emit that is noticed when the tuple is handed over."""
    with pytest.raises(EmitError) as caught:
        snapshot(lambda: None)
    frames = caught.value.__traceback__
    assert frames is not None
    error = caught.value.with_traceback(frames.tb_next)
    assert of_user_code(error) == ()
    assert "".join(formatted((type(error), error, error.__traceback__))).startswith(
        "framework.model.errors.EmitError: "
    )

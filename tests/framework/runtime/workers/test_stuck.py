"""A callback that does not return is told, with its stack; and again when it returns."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

import pytest

from tests.framework.runtime.workers.components import open_gate
from tests.framework.runtime.workers.conftest import Gate
from tests.framework.runtime.workers.running import INLINE, Workers, every_kind
from tests.framework.runtime.workers.speakers import Waits, WaitsInStart, chain

Opening = Callable[[str], None]


@pytest.fixture
def opening_when_told() -> Iterator[Opening]:
    """Has a gate opened as soon as the log says that somebody has been somewhere for long."""
    handlers: list[logging.Handler] = []

    def install(gate: str) -> None:
        handler = logging.Handler()
        handler.addFilter(lambda record: " has been in " in record.getMessage())
        handler.emit = lambda record: open_gate(gate)  # type: ignore[method-assign]
        handlers.append(handler)
        logging.getLogger().addHandler(handler)

    yield install
    for handler in handlers:
        logging.getLogger().removeHandler(handler)


@pytest.mark.parametrize(("middle", "callback"), [(Waits, "process"), (WaitsInStart, "initialize")])
@every_kind
def test_it_is_told_with_its_stack_and_when_it_returns(
    workers: Workers,
    middle: type[Waits],
    callback: str,
    gate: Gate,
    opening_when_told: Opening,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    go = gate("go")
    opening_when_told(go)
    workers.run(chain(middle), wait__at=2, gate__go=go, viper__stuck__after__secs=0.1)
    told = [r for r in caplog.records if r.levelno == logging.WARNING]
    (stuck,) = [r for r in told if " has been in " in r.getMessage()]
    first, frame, *rest = stuck.getMessage().splitlines()
    assert first.startswith(f"middle:1 has been in {callback} for ")
    assert "speakers.py" in frame
    assert frame.endswith(f"in {callback}")
    assert "wait_at" in rest[-1] or "pipe" in rest[-1] or "open" in rest[-1]
    assert (stuck.viper_component, stuck.viper_task) == ("middle", 1)  # type: ignore[attr-defined]
    assert [r.getMessage() for r in caplog.records if f"returned from {callback} after" in r.getMessage()]


@pytest.mark.parametrize("never", [None, 0])
def test_it_may_be_never(never: int | None, gate: Gate) -> None:
    INLINE.run(chain(Waits), wait__at=-1, viper__stuck__after__secs=never)

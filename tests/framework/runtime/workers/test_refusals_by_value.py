"""Topologies that go to worker processes neither by name nor by value."""

from __future__ import annotations

import traceback
from typing import Any, NoReturn

import pytest

from framework.frontends.streams import StreamBuilder
from framework.model.errors import TopologyError
from framework.runtime.workers import by_value
from framework.runtime.workers.shipping import pack_plan
from tests.framework.runtime.pieces import listed, plan_of


def test_nobody_is_told_to_install_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def dumps(value: Any) -> NoReturn:
        raise TypeError("cannot pickle the shell of a session")

    monkeypatch.setattr(by_value, "is_possible", lambda: True)
    monkeypatch.setattr(by_value, "dumps", dumps)
    builder = StreamBuilder()
    builder.new_stream(listed([1])).map(lambda value: value, fields=["x"])
    plan, settings = plan_of(builder)  # type: ignore[arg-type]
    with pytest.raises(TopologyError, match="cannot pickle the shell of a session") as error:
        pack_plan(plan, settings)
    assert "install cloudpickle" not in "".join(traceback.format_exception(error.value))

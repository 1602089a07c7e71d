"""Transactions of topologies that nobody thought of: all is as one event after the other would leave it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from framework.config import Settings
from tests.framework.runtime.pieces import run_built
from tests.framework.transactions.random_topologies import GROUPS, Shape, options, shapes
from tests.framework.transactions.serial import Serial, Tables
from tests.portions import at_every_change

EXAMPLES = {"inline": (60, 600), "thread": (25, 250), "process": (4, 30)}
"""How many topologies are drawn for each kind of worker: at every change, and in CI."""
CASES = [(kind, EXAMPLES[kind][part]) for part in (0, 1) for kind in EXAMPLES]


def check(shape: Shape, report: Any, serial: Serial) -> None:
    """Compare a run with one event after the other."""
    assert report.result("sink") == serial.output()
    for group in {member.group for member in shape.members}:
        for name, table in GROUPS[group].items():
            rows = repr(list(report.table(table.table_name)))
            assert rows == repr(serial.groups[group].sorted_rows(name))


@pytest.mark.parametrize(("kind", "examples"), at_every_change(CASES, len(EXAMPLES)))
def test_all_is_as_one_event_after_the_other(kind: str, examples: int) -> None:
    @settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])
    @given(shape=shapes(), chosen=options(kind))
    def attempt(shape: Shape, chosen: dict[str, Any]) -> None:
        check(shape, run_built(shape.build(), **chosen), Serial(shape))

    attempt()

"""A run that begins from the start in a folder with checkpoints of another says so: it may be a mistake."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.framework.runtime.durability.checkpoints.test_with_sinks import COUNT, built, suspended
from tests.framework.runtime.partitioned import Partitions
from tests.framework.runtime.pieces import run_built


def told(caplog: pytest.LogCaptureFixture) -> list[str]:
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    return [record.getMessage() for record in warnings if "begins again" in record.getMessage()]


def test_it_names_the_last_checkpoint_and_the_way_to_go_on(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    suspended(tmp_path, 50)
    assert told(caplog) == []
    folder = tmp_path / "checkpoints"
    run_built(built(Partitions(4, COUNT, 1), tmp_path / "anew"), {"checkpoints": folder})
    (message,) = told(caplog)
    assert message.startswith(f"{folder} has checkpoints up to 1 of an earlier run; this one begins again")
    assert message.endswith(f"(--from {folder})")


def test_one_that_goes_on_there_says_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    suspended(tmp_path, 50)
    run_built(built(Partitions(4, COUNT, 1), tmp_path / "out"), {"start": tmp_path / "checkpoints"})
    assert told(caplog) == []

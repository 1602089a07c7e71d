"""Says in the end which sample was taken."""

from __future__ import annotations

import pytest

from tests.determinism.sampling import VARIABLE, sample_seed


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"determinism: the sample of {VARIABLE}={sample_seed()}")

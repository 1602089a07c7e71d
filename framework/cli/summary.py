"""The summary of a run, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from framework.cli.table import table

if TYPE_CHECKING:
    from framework.runtime import RunReport


def summary_lines(report: RunReport) -> Iterator[str]:
    """The end of a run as lines of text."""
    yield report.headline
    for lines in (table(*report.counts()), report.facts(), report.warnings(), report.of_checkpoints()):
        yield from (f"  {line}" for line in lines)

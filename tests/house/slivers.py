"""Slivers: modules under 100 lines that one other module imports, and whose docstring does not say why."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

from tests.house.imports import REPOSITORY, Import

LINES = 100
"""A module of so many lines is none."""
REASON = "A file of its own"
"""Words by which the docstring of a small module begins the reason why it is not part of its importer."""
PACKAGES = ("framework", "spark_ingest", "viper")
COMMANDS = "framework.cli.main"
"""Imports each command, which is a module by convention."""


def slivers(imports: Sequence[Import], root: Path = REPOSITORY) -> set[str]:
    """The dotted names of all slivers among modules that are imported.

    A module that its own package exports is none: others import it through the package.
    """
    importers: dict[str, set[str]] = {}
    for entry in imports:
        importers.setdefault(entry.imported, set()).add(entry.importer)
    return {
        module
        for module, found in importers.items()
        if len(found) == 1 and not found & {COMMANDS, module.rpartition(".")[0]} and _is_small(module, root)
    }


def _is_small(module: str, root: Path) -> bool:
    path = root.joinpath(*module.split(".")).with_suffix(".py")
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    reason = ast.get_docstring(ast.parse(text)) or ""
    return len(text.splitlines()) < LINES and REASON not in " ".join(reason.split())


KNOWN = frozenset(
    {
        "framework.cli.debugger",
        "framework.cli.logs",
        "framework.cli.plugins",
        "framework.operators.windows.aggregates.rows",
        "framework.optimizer.profiling.hardware",
        "framework.optimizer.search.boxes",
        "framework.optimizer.search.telling",
        "framework.runtime.coordination.repeating",
        "framework.runtime.coordination.scale_journal",
        "framework.runtime.leading.handing_over",
        "framework.runtime.leading.measured",
        "framework.runtime.tasks.forwarder",
        "framework.runtime.tasks.group_outputs",
        "framework.runtime.tasks.replay_task",
        "spark_ingest.datasets.sealing",
        "spark_ingest.direct.companion",
        "spark_ingest.engine.installing",
        "spark_ingest.engine.java",
        "spark_ingest.engine.scratch",
        "spark_ingest.preparing.copying",
        "spark_ingest.preparing.writing",
        "spark_ingest.replaying.ahead",
        "spark_ingest.replaying.feed",
        "spark_ingest.replaying.schemas",
    }
)
"""The slivers of the time when the rule was made. None is added, and one that is gone is struck off."""

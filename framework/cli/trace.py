"""``viper run --trace``: follows tuples through the topology."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from framework.cli.messages import counted, note

if TYPE_CHECKING:
    from framework.model.topology import Topology
    from framework.recording.ancestry import TreeNode

MOST_TREES: Final = 10
"""Trees that are shown, unless the command line says otherwise."""
MOST_TUPLES: Final = 100
"""Tuples of one tree that are shown."""
LONGEST: Final = 200
"""Characters of a tuple's values that are shown."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """The tuples that are followed: those that hold a value in a field."""

    field: str
    value: str
    """As text; a field has it if its value reads so, or is written so in Python."""

    def __str__(self) -> str:
        return f"{self.field}={self.value}"

    def is_met_by(self, fields: Sequence[str] | None, values: Sequence[Any]) -> bool:
        """True if a tuple of a stream with these fields is one of them."""
        found = [value for name, value in zip(fields or (), values, strict=False) if name == self.field]
        return any(self.value in (str(value), repr(value)) for value in found)


def parse_wanted(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> Sequence[Wanted]:
    """``field=value`` each."""
    found = []
    for value in values:
        field, equals, text = value.partition("=")
        if not (field and equals):
            raise click.BadParameter(f"{value!r}: expected FIELD=VALUE, as word=the")
        found.append(Wanted(field, text))
    return found


@dataclass(frozen=True, slots=True)
class Trace:
    """The tuples that are followed, and how many of their trees are shown."""

    wanted: Sequence[Wanted]
    most: int = MOST_TREES
    """Trees that are shown."""

    def check(self, topology: Topology) -> None:
        """Refuse fields that no stream has.

        Raises:
            click.UsageError: there is no such field.
        """
        from framework.model.topology import unknown

        known = {
            name for c in topology.components for stream in c.outputs or () for name in stream.fields or ()
        }
        for wanted in self.wanted:
            if wanted.field not in known:
                raise click.UsageError(f"--trace: {unknown('field', wanted.field, sorted(known))}")

    @contextmanager
    def recording(self, record: Path | None) -> Iterator[Path | None]:
        """For as long as the block runs, there is a file to record the run in, if anything is followed.

        Args:
            record: the one that the user has named; None for none.
        """
        if record is not None or not self.wanted:
            yield record
            return
        with tempfile.TemporaryDirectory(prefix="viper-trace-") as folder:
            yield Path(folder) / "run.viper"

    @contextmanager
    def telling(self, recorded: Path | None) -> Iterator[None]:
        """Show the trees when the block is over, also where it has failed, if it has recorded anything."""
        before = _stamp(recorded)
        try:
            yield
        finally:
            if self.wanted and recorded is not None and _stamp(recorded) != before:
                self._tell(recorded)

    def _tell(self, recorded: Path) -> None:
        from framework.model.errors import RecordingError

        try:
            note("\n".join(self.lines(recorded)))
        except RecordingError as error:  # which must not hide why the run has failed
            note(f"--trace shows nothing: {error}")

    def lines(self, recorded: Path) -> Iterator[str]:
        """The trees of the tuples that are followed, in the order of positions."""
        from framework.model.importing import importable
        from framework.recording import Recording
        from framework.recording.ancestry import trees

        what, found = ", ".join(map(str, self.wanted)), 0
        with Recording(recorded) as recording, importable(recording.header.import_paths):
            for tree in trees(recording):
                if any(self._meets(node) for _, node in tree.walk()):
                    found += 1
                    if found <= self.most:
                        yield from self._shown(tree)
        if found > self.most:
            yield f"{counted(found - self.most, 'more tree')} with {what}: --trace-limit shows them"
        if not found:
            yield f"no tuple has {what}"

    def _meets(self, node: TreeNode) -> bool:
        return any(wanted.is_met_by(node.stream.fields, node.values) for wanted in self.wanted)

    def _shown(self, tree: TreeNode) -> Iterator[str]:
        nodes = list(tree.walk())
        for depth, node in nodes[:MOST_TUPLES]:
            mark = "*" if self._meets(node) else " "
            whence = (
                "  from no tuple: a tick, a window, a cycle or the beginning" if node.is_unplanted else ""
            )
            yield f"{mark} {'  ' * depth}{_named(node)}  {_values(node)}{whence}"
        if len(nodes) > MOST_TUPLES:
            yield f"  and {counted(len(nodes) - MOST_TUPLES, 'more tuple')} of this tree"


def _stamp(path: Path | None) -> tuple[int, int] | None:
    """Identify a file, to tell it from the one at its path before; None if there is none."""
    if path is None or not path.exists():
        return None
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def _named(node: TreeNode) -> str:
    from framework.model.topology import DEFAULT_STREAM

    return node.component if node.stream.name == DEFAULT_STREAM else f"{node.component}/{node.stream.name}"


def _values(node: TreeNode) -> str:
    text = repr(node.values)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."

"""Lines of text as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from framework.operators.sources.file_source import FileSource
from framework.operators.sources.listing import SourceFile
from framework.operators.sources.opening import checked_encoding
from framework.operators.sources.portion import Portion


class TextSource(FileSource):
    """Reads files of text, a row for each line, without its end.

        TextSource("logs/*.log.gz")

    Files whose names end in .gz, .bz2 or .xz are unpacked while they are read. Lines have no event time; the
    number of a line stands for it.

    Args:
        path: a file, a folder, a pattern (``logs/*.log``), or a list of these.
        field: the name of the field.
        encoding: of the files, as Python names it.
        in_turn: as of `FileSource`, and so are `follow` and `end_marker`.

    Raises:
        SourceError: there is no such file, or an argument cannot be.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        field: str = "line",
        *,
        encoding: str = "utf-8",
        in_turn: bool = False,
        follow: bool = False,
        end_marker: str | None = None,
    ) -> None:
        super().__init__(path, in_turn=in_turn, follow=follow, end_marker=end_marker)
        self._encoding = checked_encoding(encoding)
        self._outputs = self._streams([field], None)

    @property
    def outputs(self) -> Sequence[Any]:  # type: ignore[override]
        """The line."""
        return self._outputs

    def _reading(self) -> tuple[object, ...]:
        return (*super()._reading(), self._encoding)

    def _portions(self, file: SourceFile, first: int) -> Iterator[Portion | None]:
        return self._portions_of_lines(file, self._encoding, first, _portion)


def _portion(lines: list[str], first: int) -> Portion:
    end = first + len(lines)
    return Portion(list(zip(lines, strict=True)), range(first, end), None, end)

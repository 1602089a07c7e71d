"""The base of all file sources: their files as partitions, the times of rows, and malformed rows."""

from __future__ import annotations

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from framework.model.errors import SourceError
from framework.model.topology import Stream, did_you_mean, one_of
from framework.operators.components import Block, Later, PartitionedSpout, Watermark
from framework.operators.sources.growing import GrowingFile, GrowingFolder
from framework.operators.sources.listing import SourceFile, digest_of, listed
from framework.operators.sources.opening import (
    chunks_of,
    estimated_lines,
    is_packed,
    opened_text,
    portions_of,
)
from framework.operators.sources.portion import (
    MALFORMED,
    MALFORMED_FIELDS,
    NO_TIME,
    Malformed,
    Mixing,
    Portion,
    Refusals,
)
from framework.operators.sources.reading import Progress, reading
from framework.operators.sources.times import event_time_of

FILES = "viperstorm.source.files"
"""The configuration key by which all tasks of a source learn of the same files."""
MOST_PARTITIONS = 4096
BLOCK_ROWS = 512
"""The most rows of a block of text.

A CSV record of four columns takes 590 to 630 ns in blocks of 128 to 512. It takes 900 to 1,050 in blocks of
1,024 to 4,096, whose objects do not fit into the caches.
"""
_ROWS_AT_HAND = 1 << 18
"""The most rows that a source has at hand of all its files; with many files, blocks are smaller."""
"""Malformed rows of a task that are logged one by one."""


class FileSource(PartitionedSpout):
    """Reads files, each of which is a partition, so that the output does not depend on the parallelism.

    The rows of all files are merged by event time; among rows of one time, those of the file whose name comes
    first come first. Without a timestamp field, a row's time is its number, a microsecond each: the first
    rows of all files, then the second rows, and so on.

    A subclass reads one format. It defines `_portions`.

    Args:
        path: a file, a folder, a pattern (``logs/*.csv``), or a list of these.
        timestamp: the field that holds the event time. The rows of each file are sorted by it, but for as
            much as `viper.timestamp.slack` allows, and so are those of files that are read in turn.
        unit: what the numbers in it count since 1970 UTC: s, ms, us or ns. None: it is text in ISO 8601.
        timestamp_format: how its text is written, as of `datetime.strptime`.
        in_turn: whether the files are read one after the other, in order, as one partition.
        follow: whether new files are read as they appear in the folder `path`, in turn; see `GrowingFolder`.
            Or, where `path` is a file, whether lines are read as they are appended to it; see `GrowingFile`.
        end_marker: with `follow`, the name of a file in that folder, or beside that file, whose appearance
            ends the source; None: it never ends.
        on_malformed: ``error`` to end the run at a malformed row, ``skip`` to count and leave out such rows,
            or ``stream``. That emits them on the stream ``malformed``, with the fields ``file``, ``line``,
            ``raw`` and ``reason``.

    Raises:
        SourceError: there is no such file, or an argument cannot be.
    """

    def __init__(
        self,
        path: str | Sequence[str],
        *,
        timestamp: str | None = None,
        unit: str | None = None,
        timestamp_format: str | None = None,
        in_turn: bool = False,
        follow: bool = False,
        end_marker: str | None = None,
        on_malformed: str = "error",
    ) -> None:
        super().__init__()
        self._refusals = Refusals(on_malformed)
        self._event_time = event_time_of(timestamp, unit, timestamp_format)
        self._paths = [str(path)] if not isinstance(path, list | tuple) else [str(name) for name in path]
        self._folder: GrowingFolder | None = None
        self._growing: GrowingFile | None = None
        if self._is_followed(follow, end_marker):
            self._follow(self._paths[0], end_marker)
        else:
            self._files = listed(self._paths)
        self._in_turn = in_turn
        self._has_told = False
        """True if it has been logged that no change is told."""
        self._brought: dict[int, tuple[SourceFile, Sequence[int]]] = {}
        """By partition the place of the rows of the last block."""
        if not in_turn and len(self._files) > MOST_PARTITIONS:
            raise SourceError(
                f"{len(self._files):,} files: at most {MOST_PARTITIONS:,} can be merged by time; read them "
                "one after the other (in_turn=True)"
            )

    never_late = (MALFORMED,)

    _format = "text"
    """As which its files are read, for messages."""
    _encoding = "utf-8"
    """Of its files, where they are text."""

    # -- what the runtime asks for

    @property
    def partitions(self) -> int:
        """One for each file; a single one where they are read in turn."""
        return 1 if self._in_turn or self._folder is not None else len(self._files)

    @property
    def identity(self) -> str:
        """Names the files and how they are read; of what grows, its path instead of what is there."""
        kind, order = type(self).__name__, "in turn" if self._in_turn else "merged"
        if self._folder is not None:
            return f"{kind}: folder {self._folder.path}, {digest_of((), *self._reading())}"
        if self._growing is not None:
            file, known = self._growing.file, digest_of((), *self._reading())
            return f"{kind}: file {file.path} that grows (inode {file.inode}), {known}"
        number = f"{len(self._files)} file{'s' * (len(self._files) != 1)}"
        total = sum(file.bytes for file in self._files)
        return f"{kind}: {number} {order}, {total:,} bytes, {digest_of(self._files, *self._reading())}"

    @property
    def compared(self) -> str:
        """As in the base class: files are compared without being read."""
        if self._folder is not None:
            return "a folder that grows is known by its path, and by how it is read"
        if self._growing is not None:
            return (
                "a file that grows is known by its path and inode, which a copy does not share: move the "
                "file itself back, or start from the beginning"
            )
        return (
            "files are known by their names, sizes and times of last change, not by what is in them, and by "
            "how they are read: give a copy the time of its original (cp -p, touch -r), or start from the "
            "beginning"
        )

    @property
    def has_times(self) -> bool:
        """True if there is a timestamp field."""
        return self._event_time is not None

    @property
    def rows_total(self) -> int | None:
        """As in the base class; of what grows, and of compressed text, nobody knows it."""
        if self._folder is not None or self._growing is not None or not self._files:
            return None
        with self._reading_of(self._files[0]):
            return self._rows_in(self._files)

    def companion(self, conf: Mapping[str, Any]) -> AbstractContextManager[Mapping[str, Any]]:
        """Nothing runs beside the tasks; they get the names of the files that there were when the run
        began."""
        return nullcontext({FILES: [list(file) for file in self._files]})

    def initialize(self, storm_conf: dict[str, Any], context: dict[str, Any]) -> None:
        """Take the files that the run began with."""
        if self._folder is None:
            self._files = [SourceFile(*file) for file in storm_conf.get(FILES, self._files)]

    def blocks(self, partition: int, start_us: int | None) -> Iterator[Block | Watermark | Later | None]:
        """All rows of a partition, in order.

        Raises:
            SourceError: a file cannot be read or has changed, or a row is malformed.
        """
        if self._folder is not None:
            files: Iterator[SourceFile | None] = self._folder.files()
        else:
            files = iter(self._files if self._in_turn else [self._files[partition]])
        return self._blocks_of(partition, files, start_us)

    def place_of(self, partition: int, index: int) -> str:
        """The file and the line of a row, or its number."""
        file, numbers = self._brought[partition]
        with self._reading_of(file):
            return self._place(file, numbers[index])

    def time_of(self, row: Mapping[str, Any]) -> int | None:
        """Return the time in the row's timestamp field."""
        return None if self._event_time is None else self._event_time.one(row.get(self._event_time.field))

    def close(self) -> None:
        """Report how many rows were malformed."""
        if self._refusals.count:
            self.report_metric("malformed rows", self._refusals.count)

    # -- what a format defines

    def _portions(self, file: SourceFile, first: int) -> Iterator[Portion | None]:
        """The rows of a file from one of its records on; the last portion has the number of its records.

        For a file that grows, None means that there is no further row for now.

        Raises:
            SourceError: the file cannot be read, or a row is malformed.
        """
        raise NotImplementedError(f"{type(self).__name__} must define _portions(self, file, first)")

    def _reading_of(self, file: SourceFile) -> AbstractContextManager[Progress]:
        """As `reading`, for this source."""
        return reading(file, self._format, self._encoding if self._format == "text" else None)

    def _reading(self) -> tuple[object, ...]:
        """Return the other arguments that the rows depend on, as far as they can be written down."""
        event_time = self._event_time
        return (
            None if event_time is None else (event_time.field, event_time.expected),
            self._refusals.choice,
            [str(output) for output in self.outputs or ()],
        )

    def _rows_in(self, files: Sequence[SourceFile]) -> int | None:
        """About how many rows files have; of text by the length of the first lines. None if nobody knows."""
        if any(is_packed(file.path) for file in files):
            return None
        return estimated_lines(files)

    def _place(self, file: SourceFile, number: int) -> str:
        """Return the place of a record, for messages."""
        return self._line(file, number + 1)

    def _line(self, file: SourceFile, line: int) -> str:
        """The place of a line, for messages."""
        return f"{file.path}:{line}"

    @property
    def _sample(self) -> SourceFile | None:
        """The first file, which has the names of the fields; None in a folder that is still empty."""
        if self._folder is not None:
            return next(self._folder.files())
        return self._files[0]

    @property
    def _block_rows(self) -> int:
        return max(64, min(self._most_block_rows, _ROWS_AT_HAND // max(self.partitions, 1)))

    _most_block_rows = BLOCK_ROWS
    """The most rows of a block."""

    def _streams(self, fields: Sequence[str], types: Mapping[str, str] | None) -> list[Stream]:
        """The stream of some fields, and that of malformed rows if they have one.

        Args:
            fields: their names.
            types: the type of each, where the stream is to have a schema.

        Raises:
            SourceError: a name that is twice there or empty, or an unknown type.
        """
        try:
            made = [Stream(fields) if types is None else Stream(fields, schema=types)]
        except (TypeError, ValueError) as error:
            raise SourceError(str(error)) from None
        return [*made, Stream(MALFORMED_FIELDS, MALFORMED)] if self._streams_malformed else made

    @property
    def _streams_malformed(self) -> bool:
        """True if malformed rows have a stream."""
        return self._refusals.has_stream

    def _time_index(self, fields: Sequence[str]) -> int | None:
        """The index of the timestamp field.

        Raises:
            SourceError: there is no such field.
        """
        if self._event_time is None:
            return None
        name = self._event_time.field
        if name not in fields:
            found = f"expected {one_of(fields)}{did_you_mean(name, fields)}"
            raise SourceError(f"timestamp: unknown field {name!r}: {found}")
        return fields.index(name)

    def _lines(self, file: SourceFile, encoding: str) -> Iterator[list[str] | None]:
        """The lines of a file without their ends, in portions; None where there are no more for now."""
        if self._growing is not None:
            yield from portions_of(self._growing.texts(file, encoding), self._block_rows)
        else:
            with opened_text(file, encoding) as text:
                yield from portions_of(chunks_of(text), self._block_rows)

    def _portions_of_lines(
        self, file: SourceFile, encoding: str, first: int, make: Callable[[list[str], int], Portion]
    ) -> Iterator[Portion | None]:
        """The portions of a file from line `first` on; `make` takes lines, and the number of the first."""
        end = 0
        for lines in self._lines(file, encoding):
            if lines is None:
                yield None
                continue
            start, end = end, end + len(lines)
            if end > first:
                yield make(lines[max(first - start, 0) :], max(first, start))
        yield Portion([], (), None, end)

    # -- rows that are looked at one by one

    def _sifted(
        self,
        file: SourceFile,
        records: Sequence[Any],
        first: int,
        convert: Callable[[Any], tuple[tuple[Any, ...], int | None] | None],
        raw: Callable[[int], tuple[int, str]],
    ) -> Portion:
        """Convert records of which not all are as they should be.

        Args:
            file: their file.
            records: the records.
            first: the number of the first one.
            convert: makes a row and its time; None where there is no row, as in an empty line. It raises any
                exception where a record is malformed, a ValueError where its message says it all.
            raw: returns the line and the text of the record with a number.

        Raises:
            SourceError: one is malformed, and the run is to end with it.
        """
        rows: list[tuple[Any, ...]] = []
        numbers: list[int] = []
        times: list[int] = []
        malformed: list[Malformed] = []
        for number, record in enumerate(records, first):
            try:
                made = convert(record)
            except Exception as error:  # ValueError, and whatever is too deep or too far
                malformed += self._refuse(file, number, error, raw)
                continue
            if made is not None:
                rows.append(made[0])
                numbers.append(number)
                if made[1] is not None:
                    times.append(made[1])
        row_times = None if self._event_time is None else times
        return Portion(rows, numbers, row_times, first + len(records), malformed)

    def _refuse(
        self, file: SourceFile, number: int, error: Exception, raw: Callable[[int], tuple[int, str]]
    ) -> Sequence[Malformed]:
        """A record is malformed: end the run, or count it; returns what is to be emitted of it.

        Raises:
            SourceError: the run is to end.
        """

        def described() -> tuple[str, tuple[Any, ...]]:
            line, text = raw(number)
            return self._line(file, line), (file.path, line, text)

        return self._refusals.refuse(number, error, described, self.logger)

    # -- blocks

    def _blocks_of(
        self, partition: int, files: Iterator[SourceFile | None], start_us: int | None
    ) -> Iterator[Block | Later | None]:
        base, latest_us = 0, NO_TIME
        mixing = Mixing(by_number=self._event_time is None)
        for file in files:
            if file is None:
                yield self._next_change()
                continue
            end = 0
            first = 0 if self._event_time is not None or start_us is None else max(start_us - base, 0)
            with self._reading_of(file) as progress:
                for portion in self._portions(file, first):
                    if portion is None:
                        last_us = end - 1 if self._event_time is None else latest_us
                        self._check_reaches(file, start_us, last_us)
                        yield self._next_change()
                        continue
                    end = progress.records = portion.end
                    times = self._times(portion, base)
                    blocks = mixing.blocks(portion, times, base, latest_us, mutable=self._is_mutable)
                    for block, numbers in blocks:
                        self._brought[partition] = file, numbers
                        yield block
                    latest_us = max(latest_us, max(times, default=NO_TIME))
            if self._growing is not None:
                self._check_reaches(file, start_us, end - 1 if self._event_time is None else latest_us)
            base += end
        mixing.check_end(lambda found: f"{found.row[0]}:{found.row[1]}")

    def _next_change(self) -> Later | None:
        """The event at which there may be more of what grows; None if nobody tells of it."""
        grows = self._folder or self._growing
        if grows is None:
            return None
        silence = grows.changes.silence
        if silence is not None and not self._has_told:
            self._has_told = True
            self.logger.info("%s is polled, as no change is told: %s", self._paths[0], silence)
        return grows.changes.next

    _is_mutable = False
    """True if rows may hold values that a consumer can change."""

    def _times(self, portion: Portion, base: int) -> array[int]:
        if portion.times is None:
            return array("q", [base + number for number in portion.numbers])
        return array("q", portion.times)

    def _check_reaches(self, file: SourceFile, start_us: int | None, last_us: int) -> None:
        """See to it that a file that grows still has what was brought of it before."""
        if start_us is not None and last_us < start_us:
            raise SourceError(
                f"{file.path} ends before what was brought of it: it was cut off or replaced; put back what "
                "was there, or start from the beginning"
            )

    def _is_followed(self, follow: bool, end_marker: str | None) -> bool:
        if end_marker is not None and not follow:
            raise SourceError("end_marker ends a folder or file that grows: give follow=True as well")
        if follow and len(self._paths) != 1:
            raise SourceError(f"follow=True watches one folder or file: found {len(self._paths)} paths")
        return follow

    def _follow(self, path: str, end_marker: str | None) -> None:
        if os.path.isfile(path):
            self._growing = GrowingFile(path, end_marker)
            self._files = [self._growing.file]
        else:
            self._folder = GrowingFolder(path, end_marker)
            self._files = []

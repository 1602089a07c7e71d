"""Quotes and long values in CSV: a quote that is not closed takes no other row with it, and a value may be as
long as its source says."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from framework.model.errors import SourceError
from framework.operators.components import Block
from framework.operators.sources import CsvSource
from framework.operators.sources.csv_records import FIELD_LIMIT, Batch, CsvForm, appended_records, records_of

Told = list[tuple[str, tuple[Any, ...]]]


def told(source: CsvSource) -> Told:
    """The rows of a source, each with its stream."""
    found: Told = []
    for block in source.blocks(0, None):
        assert isinstance(block, Block)
        found += [(block.stream, row) for row in block.rows]
    return found


def malformed(found: Told) -> list[tuple[Any, ...]]:
    return [row for stream, row in found if stream == "malformed"]


class TestUnclosed:
    @pytest.mark.slow(daily=True)
    @pytest.mark.parametrize("at", [1, 2, 25_000, 49_999, 50_000])
    def test_one_row_is_lost_of_fifty_thousand(self, tmp_path: Path, at: int) -> None:
        path = tmp_path / "a.csv"
        lines = [f'{n},"open' if n == at else f"{n},name {n}" for n in range(1, 50_001)]
        path.write_text("id,name\n" + "".join(f"{line}\n" for line in lines))
        found = told(CsvSource(str(path), on_malformed="stream"))
        assert [row for stream, row in found if stream == "default"] == [
            (str(n), f"name {n}") for n in range(1, 50_001) if n != at
        ]
        ((file, line, raw, reason),) = malformed(found)
        assert (file, line, raw) == (str(path), at + 1, f'{at},"open')
        assert reason.startswith(f"the quote that opens in line {at + 1} is not closed ")
        end = ("up to the end of the file", f"within {FIELD_LIMIT:,} characters, up to line ")
        assert end[at < 40_000] in reason

    def test_a_quote_that_the_next_one_closes(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('a,b\n1,"x\n2,"y"\n3,"z"\n')
        found = told(CsvSource(str(path), on_malformed="stream"))
        assert found == [
            (
                "malformed",
                (
                    str(path),
                    2,
                    '1,"x',
                    "expected ',' or the end of the line behind a closing quote, found 'y\"' in line 3: "
                    "is the quote that opens in line 2 closed?",
                ),
            ),
            ("default", ("2", "y")),
            ("default", ("3", "z")),
        ]

    def test_the_lines_of_a_value_that_was_closed_are_no_rows(self, tmp_path: Path) -> None:
        """Of a record the wrong value counts, not the first one of several lines."""
        path = tmp_path / "a.csv"
        path.write_text('a,b\n"1\n8,9\n",x"\n"2\n6,7\n","y"z\n"3\n4,5\n","open\n4,x\n')
        found = told(CsvSource(str(path), on_malformed="stream"))
        assert [row[1:3] for row in malformed(found)] == [(5, '"2\n6,7\n","y"z'), (8, '"3\n4,5\n","open')]
        assert [row for stream, row in found if stream == "default"] == [("1\n8,9\n", 'x"'), ("4", "x")]
        assert (
            malformed(found)[1][3]
            == "the quote that opens in line 10 is not closed up to the end of the file"
        )

    def test_the_run_ends_with_the_line(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("id,name\n" + "1,x\n" * 10 + '2,"x\n' + "3,y\n" * 50_000)
        expected = (
            r"a.csv:12: the quote that opens in line 12 is not closed within 131,072 characters, up to line "
            r"\d+: close it, or raise field_limit"
        )
        with pytest.raises(SourceError, match=expected):
            told(CsvSource(str(path)))

    def test_of_a_line_of_names(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('a,"b\n' + "3,y\n" * 50_000)
        with pytest.raises(
            SourceError, match=r"a.csv:1: the quote that opens in line 1 is not closed within"
        ):
            CsvSource(str(path))

    def test_a_file_that_grows_waits_no_longer_than_the_limit(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text('a,b\n1,"open\n2,x\n')
        source = CsvSource(str(path), follow=True, on_malformed="stream", field_limit=30)
        blocks = source.blocks(0, None)

        def come() -> Iterator[tuple[Any, ...]]:
            while isinstance(block := next(blocks), Block):
                yield from block.rows

        assert list(come()) == []
        with path.open("a") as file:
            file.write("3,y\n" * 8)
        assert [row[:2] for row in come()] == [(str(path), 2), ("2", "x"), *[("3", "y")] * 8]

    @pytest.mark.parametrize("seed", range(20))
    def test_pieces_and_limits_make_no_difference(self, seed: int) -> None:
        """Each line is in one record, good or not, and it does not matter how the text comes."""
        chance = random.Random(seed)
        form = CsvForm(chance.choice(",;\t"), chance.choice(['"', "'"]), chance.choice([5, 40, 1000]))
        letters = [form.delimiter, form.quote or "", "\n", "\r\n", "\r", "ab", *"cd"]
        text = "".join(chance.choices(letters, k=400))
        most = chance.choice([1, 3, 100])
        whole = list(records_of(io.StringIO(text, newline=""), form, most))
        assert "".join(line for batch in whole for line in batch._lines) == text
        cuts = sorted(chance.choices(range(len(text)), k=30))
        cuts = [cut for cut in cuts if text[cut - 1 : cut + 1] != "\r\n"]  # as decoders hold a \r back
        pieces = [text[begin:end] for begin, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        appended = [batch for batch in appended_records(pieces, form, most) if batch is not None]
        assert _records(appended) == _records(whole)


def _records(batches: list[Batch]) -> list[tuple[int, str, list[str] | None]]:
    found: list[tuple[int, str, list[str] | None]] = []
    for batch in batches:
        found += [(*batch.raw(index), record) for index, record in enumerate(batch.records)]
        if batch.problem is not None:
            found.append((*batch.raw(len(batch.records)), None))
    return found


class TestLongValues:
    def test_a_limit_of_its_own(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        value = "x" * (FIELD_LIMIT + 1)
        path.write_text(f'a,b\n1,{value[1:]}\n2,{value}\n3,"{value}"\n4,y\n')
        with pytest.raises(SourceError, match=r"a.csv:3: a value has more than 131,072 characters: raise"):
            told(CsvSource(str(path)))
        found = told(CsvSource(str(path), on_malformed="stream"))
        assert [row[1] for row in malformed(found)] == [3, 4]
        assert [row for stream, row in found if stream == "default"] == [("1", value[1:]), ("4", "y")]
        before = csv.field_size_limit()
        found = told(CsvSource(str(path), field_limit=FIELD_LIMIT + 1))
        assert found == [
            ("default", (n, v)) for n, v in zip("1234", [value[1:], value, value, "y"], strict=True)
        ]
        assert csv.field_size_limit() == before == FIELD_LIMIT

    def test_a_limit_of_everybody_does_not_count(self, tmp_path: Path) -> None:
        path = tmp_path / "a.csv"
        path.write_text("a,b\n1,abcdef\n")
        before = csv.field_size_limit(3)
        try:
            assert told(CsvSource(str(path))) == [("default", ("1", "abcdef"))]
        finally:
            csv.field_size_limit(before)

    @pytest.mark.parametrize("limit", [0, -1, True, 1.5, "many", None, 1 << 64])
    def test_no_limit(self, tmp_path: Path, limit: Any) -> None:
        path = tmp_path / "a.csv"
        path.write_text("a\n1\n")
        with pytest.raises(SourceError, match=r"field_limit is .*: expected a number of characters"):
            CsvSource(str(path), field_limit=limit)

    def test_which_rows_there_are_depends_on_it_where_malformed_ones_are_left_out(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "a.csv"
        path.write_text("a\n1\n")
        same = {CsvSource(str(path), field_limit=limit).identity for limit in (10, FIELD_LIMIT)}
        other = {CsvSource(str(path), field_limit=n, on_malformed="skip").identity for n in (10, FIELD_LIMIT)}
        assert (len(same), len(other)) == (1, 2)


@pytest.mark.parametrize(
    "given", [("\n", '"'), ("\r", '"'), ('"', '"'), (",", "\n"), (",", ""), ("", '"'), (";;", '"')]
)
def test_what_cannot_stand_between_and_around_values(tmp_path: Path, given: tuple[str, str]) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(SourceError, match=r"delimiter .*, quote .*: "):
        CsvSource(str(path), delimiter=given[0], quote=given[1])

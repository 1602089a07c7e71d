"""Advice about files that are something else than their source reads, and about paths that name no file."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet as pq
import pytest

from framework.model.errors import SourceError
from framework.operators.components import Block
from framework.operators.sources import CsvSource, FileSource, JsonLinesSource, ParquetSource, TextSource

TEXT = "a,b\n1,2\n"


def rows_of(source: FileSource) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = []
    for block in source.blocks(0, None):
        assert isinstance(block, Block)
        found += block.rows
    return found


def packed(text: bytes, kind: str) -> bytes:
    if kind in ("zstd", "lz4"):
        sink = pa.BufferOutputStream()
        with pa.CompressedOutputStream(sink, kind) as stream:
            stream.write(text)
        compressed: bytes = sink.getvalue().to_pybytes()
        return compressed
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as archive:
            archive.writestr("a.csv", text)
    else:
        with tarfile.open(fileobj=out, mode="w") as tar:
            entry = tarfile.TarInfo("a.csv")
            entry.size = len(text)
            tar.addfile(entry, io.BytesIO(text))
    return out.getvalue()


def table(kind: str) -> bytes:
    out, made = pa.BufferOutputStream(), pa.table({"a": [1, 2]})
    if kind == "ORC":
        pa.orc.write_table(made, out)
    elif kind == "Arrow":
        pa.feather.write_feather(made, out)
    else:
        pq.write_table(made, out)
    written: bytes = out.getvalue().to_pybytes()
    return written


DATA = TEXT.encode()
FOUND: dict[str, tuple[bytes, str]] = {
    "gzip": (gzip.compress(DATA), "it is gzip: rename it, as files are unpacked .* end in .gz"),
    "bzip2": (bz2.compress(DATA), "it is bzip2: rename it, .* end in .bz2"),
    "empty bzip2": (bz2.compress(b""), "it is bzip2: rename it, .* end in .bz2"),
    "xz": (lzma.compress(DATA), "it is xz: rename it, .* end in .xz"),
    "zstd": (packed(DATA, "zstd"), r"it is zstd: unpack it first \(zstd -d\)"),
    "lz4": (packed(DATA, "lz4"), r"it is lz4: unpack it first \(lz4 -d\)"),
    "zip": (packed(DATA, "zip"), "it is a zip archive: unpack it first"),
    "tar": (packed(DATA, "tar"), "it is a tar archive: unpack it first"),
    "Parquet": (table("Parquet"), "it is Parquet: read it by ParquetSource"),
    "ORC": (table("ORC"), "it is ORC: convert it to Parquet"),
    "Arrow": (table("Arrow"), "it is Arrow: convert it to Parquet"),
    "UTF-16": (TEXT.encode("utf-16"), r"it is UTF-16: say so \(encoding='utf-16'\)"),
    "UTF-16, big end first": (b"\xfe\xff" + TEXT.encode("utf-16-be"), r"it is UTF-16: .*'utf-16'"),
    "UTF-16 without a mark": (TEXT.encode("utf-16-le"), r"it is UTF-16: say so \(encoding='utf-16-le'\)"),
    "the same, big end first": (TEXT.encode("utf-16-be"), r"it is UTF-16: say so \(encoding='utf-16-be'\)"),
    "UTF-32": (TEXT.encode("utf-32"), r"it is UTF-32: say so \(encoding='utf-32'\)"),
}


@pytest.mark.parametrize("kind", FOUND)
class TestOtherFormats:
    @pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252"])
    def test_are_named_whatever_the_encoding(self, tmp_path: Path, kind: str, encoding: str) -> None:
        data, told = FOUND[kind]
        path = str(tmp_path / "M.CSV.GZ")
        Path(path).write_bytes(data)
        sources: list[Callable[[], FileSource]] = [
            lambda: CsvSource(path, encoding=encoding),
            lambda: CsvSource(path, ["a"], encoding=encoding, on_malformed="skip"),
            lambda: TextSource(path, encoding=encoding),
            lambda: JsonLinesSource(path, encoding=encoding, on_malformed="skip"),
            lambda: TextSource(path, encoding=encoding, follow=True),
        ]
        for made in sources:
            with pytest.raises(SourceError, match=rf"M.CSV.GZ: expected text in {encoding}, and {told}"):
                rows_of(made())

    def test_within_a_compressed_file(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "a.csv.gz"
        data, told = FOUND[kind]
        path.write_bytes(gzip.compress(data))
        name = told.partition(":")[0]
        with pytest.raises(SourceError, match=rf"a.csv.gz: .*{name}.* when it is unpacked"):
            rows_of(CsvSource(str(path), ["a"], on_malformed="skip", encoding="latin-1"))

    @pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
    def test_under_the_name_of_a_compressed_file(self, tmp_path: Path, kind: str, suffix: str) -> None:
        data, told = FOUND[kind]
        if f"end in {suffix}" in told:
            return
        path = tmp_path / f"a.csv{suffix}"
        path.write_bytes(data)
        with pytest.raises(SourceError, match=rf"its name ends in {suffix}, and {told}"):
            CsvSource(str(path))

    def test_that_are_no_parquet(self, tmp_path: Path, kind: str) -> None:
        path = tmp_path / "a.parquet"
        path.write_bytes(FOUND[kind][0])
        if kind == "Parquet":
            assert rows_of(ParquetSource(str(path))) == [(1,), (2,)]
            return
        with pytest.raises(SourceError, match=r"a.parquet: cannot be read as Parquet \(.*\): it is "):
            ParquetSource(str(path))


def test_a_database_of_sqlite(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "a.csv") as database:
        database.execute("CREATE TABLE t (n)")
    database.close()
    with pytest.raises(SourceError, match=r"it is a database of SQLite: save its table as CSV"):
        CsvSource(str(tmp_path / "a.csv"), encoding="latin-1")


@pytest.mark.parametrize("word", ["ORC", "PAR1", "PK", "BZh9", "Obj", "ARROW1", "7z", "ustar"])
def test_a_column_may_be_named_as_a_format_begins(tmp_path: Path, word: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"{word},b\n1,2\n")
    assert rows_of(CsvSource(str(path))) == [("1", "2")]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_plain_text_under_the_name_of_a_compressed_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.csv{suffix}"
    path.write_text(TEXT)
    with pytest.raises(
        SourceError, match=rf"its name ends in {suffix}, and it begins with b'a,b.*: rename it if"
    ):
        CsvSource(str(path))
    path.write_bytes(b"")
    if suffix == ".gz":  # of which Python's module takes no bytes for no text
        assert rows_of(CsvSource(str(path), ["a"])) == []
        return
    with pytest.raises(SourceError, match=r"the compressed file is damaged or cut off"):
        rows_of(CsvSource(str(path), ["a"]))


def test_the_older_format_of_xz(tmp_path: Path) -> None:
    path = tmp_path / "a.csv.xz"
    path.write_bytes(lzma.compress(DATA, lzma.FORMAT_ALONE))
    assert rows_of(CsvSource(str(path))) == [("1", "2")]


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "UTF_16", "U16", "utf-32", "utf-32-be", "UTF8", "utf-8-sig"]
)
def test_encodings_by_all_their_names(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes("a,ä\n1,2\n".encode(encoding))
    assert CsvSource(str(path), encoding=encoding).outputs[0].fields == ("a", "ä")
    if "8" in encoding:
        path.write_bytes(b"\xef\xbb\xbf" + "a,ä\n1,2\n".encode())
        assert CsvSource(str(path), encoding=encoding).outputs[0].fields == ("a", "ä")


@pytest.mark.parametrize(
    ("encoding", "told"),
    [
        ("utf-16", "is not utf-16 .*: name the file's encoding"),
        ("utf-32", r"is not utf-32: name the file's encoding \(encoding='utf-8'\)"),
    ],
)
def test_text_of_single_bytes_under_another_name(tmp_path: Path, encoding: str, told: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    with pytest.raises(SourceError, match=told):
        CsvSource(str(path), encoding=encoding)


@pytest.mark.parametrize(
    ("encoding", "content", "told"),
    [
        ("utf-16", TEXT.encode("utf-16")[:-1], "file is utf-16 and ends within a character: it is cut off"),
        ("utf-16-le", TEXT.encode("utf-16-le")[:-1], "file is utf-16-le and ends within a character"),
        ("utf-16-be", TEXT.encode("utf-16-be")[:-1], "file is utf-16-be and ends within a character"),
        ("utf-32", TEXT.encode("utf-32")[:-1], "file is utf-32 and ends within a character"),
        ("utf-16", (TEXT + "\U0001f600").encode("utf-16")[:-2], "file is utf-16 and ends within a character"),
        ("utf-16", TEXT.encode("utf-16") + b"\0\xdc\n\0", "is not utf-16, and the file begins as such: mend"),
        (
            "utf-16-le",
            "\u0416".encode("utf-16-le") * 9 + b"\0",
            "is not utf-16-le: mend it, or name the file's",
        ),
        ("utf-16-le", b"a,b\n1,2\n3", "is not utf-16-le: name the file's encoding .encoding='utf-8'"),
    ],
)
def test_a_text_of_wide_characters_that_is_damaged(
    tmp_path: Path, encoding: str, content: bytes, told: str
) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=told):
        list(TextSource(str(path), encoding=encoding).blocks(0, None))


@pytest.mark.parametrize("encoding", ["hex", "base64", "rot13", "zlib", None, 3, "", "utf-8\0"])
def test_no_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(TEXT)
    with pytest.raises(SourceError, match=r"encoding is .*, which is none"):
        CsvSource(str(path), encoding=encoding)


class TestPaths:
    @pytest.fixture(autouse=True)
    def folders(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        for folder in ("hive/year=2024/month=1", "empty", "within/empty", "hidden", "linked", "data"):
            os.makedirs(folder)
        for name in ("hive/_SUCCESS", "hive/year=2024/month=1/a.csv", "hidden/_a.csv", "data/sales.csv"):
            Path(name).write_text(TEXT)
        os.symlink("gone", "linked/a.csv")

    @pytest.mark.parametrize(
        ("path", "told"),
        [
            (
                "hive",
                "the folder hive has folders only: name the files in them, such as "
                "hive/year=2024/month=1/a.csv, by 'hive/[*][*]/[*].csv'; the values in names of folders are",
            ),
            ("hive/", "the folder hive/ has folders only: .* by 'hive/[*][*]/[*].csv'"),
            ("hive/*", "hive/[*] has folders only: .* by 'hive/[*]/[*][*]/[*].csv'"),
            ("hive/year=*", "hive/year=[*] has folders only: .* by 'hive/year=[*]/[*][*]/[*].csv'"),
            ("empty", "the folder empty is empty"),
            ("within", "the folder within has no file: within/empty is none"),
            ("hidden", "the folder hidden has only files whose names begin with .*, such as hidden/_a.csv"),
            ("hidden/*", "hidden/[*] has only files whose names begin with .*, such as hidden/_a.csv"),
            ("linked", "the folder linked has no file: linked/a.csv is none"),
            ("data/*.parquet", "nothing matches data/[*].parquet$"),
            (["data", "data/*.parquet"], "nothing matches data/[*].parquet$"),
            (["data", "empty"], "the folder empty is empty"),
            ("data/sale.csv", "data/sale.csv: No such file or directory; did you mean 'sales.csv'?"),
            ("s3://bucket/a.csv", "expected a path of this machine, not an address"),
            ("~/sales.csv", "expected '/.*/sales.csv', as only a shell knows the tilde"),
            ("-", "standard input is no file"),
        ],
    )
    def test_that_name_no_file(self, path: str, told: str) -> None:
        with pytest.raises(SourceError, match=told):
            CsvSource(path)

    def test_the_advice_is_right(self) -> None:
        assert rows_of(CsvSource("hive/**/*.csv")) == [("1", "2")]
        assert rows_of(CsvSource("hive/*/**/*.csv")) == [("1", "2")]

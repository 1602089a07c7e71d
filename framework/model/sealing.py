"""Small files that one run writes and another reads: JSON behind a line with its kind and its checksum."""

from __future__ import annotations

import json
import zlib
from typing import Any


class SealError(ValueError):
    """Bytes that are not what was written: another kind of file, another version of its format, or damage."""


def sealed(format: str, version: int, content: object, indent: int | None = None) -> bytes:
    """The bytes of a file.

    Args:
        format: what it is, as one word.
        version: of that format.
        content: what JSON can hold.
        indent: of the JSON, for people who look into it.
    """
    body = json.dumps(content, indent=indent, ensure_ascii=False).encode()
    return b"%s %d %08x\n%s" % (format.encode(), version, zlib.crc32(body), body)


def unsealed(data: bytes, format: str, version: int) -> Any:
    """The content of a file.

    Args:
        data: its bytes.
        format: as it was written.
        version: the one that is read here.

    Raises:
        SealError: its message continues after the name of the file.
    """
    head, _, body = data.partition(b"\n")
    words = head.split()
    if len(words) != 3 or words[0] != format.encode():
        raise SealError(f"is another file, or its beginning is damaged: expected a first line {format} ...")
    if words[1] != str(version).encode():
        found = words[1].decode(errors="replace")
        raise SealError(
            f"has version {found} of the format: expected {version}; use the version of ViperStorm that has "
            "written it"
        )
    if words[2] != b"%08x" % zlib.crc32(body):
        raise SealError("is damaged: its checksum does not fit")
    return json.loads(body)

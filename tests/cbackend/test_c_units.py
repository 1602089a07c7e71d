"""The C layer's own tests, which `make` repeats only if something has changed; `make check` has the rest."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

CBACKEND = Path(__file__).parents[2] / "cbackend"
SHARED = ("src/layout.h", "src/quota.h", "src/trees.h", "include/viper/arena.h", "include/viper/position.h")
"""The files that define the structures that lie in arenas."""
PRIVATE = {"vp_level", "vp_places", "vp_positions", "vp_outputs", "vp_clock", "vp_change"}
"""Others that stand there."""
PRINT = """#include <inttypes.h>
#include <stdio.h>
#include "viper/arena.h"
int main(void) { printf("%" PRIx64, vp_arena_layout()); }
"""

needs_tools = pytest.mark.skipif(
    not (shutil.which("make") and shutil.which("gcc")), reason="needs make and gcc"
)


@pytest.mark.slow
@needs_tools
def test_the_c_layer_passes_its_own_tests() -> None:
    done = subprocess.run(["make", "-C", CBACKEND, "test"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def structures(text: str) -> Iterator[tuple[str, str]]:
    """Name and body of each structure of a header that lies in arenas."""
    for found in re.finditer(r"(?:typedef struct|struct (\w+)) \{\n(.*?)\n\}(?: (\w+))?;", text, re.DOTALL):
        name = found[1] or found[3]
        if name not in PRIVATE:
            yield name, found[2]


def members(body: str) -> list[str]:
    """The members of a structure, but for one of no length."""
    code = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    names = re.findall(r"(\w+)(?:\[\d+\])?(?=[,;])", code)
    return [name for name in names if f"{name}[]" not in code]


def swapped(body: str, a: str, b: str) -> str:
    other = {a: b, b: a}
    comment_or_name = rf"/\*.*?\*/|\b(?:{a}|{b})\b(?=(?:\[\d+\])?[,;])"
    return re.sub(comment_or_name, lambda found: other.get(found[0], found[0]), body, flags=re.DOTALL)


def signature(folder: Path) -> str | None:
    """Build with other headers, and read the layout that this would write into arenas; None if it fails."""
    command = ["gcc", "-std=c11", "-Iinclude", "-Isrc", "src/signature.c", "print.c", "-o", "print"]
    if subprocess.run(command, cwd=folder, stderr=subprocess.DEVNULL).returncode:
        return None
    return subprocess.run([folder / "print"], capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
@needs_tools
def test_members_that_change_places_change_the_layouts_signature(tmp_path: Path) -> None:
    for folder in ("src", "include"):
        shutil.copytree(CBACKEND / folder, tmp_path / folder)
    (tmp_path / "print.c").write_text(PRINT)
    ours = signature(tmp_path)
    assert ours is not None
    unseen, seen = [], 0
    for header in SHARED:
        text = (CBACKEND / header).read_text(encoding="utf-8")
        for name, body in structures(text):
            for a, b in itertools.pairwise(members(body)):
                (tmp_path / header).write_text(text.replace(body, swapped(body, a, b)))
                found = signature(tmp_path)
                unseen += [f"{name}: {a}, {b}"] * (found == ours)
                seen += found not in (None, ours)
        (tmp_path / header).write_text(text)
    assert unseen == []
    assert seen > 40, "the structures were not found"

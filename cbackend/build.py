"""Builds `viper._backend`: the C sources of this folder, callable from Python through cffi.

The headers are the only place where functions are declared: cffi is given their text without
the preprocessor's lines, which it does not read, and takes constants from the compiler.
"""

import re
import sys
from pathlib import Path

from cffi import FFI

HERE = Path(__file__).parent
SOURCES = sorted(path.relative_to(HERE.parent).as_posix() for path in (HERE / "src").glob("*.c"))
NAMES = (
    *("position", "lineage", "partition", "segment", "arena", "bell", "life", "quota", "registers"),
    *("ring", "gate", "merge", "forest", "pool", "writer", "heap", "keyed", "changes", "page", "scan"),
    *("keyclaims", "shared", "txlog", "txgroup", "txschemes", "txchoice"),
)
HEADERS = [HERE / "include" / "viper" / f"{name}.h" for name in NAMES]


def declarations(header: Path) -> str:
    """Read the declarations of a header in the form that cffi accepts."""
    text = header.read_text(encoding="utf-8")
    constants = re.findall(r"^#define (VP_\w+) .+$", text, flags=re.MULTILINE)
    plain = re.sub(r"^#.*$", "", text, flags=re.MULTILINE)
    return plain + "".join(f"#define {name} ...\n" for name in constants)


ffibuilder = FFI()
for path in HEADERS:
    ffibuilder.cdef(declarations(path))
ffibuilder.set_source(
    "viper._backend",
    "".join(f'#include "viper/{path.name}"\n' for path in HEADERS),
    sources=SOURCES,
    include_dirs=["cbackend/include"],
    depends=sorted(path.relative_to(HERE.parent).as_posix() for path in HERE.glob("*/**/*.h")),
    # Where shm_open is; an empty library since glibc 2.34.
    libraries=["rt"] if sys.platform.startswith("linux") else [],
    extra_compile_args=["-std=c11", "-Wall", "-Wextra"],
)

"""A topology class, ours or streamparse's, as a declaration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

from framework.declaration.declaration import Declaration
from framework.declaration.python_places import ClassSource, class_source
from framework.declaration.spec import Spec
from framework.topology import Path, Place, SourceMap

_PARTS = {"par": "parallelism", "inputs": "inputs", "config": "config"}
"""Arguments of ``spec`` that have a place of their own, and what they are called in a `Path`."""


def class_declaration(
    file: str, qualname: str, specs: Mapping[str, Spec], config: Mapping[str, Any]
) -> Declaration:
    """What a class in a file, with these specs by attribute, declares.

    Its topology has the name of its file, as for ``sparse``.
    """
    source = class_source(file, qualname)
    name = PurePath(source.file).stem or source.name
    return Declaration(name, list(specs.values()), config, SourceMap(dict(_places(source, specs))))


def _places(source: ClassSource, specs: Mapping[str, Spec]) -> Iterator[tuple[Path, Place]]:
    yield (), source.place()
    yield ("config",), source.place("config")
    for attribute, spec in specs.items():
        component: Path = ("components", spec.name or attribute)
        yield component, source.place(attribute)
        for keyword, part in _PARTS.items():
            yield (*component, part), source.place(attribute, keyword)

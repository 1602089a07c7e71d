"""What a target names: ``path.yaml``, ``path.py``, ``path.py:Name``, ``package.module:Name``, a bare name."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from framework.errors import LoadError
from framework.topology import did_you_mean, one_of

TOPOLOGIES = "topologies"
"""Folder of a project in which a bare name is looked up, as by ``sparse -n``."""

YAML_SUFFIXES = (".yaml", ".yml", ".flux")
SUFFIXES = (".py", *YAML_SUFFIXES)

_FORMS = "path.yaml, path.py, path.py:Name, package.module:Name, or the name of a file in topologies/"
_TARGET = re.compile(r"(?P<source>.+?)(?::(?P<attribute>[A-Za-z_][\w.]*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """Either a file or a module, and possibly a name in it."""

    file: Path | None
    module: str
    """Name of the module; that of a Python file is its stem."""
    attribute: str | None


def parse(target: str) -> Target:
    """What a target names; a file is known to exist, a module is not.

    Raises:
        LoadError: no such file, or not of a kind that holds topologies.
    """
    match = _TARGET.fullmatch(target)
    if match is None:
        raise LoadError(f"empty target: expected {_FORMS}")
    source, attribute = match["source"], match["attribute"]
    file = _file(source)
    if file is None:
        return Target(None, source, attribute)
    if attribute and file.suffix in YAML_SUFFIXES:
        raise LoadError(f"a YAML file holds one topology: drop ':{attribute}' of {target!r}")
    return Target(file, file.stem, attribute)


def _file(source: str) -> Path | None:
    path = Path(source)
    if path.suffix in SUFFIXES or os.sep in source or path.is_file():
        return _existing(path)
    for file in (Path(TOPOLOGIES, source + suffix) for suffix in SUFFIXES):
        if file.is_file():
            return file
    is_package = Path(path, "__init__.py").is_file()
    return _existing(path) if path.is_dir() and not is_package else None


def _existing(path: Path) -> Path:
    if path.is_dir():
        files = _files_in(path) or _files_in(path / TOPOLOGIES)
        raise LoadError(f"{str(path)!r} is a folder: expected a topology file, {one_of(files)}")
    if not path.exists():
        near = did_you_mean(str(path), _files_in(path.parent))
        raise LoadError(f"no such file: {str(path)!r}{near or _contents(path.parent)}")
    if path.suffix not in SUFFIXES:
        raise LoadError(f"{str(path)!r} is no topology file: expected one that ends in {one_of(SUFFIXES)}")
    return path


def _contents(folder: Path) -> str:
    if not folder.is_dir():
        return f", and there is no folder {str(folder)!r}"
    return f"; topology files in {str(folder)!r}: {', '.join(_files_in(folder)) or 'none'}"


def project_files(folder: Path = Path()) -> list[Path]:
    """The topology files of a project, by name; those whose names begin with ``_`` are none."""
    return [Path(file) for file in _files_in(folder / TOPOLOGIES) if not Path(file).name.startswith("_")]


def _files_in(folder: Path) -> list[str]:
    listed = folder.iterdir() if folder.is_dir() else ()
    return sorted(str(path) for path in listed if path.suffix in SUFFIXES)


def project_names() -> list[str]:
    """Bare names that would be found in the current folder's project."""
    return sorted({file.stem for file in project_files()})

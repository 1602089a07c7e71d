"""What a target names: a file or a module, and how that is imported."""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from framework.errors import LoadError
from framework.topology import did_you_mean, one_of

TOPOLOGIES = "topologies"
"""Folder of a project in which a bare name is looked up, as by ``sparse -n``."""

YAML_SUFFIXES = (".yaml", ".yml", ".flux")
SUFFIXES = (".py", *YAML_SUFFIXES)

_FORMS = "path.yaml, path.py, path.py:Name, package.module:Name, or the name of a file in topologies/"
_TARGET = re.compile(r"(?P<source>.+?)(?::(?P<attribute>[A-Za-z_][\w.]*))?", re.DOTALL)

_ours: dict[str, Sequence[Path]] = {}
"""Project modules that earlier targets brought into the process, and where they are from.

Where from is noted at once: the folders of a package without __init__.py follow ``sys.path``.
"""


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


def import_target(target: Target) -> ModuleType:
    """Import a target's module; its project's folders are importable.

    Raises:
        LoadError: there is no such module, or its name cannot be used.
        BaseException: whatever the module raises.
    """
    with own_modules():
        return _import_name(target.module) if target.file is None else _import_file(target.file)


@contextmanager
def own_modules() -> Iterator[None]:
    """Within it, imports find what is importable now, whatever project was loaded before.

    Every project has a package ``bolts``; without this the second would get the first's.
    """
    _forget_strangers()
    before = set(sys.modules)
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] not in before and not _is_installed(module):
                _ours[name] = _places(module)


def _import_name(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Anything else that is missing is the module's own affair.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
    near = did_you_mean(name, project_names())
    raise LoadError(f"no topology {name!r}: neither a file in topologies/ nor a module{near}")


def _import_file(file: Path) -> ModuleType:
    name, path = file.stem, file.resolve()
    found = sys.modules.get(name)
    if found is not None and _file_of(found) == path:
        return found
    if name in sys.stdlib_module_names or (found is not None and _is_installed(found)):
        raise LoadError(f"{str(file)!r} has the name of the Python module {name!r}: rename the file")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadError(f"{str(file)!r} cannot be imported as a Python module")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _file_of(module: ModuleType | None) -> Path | None:
    file = getattr(module, "__file__", None)
    return Path(file).resolve() if file else None


def _is_installed(module: ModuleType) -> bool:
    paths = sysconfig.get_paths()
    installed = [paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return any(place.is_relative_to(folder) for place in _places(module) for folder in installed)


def _places(module: ModuleType) -> list[Path]:
    # A package without __init__.py has no file, only its folders.
    file = _file_of(module)
    return [file] if file else [Path(folder).resolve() for folder in getattr(module, "__path__", ())]


def _forget_strangers() -> None:
    packages = {name: places for name, places in _ours.items() if "." not in name}
    strangers = {name for name, places in packages.items() if _found(name) != list(places)}
    for name in [name for name in _ours if name.partition(".")[0] in strangers]:
        del _ours[name]
        sys.modules.pop(name, None)


def _found(name: str) -> list[Path]:
    """Where an import would find a module."""
    spec = PathFinder.find_spec(name)
    if spec is None:
        return []
    found = [spec.origin] if spec.has_location else spec.submodule_search_locations or ()
    return [Path(place or "").resolve() for place in found]

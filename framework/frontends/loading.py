"""From a target or a Python object to the topology that it stands for.

A target is ``path.yaml``, ``path.py``, ``path.py:Name``, ``package.module:Name``, or a bare name.
"""

from __future__ import annotations

import inspect
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from framework.frontends.declaration import shown
from framework.frontends.discovery import (
    EXPECTED,
    first,
    import_file,
    import_named,
    is_topology,
    named,
    own_modules,
    problems_of,
    renamed,
    topology_from,
)
from framework.model.config import STREAMPARSE_FILE, streamparse_topologies
from framework.model.errors import LoadError
from framework.model.importing import importable, importing_user_code, project_folders
from framework.model.topology import Loaded, Place, Problem, did_you_mean, one_of

TOPOLOGIES = "topologies"
"""Folder of a project in which a name is looked up, unless a streamparse project names another one."""

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
    """The file or module that a target names; a file is known to exist, a module is not.

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


def topology_folders(folder: Path = Path()) -> tuple[Path, ...]:
    """The folders of a project in which a name is looked up, as by ``sparse -n``, in this order.

    They are the ``topology_specs`` of streamparse's ``config.json``, and `TOPOLOGIES`.
    """
    named = streamparse_topologies(folder / STREAMPARSE_FILE)
    return tuple(dict.fromkeys(folder / name for name in (named or TOPOLOGIES, TOPOLOGIES)))


def named_file(name: str) -> Path | None:
    """The file of a topology that a name stands for in the current folder's project.

    Args:
        name: ``name``, or ``sub/name``.

    Returns:
        None if there is no such file.
    """
    return _file_in(topology_folders(), name)


def configured(target: str, files: Iterable[Path]) -> str:
    """The target with the path of its file, if it is a name in a folder that configuration files name.

    Args:
        target: as for `parse`.
        files: those that were given, of which one may be a streamparse project's; as for ``sparse --config``,
            its folders are those of the current folder.
    """
    name, colon, attribute = target.partition(":")
    if Path(name).suffix in SUFFIXES or Path(name).is_file():
        return target
    folders = [Path(folder) for file in files if (folder := streamparse_topologies(file))]
    found = _file_in(folders, name)
    return target if found is None else f"{found}{colon}{attribute}"


def _file_in(folders: Iterable[Path], name: str) -> Path | None:
    files = (folder / f"{name}{suffix}" for folder in folders for suffix in SUFFIXES)
    return next((file for file in files if file.is_file()), None)


def _file(source: str) -> Path | None:
    path = Path(source)
    if path.suffix in SUFFIXES or path.is_file():
        return _existing(path)
    named = None if path.is_absolute() else named_file(source)
    if named is not None:
        return named
    if os.sep in source:
        return _existing(path, _named_beside(path))
    is_package = Path(path, "__init__.py").is_file()
    return _existing(path) if path.is_dir() and not is_package else None


def _named_beside(path: Path) -> list[str]:
    """Names of files in a project's folders of topologies that lie where one of this name would."""
    files = (Path(file) for folder in topology_folders() for file in _files_in(folder / path.parent))
    return [str(path.parent / file.stem) for file in files]


def _existing(path: Path, also: Sequence[str] = ()) -> Path:
    if path.is_dir():
        files = _files_in(path) or [str(file) for file in project_files(path)]
        raise LoadError(f"{str(path)!r} is a folder: expected a topology file, {one_of(files)}")
    if not path.exists():
        near = did_you_mean(str(path), [*_files_in(path.parent), *also])
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
    files = (Path(file) for place in topology_folders(folder) for file in _files_in(place))
    return [file for file in files if not file.name.startswith("_")]


def _files_in(folder: Path) -> list[str]:
    listed = folder.iterdir() if folder.is_dir() else ()
    return sorted(str(path) for path in listed if path.suffix in SUFFIXES)


def project_names() -> list[str]:
    """Bare names that would be found in the current folder's project."""
    return sorted({file.stem for file in project_files()})


def load(
    target: str,
    *,
    environment: str | None = None,
    name: str | None = None,
    substitutions: Mapping[str, str] = {},
    strict_flux: bool = False,
) -> Loaded:
    """The topology that a target names; whatever is wrong with it is a problem, never an exception.

    Args:
        target: ``path.yaml``, ``path.py`` (its first topology), ``path.py:Name``,
            ``package.module:Name``, or the bare name of a file in ``topologies/``. The name
            is that of a topology class (ours or streamparse's), a topology, a
            `TopologyBuilder`, a `StreamBuilder`, or a function without arguments that returns one of them.
        environment: chooses from a ``par`` that is given per environment.
        name: name of the topology; by default what it says itself, else that of the file.
        substitutions: values for ``${...}`` in a YAML file.
        strict_flux: whether a YAML file is read exactly as Storm's Flux does.
    """
    try:
        found = parse(target)
    except LoadError as error:
        return Loaded(None, (Problem(Place(target), str(error)),))
    if found.file is not None and found.file.suffix in YAML_SUFFIXES:
        from framework.frontends.flux import load_flux, without_idle_bolts

        read = load_flux(found.file, substitutions=substitutions, strict=strict_flux)
        return renamed(without_idle_bolts(read), name)
    folders = project_folders(found.file)
    place = Place(shown(str(found.file)) if found.file else target)
    with importable(folders), _quiet_streamparse():
        return _importable_from(folders, _guarded(found, folders, place, environment, name))


def load_any(topology: object, *, environment: str | None = None) -> Loaded:
    """The topology that a target or a Python object stands for.

    Args:
        topology: a target or path as in `load`; a topology class (ours or streamparse's), a topology, a
            `TopologyBuilder`, a `StreamBuilder`, or a function without arguments that returns one of them.
        environment: chooses from a ``par`` that is given per environment.

    Raises:
        LoadError: it is none of these.
        Exception: what a function raised.
    """
    if isinstance(topology, str | os.PathLike):
        return load(os.fspath(topology), environment=environment)
    if not is_topology(topology) and not inspect.isroutine(topology):
        found = f"the class {topology.__name__}" if isinstance(topology, type) else repr(topology)
        raise LoadError(f"found {found:.200}, expected {EXPECTED}, or the path of a topology file")
    return topology_from(topology, getattr(topology, "__name__", "topology"), environment)


def _guarded(
    target: Target, folders: Sequence[str], place: Place, environment: str | None, name: str | None
) -> Loaded:
    try:
        value, warning = _chosen(_imported(target), target.attribute)
        loaded = topology_from(value, target.module.rpartition(".")[2], environment, name)
    except LoadError as error:
        return Loaded(None, (Problem(place, str(error)),))
    except (Exception, SystemExit) as error:
        return Loaded(None, problems_of(error, place, folders))
    warnings = (Problem(place, warning, warning=True),) if warning else ()
    return replace(loaded, problems=(*loaded.problems, *warnings))


def _imported(target: Target) -> ModuleType:
    with own_modules(), importing_user_code():
        if target.file is not None:
            return import_file(target.file)
        return import_named(target.module, project_names(), map(str, topology_folders()))


def _chosen(module: ModuleType, attribute: str | None) -> tuple[object, str]:
    """The value that is meant, and a warning where that was a guess."""
    if attribute is not None:
        return named(module, attribute), ""
    value, name, others = first(module)
    if not others:
        return value, ""
    more = " or ".join(f":{other}" for other in others)
    return value, f"took the first of several topologies, {name!r}; to take another, add {more}"


def _importable_from(folders: Sequence[str], loaded: Loaded) -> Loaded:
    if loaded.topology is None:
        return loaded
    paths = tuple(dict.fromkeys((*loaded.topology.import_paths, *folders)))
    return replace(loaded, topology=replace(loaded.topology, import_paths=paths))


@contextmanager
def _quiet_streamparse() -> Iterator[None]:
    """streamparse imports its command line, and so an SSH library that warns of its own ciphers."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"paramiko\.")
        yield

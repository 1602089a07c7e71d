"""From a target to its topology."""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
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
from framework.frontends.loading.target import YAML_SUFFIXES, Target, parse, project_names, topology_folders
from framework.model.errors import LoadError
from framework.model.importing import importable, importing_user_code, project_folders
from framework.model.topology import Loaded, Place, Problem


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

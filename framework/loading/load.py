"""From a target to its topology."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType

from framework.declaration import shown
from framework.errors import LoadError
from framework.importing import importable, project_folders
from framework.loading.failures import problems_of
from framework.loading.target import YAML_SUFFIXES, Target, import_target, parse
from framework.loading.topologies import first, named, renamed, topology_from
from framework.topology import Loaded, Place, Problem


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
            `TopologyBuilder`, or a function without arguments that returns one of them.
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
        from framework.flux import load_flux, without_idle_bolts

        read = load_flux(found.file, substitutions=substitutions, strict=strict_flux)
        return renamed(without_idle_bolts(read), name)
    folders = project_folders(found.file)
    place = Place(shown(str(found.file)) if found.file else target)
    with importable(folders), _quiet_streamparse():
        return _importable_from(folders, _guarded(found, folders, place, environment, name))


def _guarded(
    target: Target, folders: Sequence[str], place: Place, environment: str | None, name: str | None
) -> Loaded:
    try:
        value, warning = _chosen(import_target(target), target.attribute)
        loaded = topology_from(value, target.module.rpartition(".")[2], environment, name)
    except LoadError as error:
        return Loaded(None, (Problem(place, str(error)),))
    except (Exception, SystemExit) as error:
        return Loaded(None, problems_of(error, place, folders))
    warnings = (Problem(place, warning, warning=True),) if warning else ()
    return replace(loaded, problems=(*loaded.problems, *warnings))


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

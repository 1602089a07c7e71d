"""Layers that come from YAML files: the shipped defaults and the project's own file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from framework.config.entry import Layer
from framework.config.yaml_source import read_mapping
from framework.errors import InternalError
from framework.topology.places import Place
from framework.topology.problems import Problem

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

DEFAULTS = "conf/defaults.yaml"
PROJECT_FILE = "viper.yaml"


def project_files(folder: Path, given: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The files to hand to `resolve`: those given, or else the folder's ``viper.yaml`` if there is one."""
    if given:
        return tuple(given)
    own = folder / PROJECT_FILE
    return (own,) if own.is_file() else ()


def file_layer(path: Path) -> tuple[Layer, list[Problem]]:
    """What a project's file sets."""
    try:
        content = path.read_bytes()
    except OSError as error:
        return {}, [Problem(Place(str(path)), f"cannot be read: {error.strerror}")]
    return read_mapping(content, str(path))


@cache
def defaults_layer() -> Layer:
    """The shipped defaults; they are read once.

    Raises:
        InternalError: the file is missing or broken, so the installation is.
    """
    entries, problems = read_mapping(_defaults_file().read_bytes(), DEFAULTS)
    if problems:
        raise InternalError("; ".join(map(str, problems)))
    return MappingProxyType(entries)


def _defaults_file() -> Traversable:
    """The copy inside the installed package, or the one beside it in a checkout."""
    package = resources.files("framework")
    for candidate in (package.joinpath(DEFAULTS), Path(str(package)).parent / DEFAULTS):
        if candidate.is_file():
            return candidate
    raise InternalError(f"{DEFAULTS} is missing from the installation: install viperstorm again")

"""Topologies in Python modules: importing a module, choosing one of its values, and mistakes in it."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import cast

from framework.frontends import streamparse
from framework.frontends.builder import TopologyBuilder
from framework.frontends.declaration import class_source, shown
from framework.frontends.dsl import Topology as TopologyBase
from framework.frontends.dsl import TopologyType, topology_of
from framework.frontends.streamparse import refusal
from framework.frontends.streams import StreamBuilder
from framework.model.errors import LoadError, TopologyError, ViperError
from framework.model.topology import Loaded, Place, Problem, Topology, did_you_mean, one_of

EXPECTED = (
    "a Topology class, a topology, a TopologyBuilder, a StreamBuilder or a function that returns one of them"
)


def is_topology(value: object) -> bool:
    """True if a value is a topology in any of Python's forms."""
    return (
        isinstance(value, Topology | TopologyBuilder | StreamBuilder)
        or (isinstance(value, TopologyType) and value is not TopologyBase)
        or streamparse.is_topology(value)
    )


def named(module: ModuleType, name: str) -> object:
    """The topology, or function that makes one, of that name, which may be dotted.

    Raises:
        LoadError: there is none.
    """
    value: object = module
    for part in name.split("."):
        if not hasattr(value, part):
            raise LoadError(f"{module.__name__!r} has no {name!r}{_alternatives(module, name)}")
        value = getattr(value, part)
    if not is_topology(value) and not inspect.isroutine(value):
        kind = "class" if isinstance(value, type) else type(value).__name__
        raise LoadError(f"{name!r} is a {kind}, expected {EXPECTED}")
    return value


def first(module: ModuleType) -> tuple[object, str, list[str]]:
    """Return the first topology of a module, its name, and the names of the others that are passed over.

    Topologies that the module defines come before those that it imports. A builder does not count if there is
    anything else: it is what a topology beside it was made with.

    Raises:
        LoadError: there is none.
    """
    found = topologies_in(module)
    own = {name: value for name, value in found.items() if _is_own(value, module)} or found
    finished = {name: value for name, value in own.items() if not _is_builder(value)} or own
    if not finished:
        raise LoadError(f"there is no topology in it: expected {EXPECTED}{_alternatives(module, '')}")
    names = list(finished)
    return finished[names[0]], names[0], names[1:]


def topologies_in(module: ModuleType) -> Mapping[str, object]:
    """All topologies of a module by name, each once, in order of definition."""
    found: dict[str, object] = {}
    for name, value in vars(module).items():
        if is_topology(value) and all(value is not other for other in found.values()):
            found[name] = value
    return found


def _is_builder(value: object) -> bool:
    return isinstance(value, TopologyBuilder | StreamBuilder)


def _is_own(value: object, module: ModuleType) -> bool:
    return not isinstance(value, type) or value.__module__ == module.__name__


def _alternatives(module: ModuleType, name: str) -> str:
    functions = [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__
    ]
    topologies = list(topologies_in(module))
    near = did_you_mean(name, [*topologies, *functions])
    if near:
        return near
    if topologies:
        return f"; its topologies: {one_of(topologies)}"
    return f"; to take what a function returns, add its name: {one_of(functions)}" if functions else ""


def topology_from(
    value: object, default_name: str, environment: str | None = None, name: str | None = None
) -> Loaded:
    """The topology that a topology class, a builder, a topology or a function without arguments stands for.

    Args:
        value: one of these, see `is_topology`.
        default_name: name of what has no name of its own.
        environment: chooses from a ``par`` that is given per environment.
        name: the name to give to it, whatever it says.

    Raises:
        LoadError: the function returned something else.
    """
    if inspect.isroutine(value):
        function, value = value, value()
        if not is_topology(value):
            raise LoadError(f"{function.__name__}() returned {value!r}, expected {EXPECTED}")
    if isinstance(value, Topology):
        return renamed(Loaded(value, ()), name)
    name = name or default_name
    if isinstance(value, TopologyBuilder | StreamBuilder):
        return value.declaration(name).topology(environment=environment)
    if isinstance(value, TopologyType):
        return topology_of(value, environment, name)
    return streamparse.from_streamparse(cast(type, value), environment=environment, name=name)


def renamed(loaded: Loaded, name: str | None) -> Loaded:
    """The same under another name; None keeps the name that it has."""
    if loaded.topology is None or name is None:
        return loaded
    return replace(loaded, topology=replace(loaded.topology, name=name))


_ours: dict[str, Sequence[Path]] = {}
"""Project modules that earlier targets brought into the process, and their folders.

The folders are noted at once: those of a package without __init__.py follow ``sys.path``.
"""


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
        installed = installed_folders()
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] not in before and not _is_in(installed, module):
                _ours[name] = _places(module)


def import_named(name: str, known: Iterable[str], folders: Iterable[str]) -> ModuleType:
    """The module of that name; to be called within `own_modules`.

    Args:
        name: dotted name.
        known: names that the user may have meant, for the message.
        folders: those in which it was no file, for the message.

    Raises:
        LoadError: there is no such module.
        BaseException: whatever the module raises.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        # Anything else that is missing is the module's own affair.
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
    near = did_you_mean(name, known)
    looked_in = " or ".join(f"{folder}/" for folder in folders)
    raise LoadError(f"no topology {name!r}: neither a file in {looked_in} nor a module{near}")


def import_file(file: Path) -> ModuleType:
    """The module in a file, by the name of the file; to be called within `own_modules`.

    Raises:
        LoadError: a module of Python's or of an installed package has that name.
        BaseException: whatever the module raises.
    """
    name, path = file.stem, file.resolve()
    found = sys.modules.get(name)
    if found is not None and _file_of(found) == path:
        return found
    if name in sys.stdlib_module_names or (found is not None and _is_in(installed_folders(), found)):
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


def installed_folders() -> tuple[Path, ...]:
    """The real folders of Python's modules and installed packages, as an environment may be a link."""
    paths = sysconfig.get_paths()
    return tuple(Path(paths[key]).resolve() for key in ("stdlib", "platstdlib", "purelib", "platlib"))


def _is_in(folders: Sequence[Path], module: ModuleType) -> bool:
    return any(place.is_relative_to(folder) for place in _places(module) for folder in folders)


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
    """The file in which an import would find a module."""
    spec = PathFinder.find_spec(name)
    if spec is None:
        return []
    found = [spec.origin] if spec.has_location else spec.submodule_search_locations or ()
    return [Path(place or "").resolve() for place in found]


_FRAMEWORK = Path(__file__).resolve().parents[1]


def problems_of(error: BaseException, place: Place, folders: Sequence[str]) -> tuple[Problem, ...]:
    """The problems that an exception of user code reports, each at a line of the user's.

    Args:
        error: the exception, with its traceback.
        place: where no line of the user's had a part in it.
        folders: what the user's modules are imported from.
    """
    refused = error if isinstance(error, TopologyError) else refusal(error)
    if refused is not None:
        return tuple(refused.problems)
    if isinstance(error, SyntaxError) and error.filename:
        place = Place(shown(error.filename), error.lineno or 0)
        return (Problem(place, f"{type(error).__name__}: {error.msg}"),)
    return (Problem(_place(error) or place, _described(error, folders)),)


def _described(error: BaseException, folders: Sequence[str]) -> str:
    text = error.args[0] if isinstance(error, KeyError) and error.args else str(error)
    if isinstance(error, ModuleNotFoundError):
        text += f"; the project's modules are looked for in {one_of(map(shown, folders))}"
    return ": ".join(filter(None, [type(error).__name__, text]))


def _place(error: BaseException) -> Place | None:
    libraries = (_FRAMEWORK, *installed_folders(), *_own_library(error))
    lines = [
        (frame.f_code, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if _is_users(frame.f_code.co_filename, libraries)
    ]
    if not lines:
        return None
    code, line = lines[-1]
    source = class_source(code.co_filename, code.co_qualname)
    attribute = source.attribute_at(line)
    return Place(shown(code.co_filename), line, f"{source.name}.{attribute}" if attribute else "")


def _own_library(error: BaseException) -> Iterator[Path]:
    """The folder of a package, wherever it is, that refuses something by an error of its own."""
    package = sys.modules.get(type(error).__module__.partition(".")[0])
    if isinstance(error, ViperError) and package is not None and package.__file__:
        yield Path(package.__file__).resolve().parent


def _is_users(file: str, libraries: Sequence[Path]) -> bool:
    path = Path(file).resolve()
    return not file.startswith("<") and not any(path.is_relative_to(folder) for folder in libraries)

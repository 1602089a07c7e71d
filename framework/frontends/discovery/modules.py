"""Importing a project's modules, also after those of another project with the same names."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

from framework.model.errors import LoadError
from framework.model.topology import did_you_mean

_ours: dict[str, Sequence[Path]] = {}
"""Project modules that earlier targets brought into the process, and where they are from.

Where from is noted at once: the folders of a package without __init__.py follow ``sys.path``.
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
    """Where Python's modules and installed packages are, by no symbolic link, as an environment may be."""
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
    """Where an import would find a module."""
    spec = PathFinder.find_spec(name)
    if spec is None:
        return []
    found = [spec.origin] if spec.has_location else spec.submodule_search_locations or ()
    return [Path(place or "").resolve() for place in found]

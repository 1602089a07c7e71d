"""Imports of user code: classes by their dotted paths, with the project's folders importable."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from inspect import isfunction
from itertools import accumulate, takewhile
from pathlib import Path
from types import FrameType

from framework.model.errors import LoadError
from framework.model.topology.problems import did_you_mean

log = logging.getLogger("viperstorm.loading")

_JAVA_CLASS = re.compile(r"(?:[a-z_][\w$]*\.){2,}[A-Z][\w$]*")
_JAVA_DOMAINS = frozenset(
    {"backtype", "com", "de", "edu", "eu", "fr", "gov", "io"}
    | {"java", "javax", "kotlin", "net", "org", "scala", "storm", "uk"}
)

ImportGuard = Callable[[], AbstractContextManager[None]]
_guards: list[ImportGuard] = []


def guard_imports(guard: ImportGuard) -> None:
    """Have all user code imported within a context, which a front end brings."""
    _guards.append(guard)


@contextmanager
def importing_user_code() -> Iterator[None]:
    """Within it, a module that is imported does no more harm than it must; see `guard_imports`."""
    with ExitStack() as contexts:
        for guard in _guards:
            contexts.enter_context(guard())
        yield


def leaves_to_host(component: object) -> bool:
    """True if a component's `run`, the caller, is called while a module is imported for its classes.

    Then it must do nothing, as for streamparse's components: the program itself is the module ``__main__``.
    """
    caller = sys._getframe(2)
    up: FrameType | None = caller
    while up is not None:
        if up.f_code.co_name == "<module>" and up.f_globals.get("__name__") != "__main__":
            note_not_run(component, caller)
            return True
        up = up.f_back
    return False


def note_not_run(component: object, caller: FrameType) -> None:
    """Log that the `run` of a component does nothing, and where it was called."""
    place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
    log.debug("%s: %s.run() does nothing, as its runtime hosts it", place, type(component).__name__)


def looks_like_java(class_name: str) -> bool:
    """True if a class name is a Java one: a reverse domain that Python has no package for."""
    head, _, rest = class_name.partition(".")
    if not _JAVA_CLASS.fullmatch(class_name) or head not in _JAVA_DOMAINS:
        return False
    second = rest.partition(".")[0]
    try:
        return importlib.util.find_spec(f"{head}.{second}") is None
    except (ImportError, ValueError):
        return True


def import_class(class_name: str) -> type:
    """The class of a dotted path: ``package.module.Class`` or ``package.module:Outer.Inner``.

    Between an outer class and an inner one, Java's ``$`` is read as a dot.

    Raises:
        LoadError: no such module or class, or the module raised while it was imported;
            the message says which, and the nearest valid name.
    """
    found = import_object(class_name)
    if not isinstance(found, type):
        hint = "; viperstorm.streams.Map, FlatMap and Filter call functions" if isfunction(found) else ""
        raise LoadError(f"{class_name!r} is a {type(found).__name__}, expected a class{hint}")
    return found


def import_object(path: str) -> object:
    """Import the object that a dotted path names; errors as in `import_class`."""
    with importing_user_code():
        return _object(path)


def _object(path: str) -> object:
    module_name, _, attributes = path.partition(":")
    if attributes:
        names = attributes.replace("$", ".").split(".")
        return _attribute(_module(module_name, path), names, path)
    parts = path.replace("$", ".").split(".")
    if len(parts) < 2 or not all(part.isidentifier() for part in parts):
        raise LoadError(f"{path!r} is no class path: expected 'package.module.Class'")
    depth = _depth_of_modules(parts)
    if depth == 0:
        raise LoadError(f"{path!r}: no module {parts[0]!r} in {_searched()}")
    return _attribute(_module(".".join(parts[:depth]), path), parts[depth:], path)


def project_folders(file: str | os.PathLike[str] | None) -> tuple[str, ...]:
    """The folders that user code of a topology is imported from: absolute, and only those that exist.

    They are those that ``sparse`` takes: ``../src`` beside the topology's file, the file's own folder,
    ``src`` in that folder, and the current folder, with its ``src`` before it for a file further down in it.

    Args:
        file: the topology's file; None for a topology in a module, whose folder is the current one.
    """
    folder = Path() if file is None else Path(file).parent
    # As of a topology in topologies/sub/, which sparse finds by name.
    own = [Path("src")] if folder.resolve().is_relative_to(Path.cwd()) else []
    candidates = (folder / ".." / "src", folder, folder / "src", *own, Path())
    return tuple(dict.fromkeys(str(path.resolve()) for path in candidates if path.is_dir()))


def source_folder(cls: type, folders: Sequence[str]) -> str | None:
    """The folder of a project that the module of a class was imported from; None if it is of no project.

    Args:
        cls: the class.
        folders: of the project, as of `project_folders`.
    """
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    if file is None:
        return None
    path = Path(file).resolve()
    inside = cls.__module__.count(".") + (path.name == "__init__.py")
    if inside >= len(path.parents):
        return None
    folder = str(path.parents[inside])
    return folder if folder in folders else None


@contextmanager
def importable(folders: Sequence[str]) -> Iterator[None]:
    """Put folders in front of ``sys.path`` for as long as the block runs."""
    before = list(sys.path)
    sys.path[:0] = [folder for folder in folders if folder not in before]
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = before


def _depth_of_modules(parts: Sequence[str]) -> int:
    """Count the first parts that name modules, each in the one before; the last part names no module.

    The search begins at the top and ends at the first name that is missing. A search for the whole path first
    would look for every name in it again and again.
    """
    names = accumulate(parts[:-1], "{}.{}".format)
    return sum(1 for _ in takewhile(_module_exists, names))


def _module_exists(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except Exception:
        # A package around it raised when it was imported; that shows when the package itself is.
        return False


def _module(name: str, path: str) -> object:
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise LoadError(f"{path!r}: importing {name!r} raised {_in_one_line(error)}") from error


def _in_one_line(error: Exception) -> str:
    """An exception in one line; of several problems the first one, with the number of the others."""
    first, *others = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {first}" + (f" (and {len(others)} more)" if others else "")


def _attribute(owner: object, names: Sequence[str], path: str) -> object:
    for name in names:
        if not hasattr(owner, name):
            where = getattr(owner, "__name__", repr(owner))
            public = [n for n in dir(owner) if not n.startswith("_")]
            raise LoadError(f"{path!r}: {where!r} has no {name!r}{did_you_mean(name, public)}")
        owner = getattr(owner, name)
    return owner


def _searched() -> str:
    return ", ".join(repr(folder or ".") for folder in sys.path[:3]) + " or the installed packages"

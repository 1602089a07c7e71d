"""Carries objects without a name in another process there: classes of a notebook, lambdas, local functions.

cloudpickle does it. Objects that the main module defines can be found there afterwards as in this process. So
values of its classes travel from process to process, and keep their classes.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import io
import linecache
import marshal
import os
import pickle
import sys
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from framework.runtime.durability.checkpoints.meaning import globals_of

INSTALL: Final = "install cloudpickle (pip install 'cloudpickle>=3.1'), which sends it as it is"
_MAIN: Final = ("__main__", "__mp_main__")
"""The names of the main module: here, and in a process that has loaded it as a script."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A value as bytes, with the code that it needs."""

    data: bytes
    main: Mapping[str, Any]
    """The parts of the main module that it has carried, by the name there."""


def is_possible() -> bool:
    """True if cloudpickle is installed."""
    try:
        return importlib.util.find_spec("cloudpickle") is not None
    except ValueError:  # a module of that name is there, without a spec
        return False


def dumps(value: Any) -> Carried:
    """A value as bytes, together with every class and function that has no name in an imported module.

    Raises:
        Exception: it has something that cannot be carried, such as a lock; `path_to` finds it.
    """
    file = io.BytesIO()
    pickler = _pickler_class()(file)
    pickler.dump(value)
    names: dict[str, Any] = {}
    while more := {name: found for name, found in pickler.main.items() if name not in names}:
        names |= more  # of which each may bring others
        pickler.dump(more)
    pickler.dump({})
    pickler.dump(pickler.nested)
    pickler.dump({name: lines for name in pickler.files if (lines := linecache.getlines(name))})
    return Carried(file.getvalue(), names)


def loads(data: bytes) -> Any:
    """The value that was carried; the main module then has the code that came with it."""
    unpickler = pickle.Unpickler(io.BytesIO(data))
    value = unpickler.load()
    while names := unpickler.load():
        for name, found in names.items():
            setattr(sys.modules["__main__"], name, found)
    for cls, name in unpickler.load():
        cls.__qualname__ = name
    for name, lines in unpickler.load().items():
        linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    return value


class Returned(pickle.Unpickler):
    """Reads a value that comes back: of the classes that were carried, whatever has their names by now."""

    def __init__(self, data: bytes, main: Mapping[str, Any]) -> None:
        super().__init__(io.BytesIO(data))
        self._main = main

    def find_class(self, module_name: str, global_name: str) -> Any:
        """The class of this name that was carried, or else what a module has."""
        top, *inner = global_name.split(".")
        if module_name not in _MAIN or top not in self._main:
            return super().find_class(module_name, global_name)
        return functools.reduce(getattr, inner, self._main[top])


@functools.cache
def _pickler_class() -> Any:
    import cloudpickle

    class Pickler(cloudpickle.Pickler):  # type: ignore[misc]
        """Notes what it carries of the main module."""

        # Of a file cloudpickle would send the content, so that each process would read all of it. Of code it
        # would leave out the file, by which tracebacks and counts of errors find its lines.
        dispatch_table = ChainMap(
            {
                io.TextIOWrapper: _file,
                CodeType: _code,
                functools.cached_property: _property,
            },
            cloudpickle.Pickler.dispatch_table,
        )

        def __init__(self, file: io.BytesIO) -> None:
            super().__init__(file, pickle.HIGHEST_PROTOCOL)
            self.main: dict[str, Any] = {}
            """The parts of the main module that it has carried, by the name there."""
            self.nested: list[tuple[type, str]] = []
            """Classes within others or within functions, with these names, which cloudpickle leaves out."""
            self.files: set[str] = set()
            """Names of files of code that are no files, as of a notebook's cells."""

        def reducer_override(self, obj: Any) -> Any:
            if isinstance(obj, functools._lru_cache_wrapper) and not self._goes_by_name(obj):
                return _cached, (obj.__wrapped__, obj.cache_parameters())
            if isinstance(obj, FunctionType) and hasattr(obj, "registry") and not self._goes_by_name(obj):
                return _dispatching, (dict(obj.registry),)
            reduced = super().reducer_override(obj)
            if isinstance(obj, type | FunctionType) and reduced is not NotImplemented:
                self._note(obj)
            return reduced

        def _goes_by_name(self, found: Any) -> bool:
            return found.__module__ != "__main__" and has_name(found)

        def _note(self, found: Any) -> None:
            if isinstance(found, type):
                self.nested += [(found, found.__qualname__)] if found.__qualname__ != found.__name__ else []
            elif not os.path.isfile(found.__code__.co_filename):
                self.files.add(found.__code__.co_filename)
            if found.__module__ == "__main__" and has_name(found):
                top = found.__qualname__.partition(".")[0]
                self.main[top] = getattr(sys.modules["__main__"], top)

    return Pickler


def has_name(found: Any) -> bool:
    """True if a module has this very class or function under its name."""
    at: Any = sys.modules.get(found.__module__)
    for name in found.__qualname__.split("."):
        at = getattr(at, name, None)
    return at is found


def _file(file: Any) -> Any:
    if file in (sys.stdout, sys.stderr):
        return getattr, (sys, "stdout" if file is sys.stdout else "stderr")
    raise pickle.PicklingError(f"cannot pickle the open file {getattr(file, 'name', '')!r}")


def _code(code: CodeType) -> Any:
    return marshal.loads, (marshal.dumps(code),)


def _cached(function: Callable[..., Any], parameters: Mapping[str, Any]) -> Any:
    """A function with an empty cache, as `functools.cache` makes it: it pickles by its name alone."""
    return functools.lru_cache(**parameters)(function)


def _dispatching(registry: Mapping[type, Callable[..., Any]]) -> Any:
    """A function of `functools.singledispatch`, which has weak references that cannot be pickled."""
    made = functools.singledispatch(registry[object])
    for cls, function in registry.items():
        made.register(cls, function)
    return made


def _property(found: functools.cached_property[Any]) -> Any:
    """A property, without the lock that it has up to Python 3.11."""
    return _made_property, (found.func, found.attrname)


def _made_property(function: Callable[[Any], Any], name: str | None) -> functools.cached_property[Any]:
    made = functools.cached_property(function)
    made.attrname = name
    return made


# -- what of a value is in the way


def path_to(value: Any, is_meant: Callable[[Any], bool]) -> Iterator[str]:
    """The parts of a value that lead to what is meant, each in words.

    Args:
        value: something that is meant.
        is_meant: true of a part if it, or a part of it, is meant.
    """
    seen = {id(value)}
    while True:
        parts = [(words, part) for words, part in _parts(value) if id(part) not in seen]
        found = next(((words, part) for words, part in parts if is_meant(part)), None)
        if found is None:
            return
        words, value = found
        seen.add(id(value))
        yield from [words] if words else []


def _parts(value: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a value, each with words for it; none for parts that nobody would ask for by name."""
    if isinstance(value, FunctionType):
        yield from ((f"the global {name!r}", found) for name, found in sorted(globals_of(value).items()))
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            with contextlib.suppress(ValueError):  # it is empty, as of a function that is not defined yet
                yield f"{name!r} of the function around it", cell.cell_contents
        yield from ((f"a default of {value.__qualname__}", one) for one in value.__defaults__ or ())
    elif isinstance(value, type):
        yield from ((f"{value.__qualname__}.{name}", one) for name, one in vars(value).items())
        yield from (("", base) for base in value.__bases__)
    elif isinstance(value, staticmethod | classmethod | MethodType):
        yield "", value.__func__
        yield "", getattr(value, "__self__", None)
    elif isinstance(value, property):
        yield from (("", one) for one in (value.fget, value.fset, value.fdel))
    elif isinstance(value, functools.partial):
        yield from (("", one) for one in (value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, Mapping):
        yield from ((f"{key!r}", one) for key, one in value.items())
    elif isinstance(value, list | tuple | set | frozenset):
        yield from (("", one) for one in value)
    elif is_dataclass(value):
        yield from (("", getattr(value, field.name)) for field in fields(value))
    else:
        yield from ((f"attribute {name!r}", one) for name, one in getattr(value, "__dict__", {}).items())

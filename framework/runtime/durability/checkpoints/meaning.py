"""Values of Python's as plain ones, by which two runs can compare what they mean.

A function has its name and a digest of its code here, an object the name of its class and what it holds. The
code is what runs: its digest has neither comments, docstrings and annotations nor its place, so a file may
have another name. The code that it calls in the same project is in it, and so are the constants that it
reads. Two versions of Python compile the same code to other digests.
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import hashlib
import inspect
import json
import math
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from pathlib import PurePath
from typing import Any, Final

Plain = Any
"""A value that JSON can hold, and that is equal to itself when it comes back."""
IS: Final = "object of"
"""The key of an object's class, beside its attributes; with a space, as no attribute has this name."""
KIND: Final = "kind of"
"""The key of the framework's class that a user's class derives from."""
FUNCTION: Final = "function called"
"""The key of a function's name, beside the digest of its code."""
DIGEST: Final = "digest of code"
PYTHON: Final = ".".join(map(str, sys.version_info[:2]))
"""The version of Python that digests of code are of."""
_OURS: Final = frozenset({"framework", "viper", "viperstorm", "spark_ingest"})
_INSTALLED: Final = tuple(map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")))
_NO_CODE: Final = frozenset(
    {"__module__", "__doc__", "__dict__", "__weakref__", "__annotations__", "__qualname__", "__orig_bases__"}
    | {"__parameters__", "__abstractmethods__", "_abc_impl", "__firstlineno__", "__static_attributes__"}
    | {"__annotate_func__", "__annotations_cache__", "__slots__"}
)
"""Names in a class that say nothing of what it does."""
_CONSTANTS: Final = (type(None), bool, int, float, complex, str, bytes)
_CHANGED: Final = (dict, list, set, bytearray, collections.deque)
"""Classes of globals that a program may change while it runs: these are constants if their names say so."""
_OF_CALLS: Final = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
"""The flags of code that say how a function is called."""
_SHOWN: Final = 300
"""Characters of a value that are shown."""
_LONG: Final = 200
"""Characters of a value's text that stands for it; of a longer one a digest does."""
_ADDRESS: Final = re.compile(r" at 0x[0-9a-fA-F]+")
"""The address of an object in a text, such as that of a default of a data class."""
_OF_C: Final = (
    types.BuiltinFunctionType
    | types.MethodDescriptorType
    | types.WrapperDescriptorType
    | types.MethodWrapperType
    | types.ClassMethodDescriptorType
)
"""Functions that are written in C."""
Around = tuple[int, ...]
"""The ids of the objects that hold a value."""


def is_ours(module: str | None) -> bool:
    """True if a module belongs to the framework, and not to a user."""
    return (module or "").partition(".")[0] in _OURS


def plain(value: Any) -> Plain:
    """A value as JSON can hold it; equal values give equal ones, in every process.

    Of a value that is nested deeper than Python can go there is nothing but its class.
    """
    try:
        return _plain(value, ())
    except RecursionError:
        return {IS: name_of(type(value))}


def digest_of(value: Any, leaving_out: Collection[str] = ()) -> str:
    """A digest of the code of a class or a function, or of what a value holds.

    Args:
        value: any value.
        leaving_out: attributes of a class that do not count.

    Returns:
        Hexadecimal digits; empty for what is nested deeper than Python can go.
    """
    try:
        return _digest(value, (), leaving_out)
    except RecursionError:
        return ""


def digest_of_code(value: type | types.FunctionType, *, calls: bool = True) -> str:
    """A digest of the code of a class or a function alone, whatever values it has and reads.

    Args:
        value: a user's.
        calls: true if the code that it calls in the same project is in it.
    """
    made = _DigestOfCode(calls)
    made.add(value)
    return made.hexdigest()


def functions_of(value: type | types.FunctionType) -> Iterator[types.FunctionType]:
    """The functions of a class and of the users' classes that it derives from; a function itself."""
    if isinstance(value, types.FunctionType):
        yield value
        return
    for base in value.__mro__:
        if not is_ours(base.__module__) and not _is_installed(base.__module__):
            yield from (one for one in vars(base).values() if isinstance(one, types.FunctionType))


def globals_of(function: types.FunctionType) -> Mapping[str, Any]:
    """The globals that a function's code names, by name."""
    return {name: function.__globals__[name] for name in _names(function.__code__) & {*function.__globals__}}


def _names(code: types.CodeType) -> set[str]:
    inner = (_names(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*inner)


def _digest(value: Any, around: Around, leaving_out: Collection[str] = ()) -> str:
    made = _Digest(around, leaving_out)
    made.add(value)
    return made.hexdigest()


def name_of(value: Any) -> str:
    """The name of a class or a function: within its file if it is a user's, else with its module."""
    name: str = getattr(value, "__qualname__", "") or getattr(value, "__name__", "") or type(value).__name__
    module = getattr(value, "__module__", None)
    if module in (None, "builtins") or is_ours(module) or not _is_installed(module):
        return name
    return f"{module}.{name}"


def shown(value: Plain) -> str:
    """A plain value in words, as a message has it."""
    text = _shown(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _shown(value: Plain) -> str:
    if isinstance(value, Mapping):
        if FUNCTION in value:
            return f"the function {value[FUNCTION]}"
        told = {name: _shown(one) for name, one in value.items() if name not in (IS, DIGEST, KIND)}
        if IS in value:
            return f"{value[IS]}({', '.join(f'{name}={one}' for name, one in told.items() if one != 'None')})"
        return f"{{{', '.join(f'{name}: {one}' for name, one in told.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(value)


def _plain(value: Any, around: Around) -> Plain:
    if isinstance(value, enum.Enum):
        return {IS: name_of(type(value)), "name": value.name}
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value) if type(value) is int else {IS: name_of(type(value)), "number": int(value)}
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, type):
        return {IS: "class", "name": name_of(value), DIGEST: _digest(value, around)}
    if isinstance(value, bytes | bytearray | memoryview):
        return {IS: "bytes", DIGEST: hashlib.blake2b(bytes(value), digest_size=8).hexdigest()}
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, re.Pattern):  # whose text is cut off
        return {IS: "pattern", "pattern": _plain(value.pattern, around), "flags": value.flags}
    if id(value) in around:
        return "itself"
    around = (*around, id(value))
    if _is_function(value):
        return _function(value, around)
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {key: _plain(one, around) for key, one in value.items()}
        return [[_plain(key, around), _plain(one, around)] for key, one in value.items()]
    if isinstance(value, Set):
        return sorted((_plain(one, around) for one in value), key=_text)
    if isinstance(value, Sequence) and not isinstance(value, range):
        return [_plain(one, around) for one in value]
    return _object(value, around)


def _object(value: Any, around: Around) -> Plain:
    cls = type(value)
    told: dict[str, Plain] = {IS: name_of(cls)}
    if isinstance(value, dataclasses.Field):  # whose text has the type, with the name of the file
        return {**told, "value": [_plain(one, around) for one in (value.default, value.default_factory)]}
    if not is_ours(cls.__module__):
        if _is_installed(cls.__module__) and _kind(cls) is None:
            return {**told, "value": _written(value)}
        told |= {DIGEST: _digest(cls, around), KIND: _kind(cls)}
    try:
        return {**told, **{name.lstrip("_"): _plain(one, around) for name, one in _held(value)}}
    except Exception:  # an object may raise whatever it likes as it is looked at; its class is known at least
        return told


def _kind(cls: type) -> str | None:
    """The name of the framework's class that a class derives from."""
    return next((base.__name__ for base in cls.__mro__ if is_ours(base.__module__)), None)


def _written(value: Any) -> str | None:
    """The bytes or the text of a value of a class that is not the project's.

    None where that text is no expression of Python's, as of loggers and connections: these are as the process
    has them, and would differ in each.
    """
    if callable(inspect.getattr_static(type(value), "tobytes", None)):
        return hashlib.blake2b(value.tobytes(), digest_size=8).hexdigest()
    try:
        written = _ADDRESS.sub("", repr(value))
    except Exception:  # likewise
        return None
    if written.startswith("<"):
        return None
    return hashlib.blake2b(written.encode(), digest_size=8).hexdigest() if len(written) > _LONG else written


def _held(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object that its class or others have set."""
    if dataclasses.is_dataclass(value):
        yield from ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return
    for cls in type(value).__mro__:
        slots = vars(cls).get("__slots__", ()) if not _is_builtin(cls) else ()
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(value, name):
                yield name, getattr(value, name)
    yield from sorted(getattr(value, "__dict__", {}).items())


def _is_builtin(cls: type) -> bool:
    return cls.__module__ == "builtins"


def _is_function(value: Any) -> bool:
    kinds = types.FunctionType | types.MethodType | functools.partial | _OF_C
    return isinstance(value, kinds) or _wrapped(value) is not None or _is_named(value)


def _is_named(value: Any) -> bool:
    """True if a value has a name, can be called, and is of an installed class, such as NumPy's `ufunc`."""
    named = isinstance(getattr(value, "__name__", None), str) and callable(value)
    return named and not isinstance(value, type) and _is_installed(type(value).__module__)


def _wrapped(value: Any) -> Any:
    """The function that an object such as those of `functools.cache` has been made of; None for others."""
    found = inspect.getattr_static(value, "__wrapped__", None)  # as some objects have whatever one asks for
    return found if callable(found) else None


def _function(value: Any, around: Around) -> Plain:
    found = value.func if isinstance(value, functools.partial) else value
    return {FUNCTION: name_of(found), DIGEST: _digest(value, around[:-1])}


def _text(value: Plain) -> str:
    return json.dumps(value, sort_keys=True)


@functools.cache
def _is_installed(module: str) -> bool:
    """True if a module is Python's, or an installed package's: its code is not the project's."""
    if module == "__main__":
        return False
    if module.partition(".")[0] in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return file is not None and file.startswith(_INSTALLED)


class _Digest:
    """A digest of code, and of what that calls in the same project."""

    def __init__(self, around: Around, leaving_out: Collection[str]) -> None:
        self._hash = hashlib.blake2b(digest_size=8)
        self._seen = {*around}
        self._around = around
        self._left_out = _NO_CODE.union(leaving_out)

    def hexdigest(self) -> str:
        """The digest so far."""
        return self._hash.hexdigest()

    def add(self, value: Any) -> None:
        """Add a class, a function, or any value."""
        if isinstance(value, types.MethodType):
            self.add(value.__func__)
            self._add_owner(value.__self__)
        elif isinstance(value, staticmethod | classmethod):
            self.add(value.__func__)
        elif isinstance(value, functools.cached_property):
            self.add(value.func)
        elif isinstance(value, property):
            for function in (value.fget, value.fset, value.fdel):
                self.add(function)
        elif isinstance(value, functools.partial):
            self.add(value.func)
            self._add_value([*value.args, value.keywords])
        elif isinstance(value, types.FunctionType):
            self._once(value, self._add_function)
        elif isinstance(value, type):
            self._once(value, self._add_class)
        elif isinstance(value, types.ModuleType):
            self._note(value.__name__)
        elif isinstance(value, _OF_C):
            self._note(name_of(value))
            self._add_owner(getattr(value, "__self__", None))
        elif _wrapped(value) is not None:
            self.add(_wrapped(value))
        elif _is_named(value):
            self._note(name_of(value))
        else:
            self._add_value(value)

    def _add_value(self, value: Any) -> None:
        """Add what is no code."""
        self._note(self._plain(value))

    def _plain(self, value: Any) -> Plain:
        return _plain(value, (*self._around, *self._seen))

    def _add_owner(self, owner: Any) -> None:
        """Add the object that a method belongs to, which its code reads, unless that is the framework's."""
        is_module = isinstance(owner, types.ModuleType)
        if owner is not None and not is_module and not is_ours(type(owner).__module__):
            self.add(owner)

    def _once(self, value: Any, add: Callable[[Any], None]) -> None:
        if id(value) not in self._seen:
            self._seen.add(id(value))
            add(value)

    def _add_class(self, cls: type) -> None:
        for base in cls.__mro__:
            if is_ours(base.__module__) or _is_installed(base.__module__):
                self._note(name_of(base))
                continue
            for name, value in sorted(vars(base).items()):
                # What the framework has declared there is compared by itself.
                if name not in self._left_out and not is_ours(type(value).__module__) and self._counts(value):
                    self._note(name)
                    self.add(value)

    def _counts(self, value: Any) -> bool:
        """True if an attribute of a class is a part of its meaning."""
        return True

    def _add_function(self, function: types.FunctionType) -> None:
        if is_ours(function.__module__) or _is_installed(function.__module__ or ""):
            self._note(name_of(function))
            return
        self._add_code(function.__code__, function.__globals__)
        self._add_value([*(function.__defaults__ or ()), function.__kwdefaults__ or {}])
        for cls, chosen in getattr(function, "registry", {}).items():  # of `functools.singledispatch`
            self._note(name_of(cls))
            self.add(chosen)
        for cell in function.__closure__ or ():
            try:
                self.add(cell.cell_contents)
            except ValueError:  # it is empty, as of a function that is not defined yet
                self._note("empty")

    def _add_code(self, code: types.CodeType, names: Mapping[str, Any]) -> None:
        self._hash.update(code.co_code)
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        self._note([*counts, code.co_flags & _OF_CALLS])
        self._note([*code.co_names, "|", *code.co_varnames, "|", *code.co_freevars])
        documented = code.co_name != "<lambda>" and code.co_consts[:1] and isinstance(code.co_consts[0], str)
        for constant in code.co_consts[1:] if documented else code.co_consts:
            if isinstance(constant, types.CodeType):
                self._add_code(constant, names)
            else:
                self._note([type(constant).__name__, self._plain(constant)])
        for name in code.co_names:
            self._add_global(name, names.get(name), code.co_names)

    def _add_global(self, name: str, value: Any, names: Sequence[str]) -> None:
        """Add the value of a global name, if it is the project's; of a module, the values of other names.

        A list or a dictionary may be changed by the program, and would then differ without a change of the
        code. So it counts where its name is one of a constant, in capitals.
        """
        if isinstance(value, types.ModuleType):
            is_others = is_ours(value.__name__) or _is_installed(value.__name__)
            if not is_others and id(value) not in self._seen:
                self._seen.add(id(value))
                for other in names:
                    self._add_global(other, vars(value).get(other), names)
                self._seen.discard(id(value))
        elif isinstance(value, _CONSTANTS):
            self._add_value(value)
        else:
            is_fixed = name.isupper() or not isinstance(value, _CHANGED)
            is_code = isinstance(value, type) or _is_function(value)
            if is_code or (is_fixed and not is_ours(type(value).__module__)):
                self.add(value)

    def _note(self, value: Plain) -> None:
        self._hash.update(_text(value).encode() + b"\n")


class _DigestOfCode(_Digest):
    """A digest of code alone."""

    def __init__(self, calls: bool) -> None:
        super().__init__((), ())
        self._calls = calls

    def _add_value(self, value: Any) -> None:
        pass

    def _counts(self, value: Any) -> bool:
        kinds = type, staticmethod, classmethod, property, functools.cached_property
        return isinstance(value, kinds) or _is_function(value)

    def _add_global(self, name: str, value: Any, names: Sequence[str]) -> None:
        if self._calls:
            super()._add_global(name, value, names)

"""Compares the code that a worker process has found by its name with the code that is meant.

A process imports it again. A module may have been edited since this process has imported it, and a script may
define under `if __name__ == "__main__"` what a process that loads it defines otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from types import FunctionType
from typing import Any

from framework.model.errors import LoadError
from framework.model.importing import import_object
from framework.model.topology import ObjectDef, PythonImplementation, Topology
from framework.runtime.durability.checkpoints.meaning import digest_of_code, functions_of, globals_of, is_ours
from framework.runtime.workers.by_value import has_name

_CONSTANTS = (bool, int, float, str, bytes, type(None))


@dataclass(frozen=True, slots=True)
class Code:
    """The compared parts of a class or a function."""

    name: str
    """Its dotted name."""
    own: str
    """A digest of its own code."""
    called: str
    """Likewise, with the code that it calls in the same project."""
    constants: Mapping[str, Any]
    """Plain values that its code reads of the script that is the main module, by name."""


Codes = Mapping[str, Sequence[Code | None]]
"""By component what is compared of its class and of each of its arguments; None for what is not."""


def code_of(topology: Topology, *, is_by_value: bool) -> Codes:
    """The parts to be compared of each component that is made in a process.

    Args:
        topology: of the run.
        is_by_value: true if code of the main module goes with it.
    """
    return {
        component.id: [_meant(one, is_by_value) for one in _parts(component.implementation.definition)]
        for component in topology.components
        if isinstance(component.implementation, PythonImplementation)
    }


def differences(topology: Topology, meant: Codes) -> Iterator[str]:
    """Differences in what is called or read by the code that was found here, in words.

    Args:
        topology: with the code that was found.
        meant: of the process that has sent it.

    Raises:
        LoadError: the very class or function is another one.
    """
    for component in topology.components:
        if isinstance(component.implementation, PythonImplementation):
            parts = _parts(component.implementation.definition)
            for one, part in zip(meant[component.id], parts, strict=True):
                if one is not None:
                    yield from _between(component.id, one, _code(_resolved(part)))


def _between(id: str, meant: Code, found: Code) -> Iterator[str]:
    if meant.own != found.own:
        raise LoadError(f"{id!r}: {meant.name} {_IS_ANOTHER}: {_WHAT_TO_DO}, {_OR_INLINE}")
    if meant.called != found.called:
        yield f"{id!r}: the code that {meant.name} calls {_IS_ANOTHER}: {_WHAT_TO_DO}"
    for name, value in meant.constants.items():
        there = found.constants.get(name, "not there")
        if there != value and value == value:
            yield (
                f"{id!r}: {name} is {value!r:.100} in the script and {there!r:.100} in its worker processes, "
                'which load it with another __name__: set it outside of `if __name__ == "__main__"`, or give '
                "it to the component as an argument"
            )


_IS_ANOTHER = "is another one in worker processes, which import it again"
_WHAT_TO_DO = (
    "define it the same under every condition; if the file has changed since, import it again "
    "(importlib.reload) and make the topology again"
)
_OR_INLINE = "or run it with --worker inline (viper.worker)"


def _parts(definition: ObjectDef) -> Sequence[Any]:
    """The class of a component, and its arguments."""
    return definition.cls, *definition.args, *definition.kwargs.values()


def _meant(part: Any, is_by_value: bool) -> Code | None:
    """The compared parts of a class, a function or the path of one, if each process imports it again."""
    if isinstance(part, str) and part.rpartition(".")[0] not in sys.modules:
        return None
    found = _resolved(part)
    is_code = isinstance(found, type | FunctionType) and _is_source(found.__module__) and has_name(found)
    return _code(found) if is_code and not (is_by_value and found.__module__ == "__main__") else None


def _resolved(part: Any) -> Any:
    if not isinstance(part, str):
        return part
    try:
        return import_object(part)
    except LoadError:  # it is any other text
        return None


def _is_source(module: str | None) -> bool:
    """True for a script, and for a module that Python itself has imported from its source.

    pytest makes other code of modules of tests, and so do packages that check types at runtime.
    """
    found = sys.modules.get(module or "")
    if is_ours(module) or found is None:
        return False
    spec = found.__spec__
    return spec is None or type(spec.loader) is SourceFileLoader


def _code(found: type | FunctionType) -> Code:
    name = f"{found.__module__.replace('__mp_main__', '__main__')}.{found.__qualname__}"
    read = {
        key: value
        for function in functions_of(found)
        if function.__module__ in ("__main__", "__mp_main__")
        for key, value in globals_of(function).items()
        if type(value) in _CONSTANTS and not key.startswith("__")
    }
    return Code(name, digest_of_code(found, calls=False), digest_of_code(found), read)

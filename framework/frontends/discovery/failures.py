"""Exceptions of user code as problems at the user's line."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Sequence
from pathlib import Path

from framework.frontends.declaration import class_source, shown
from framework.frontends.discovery.modules import installed_folders
from framework.frontends.streamparse import refusal
from framework.model.errors import TopologyError, ViperError
from framework.model.topology import Place, Problem, one_of

_FRAMEWORK = Path(__file__).resolve().parents[2]


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

"""pystorm's components in a process that hosts them, where they must leave pipes, signals and threads alone.

The constructor of a pystorm component prepares a process that belongs to it. It wraps stdin and stdout, sets
a signal handler and may start a thread; `run` then serves Storm for ever. A process of ours hosts many
components. So dangerous parts of pystorm are switched off while a component is constructed, and while user
code is imported, because a module may end with ``WordCounter().run()``.

Nothing here imports pystorm.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any

from framework.model.importing import note_not_run


def construct(cls: type[Any]) -> Any:
    """Construct a component as streamparse does it.

    The timer thread of a `TicklessBatchingBolt` ends at once; the task's worker calls `process_batches` when
    it is due.
    """
    with hosting():
        return cls(serializer="json")


@contextmanager
def hosting() -> Iterator[None]:
    """Within it, pystorm's components can be made in this process, and their `run` does nothing.

    It may be entered several times, and from several threads. pystorm may be imported within it.
    """
    thread = threading.current_thread()
    name = thread.name
    _switches.off()
    try:
        yield
    finally:
        _switches.on()
        thread.name = name  # which a TicklessBatchingBolt changes


@contextmanager
def telling(component: Any, tell: Callable[[], None]) -> Iterator[None]:
    """Within it, pystorm's own `_setup_component` does nothing for a component but call `tell`.

    It would configure the logging of the whole process, and replace its stdout.
    """
    _told[id(component)] = tell
    try:
        with hosting():
            yield
    finally:
        del _told[id(component)]


_told: dict[int, Callable[[], None]] = {}
"""The function that sets the attributes of a component, by its id."""


def _set_up(component: object, storm_conf: object, context: object) -> None:
    tell = _told.get(id(component))
    if tell is not None:
        tell()


class _NoSerializer:
    """Stands in for a serializer: nothing is read or written."""

    def __init__(self, *_streams: Any) -> None:
        self.output_stream = self.input_stream = None


class _Switches:
    """The changes in pystorm, and in this process, for as long as anybody hosts."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._users = 0
        self._undo = ExitStack()
        self._finder = _Finder(self)

    def off(self) -> None:
        """Switch off what is dangerous, or do so as soon as pystorm is imported."""
        with self._lock:
            self._users += 1
            if self._users > 1:
                return
            if "pystorm" in sys.modules:
                self.change_pystorm()
            else:
                sys.meta_path.insert(0, self._finder)
                self._undo.callback(sys.meta_path.remove, self._finder)

    def on(self) -> None:
        """Switch everything on again, if nobody else hosts."""
        with self._lock:
            self._users -= 1
            if not self._users:
                self._undo.close()

    def change_pystorm(self) -> None:
        """Change pystorm, which has been imported, if anybody hosts."""
        with self._lock:
            if not self._users:
                return
            component, bolt = sys.modules["pystorm.component"], sys.modules["pystorm.bolt"]
            serializers = component._SERIALIZERS
            self._undo.callback(serializers.update, dict(serializers))
            serializers.update(dict.fromkeys(serializers, _NoSerializer))
            self._set(signal, "signal", lambda number, handler: signal.getsignal(number))
            self._set(component.Component, "run", _not_run)
            self._set(component.Component, "_setup_component", _set_up)
            self._set(bolt.Bolt, "_setup_component", _set_up)
            self._set(bolt.TicklessBatchingBolt, "_batch_entry", lambda bolt: None)

    def _set(self, owner: object, name: str, value: object) -> None:
        self._undo.callback(setattr, owner, name, getattr(owner, name))
        setattr(owner, name, value)


def _not_run(component: object) -> None:
    note_not_run(component, sys._getframe(1))


class _Finder(importlib.abc.MetaPathFinder):
    """Finds pystorm as usual, and changes it when it has been imported."""

    def __init__(self, switches: _Switches) -> None:
        self._switches = switches

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of pystorm, with a loader that changes it; None for every other module."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path) if fullname == "pystorm" else None
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._switches)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: importlib.abc.Loader, switches: _Switches) -> None:
        self._loader = loader
        self._switches = switches

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._switches.change_pystorm()


_switches = _Switches()

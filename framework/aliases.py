"""Old names of packages, from before they moved into districts: they import the modules of the new names.

Users' code, topologies in YAML, pickled values in checkpoints and recordings, and the commands by which a
Storm cluster starts components of ours hold such names. Nothing in the project itself uses them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any

MOVED: Mapping[str, str] = {
    "adapters": "frontends.streamparse",
    "builder": "frontends.builder",
    "checkpoints": "runtime.durability.checkpoints",
    "checkpoints.control": "runtime.coordination.commands",
    "columns": "model.columns",
    "components": "operators.components",
    "config": "model.config",
    "controllers": "operators.controllers",
    "costs": "optimizer.costs",
    "declaration": "frontends.declaration",
    "discovery": "frontends.discovery",
    "dsl": "frontends.dsl",
    "errors": "model.errors",
    "flux": "frontends.flux",
    "loading": "frontends.loading",
    "log": "operators.log",
    "multilang": "frontends.multilang",
    "observing": "runtime.observation",
    "optimizing": "optimizer.search",
    "profiling": "optimizer.profiling",
    "rebalancing": "runtime.rebalancing",
    "render": "model.render",
    "routing": "planning.routing",
    "running": "api",
    "runtime.inputs": "runtime.exchange.inputs",
    "sinks": "operators.sinks",
    "sources": "operators.sources",
    "specs": "model.specs",
    "standins": "operators.standins",
    "state": "operators.state",
    "streams": "frontends.streams",
    "tables": "model.tables",
    "topology": "model.topology",
    "validation": "planning.validation",
    "windows": "operators.windows",
}
"""By the old name of a package or module within `framework`, the one that it has now."""

_HERE = f"{__package__}."


def current_name(name: str) -> str | None:
    """The dotted name that a module has now, by its old one; None for a name that has not changed."""
    if not name.startswith(_HERE):
        return None
    parts = name.removeprefix(_HERE).split(".")
    for count in range(len(parts), 0, -1):
        found = MOVED.get(".".join(parts[:count]))
        if found is not None:
            return ".".join([_HERE + found, *parts[count:]])
    return None


class _Aliases(MetaPathFinder, Loader):
    """Finds modules by their old names; an import gives the module of the new name, not a second one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        name = current_name(fullname)
        found = None if name is None else find_spec(name)
        if found is None:
            return None
        is_package = found.submodule_search_locations is not None
        return ModuleSpec(fullname, self, origin=found.origin, is_package=is_package, loader_state=found)

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return importlib.import_module(spec.loader_state.name)

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its own spec back: the import has set that of the old name."""
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of a module, for ``python -m`` with its old name."""
        name = current_name(fullname)
        found: Any = None if name is None else find_spec(name)
        return None if found is None else found.loader.get_code(found.name)


def install() -> None:
    """Have old names found, before the folders of the packages are searched."""
    if not any(isinstance(finder, _Aliases) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Aliases())

"""Targets: a file, a module or a name in one, to the topology that it holds."""

from framework.loading.load import load

__all__ = ["load"]

"""From a target (a file, a module, a name in one) or a Python object to the topology that it stands for."""

from framework.frontends.loading.load import load, load_any

__all__ = ["load", "load_any"]

"""The keys of Flux's schema, and ours.

Ours are ``outputs``, ``language``, ``constructorKwargs`` and ``order``; a component's own ``config`` is
in Flux from 3.0 on. ``type`` is Heron's, whose files say with it which of two engines' classes they name.
"""

from __future__ import annotations

OBJECT = (
    "className",
    "constructorArgs",
    "constructorKwargs",
    "factory",
    "factoryArgs",
    "properties",
    "configMethods",
)
BEAN = ("id", *OBJECT)
RESOURCES = ("onHeapMemoryLoad", "offHeapMemoryLoad", "cpuLoad")
VERTEX = (*BEAN, "parallelism", "numTasks", *RESOURCES, "config", "outputs", "language")
OUTPUT = ("name", "fields", "direct", "schema")
PROPERTY = ("name", "value", "ref", "reflist")
CONFIG_METHOD = ("name", "args")

STREAM = ("name", "from", "to", "grouping")
GROUPING = ("type", "streamId", "args", "customClass")

INCLUDE = ("file", "resource", "override")
SOURCE = (*OBJECT, "methodName")
TYPES = ("storm", "heron")
TOPOLOGY = (
    "name",
    "type",
    "includes",
    "config",
    "components",
    "spouts",
    "bolts",
    "streams",
    "order",
    "workerHooks",
    "topologySource",
)

"""The logical topology as frozen values, and the words for what is wrong with one."""

from framework.topology.grouping import Grouping, GroupingKind
from framework.topology.model import (
    ComponentSpec,
    Implementation,
    Input,
    JavaImplementation,
    PythonImplementation,
    Role,
    ShellImplementation,
    Topology,
)
from framework.topology.objects import (
    Argument,
    Bean,
    ConfigMethod,
    ObjectDef,
    Property,
    Ref,
    RefList,
    class_path,
    deserialized,
    references,
)
from framework.topology.places import Path, Place, SourceMap
from framework.topology.problems import Loaded, Problem, about, did_you_mean, one_of, unknown
from framework.topology.repeats import last_subscriptions
from framework.topology.stream import DEFAULT_STREAM, Stream, declared_streams

__all__ = [
    "DEFAULT_STREAM",
    "Argument",
    "Bean",
    "ComponentSpec",
    "ConfigMethod",
    "Grouping",
    "GroupingKind",
    "Implementation",
    "Input",
    "JavaImplementation",
    "Loaded",
    "ObjectDef",
    "Path",
    "Place",
    "Problem",
    "Property",
    "PythonImplementation",
    "Ref",
    "RefList",
    "Role",
    "ShellImplementation",
    "SourceMap",
    "Stream",
    "Topology",
    "about",
    "class_path",
    "declared_streams",
    "deserialized",
    "did_you_mean",
    "last_subscriptions",
    "one_of",
    "references",
    "unknown",
]

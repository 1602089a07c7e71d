"""The logical topology as frozen values, and the words for what is wrong with one."""

from framework.model.topology.grouping import Grouping, GroupingKind
from framework.model.topology.model import (
    ComponentSpec,
    Implementation,
    Input,
    JavaImplementation,
    PythonImplementation,
    Role,
    ShellImplementation,
    Topology,
)
from framework.model.topology.objects import (
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
from framework.model.topology.places import Path, Place, SourceMap
from framework.model.topology.problems import Loaded, Problem, about, did_you_mean, one_of, unknown
from framework.model.topology.repeats import last_subscriptions
from framework.model.topology.stream import DEFAULT_STREAM, Stream, declared_streams

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

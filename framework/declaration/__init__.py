"""What the front ends in Python share: components as they are declared, and where.

Topology classes, ours and streamparse's, and the builder all come down to a list of
specs with the lines that declare them; from there on they are one.
"""

from framework.declaration.acceptance import accepted
from framework.declaration.declaration import Declaration
from framework.declaration.given import outputs_of, recipe_of
from framework.declaration.implementations import (
    java_implementation,
    python_implementation,
    shell_implementation,
)
from framework.declaration.inputs import subscriptions
from framework.declaration.making import checked_config, checked_par, make_spec
from framework.declaration.parallelism import ANY_ENVIRONMENT
from framework.declaration.python_places import calling_place, class_source, file_of, shown, written
from framework.declaration.spec import Inputs, Par, Spec
from framework.declaration.stream_id import GlobalStreamId
from framework.declaration.topology_class import class_declaration

__all__ = [
    "ANY_ENVIRONMENT",
    "Declaration",
    "GlobalStreamId",
    "Inputs",
    "Par",
    "Spec",
    "accepted",
    "calling_place",
    "checked_config",
    "checked_par",
    "class_declaration",
    "class_source",
    "file_of",
    "java_implementation",
    "make_spec",
    "outputs_of",
    "python_implementation",
    "recipe_of",
    "shell_implementation",
    "shown",
    "subscriptions",
    "written",
]

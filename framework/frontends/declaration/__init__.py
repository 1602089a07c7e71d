"""What the front ends in Python share: declarations of components, and the lines that they stand in.

Topology classes, ours and streamparse's, and the builder all become a list of specs with the lines that
declare them. Nothing after this differs between them.
"""

from framework.frontends.declaration.declaration import (
    ANY_ENVIRONMENT,
    Declaration,
    accepted,
    chosen_parallelism,
    class_declaration,
)
from framework.frontends.declaration.implementations import java_implementation, shell_implementation
from framework.frontends.declaration.python_sources import (
    calling_place,
    class_source,
    file_of,
    shown,
    written,
)

__all__ = [
    "ANY_ENVIRONMENT",
    "Declaration",
    "accepted",
    "calling_place",
    "chosen_parallelism",
    "class_declaration",
    "class_source",
    "file_of",
    "java_implementation",
    "shell_implementation",
    "shown",
    "written",
]

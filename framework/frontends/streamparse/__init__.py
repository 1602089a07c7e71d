"""streamparse's topology classes, read as they are.

Nothing here imports streamparse: a value that it made can only be there when user code has imported it, and
then its modules are found among those that are loaded.
"""

from framework.frontends.streamparse.construction import hosting
from framework.frontends.streamparse.topology import (
    from_streamparse,
    is_topology,
    not_inherited,
    refusal,
    refuse_classes,
    specs_in,
)
from framework.model.importing import guard_imports

__all__ = ["from_streamparse", "is_topology", "not_inherited", "refusal", "refuse_classes", "specs_in"]

guard_imports(hosting)

"""streamparse's topology classes, read as they are.

Nothing here imports streamparse: a value that it made is only there when user code
has imported it, and then its modules are found among those that are loaded.
"""

from framework.adapters.streamparse.components import is_component, keep_streams_open
from framework.adapters.streamparse.refusal import refusal
from framework.adapters.streamparse.specs import is_spec, spec_of
from framework.adapters.streamparse.topology import from_streamparse, is_topology

__all__ = [
    "from_streamparse",
    "is_component",
    "is_spec",
    "is_topology",
    "keep_streams_open",
    "refusal",
    "spec_of",
]

"""Why streamparse refused a topology class.

streamparse's metaclass stops at the first mistake of a class, and reports some as a mere ``KeyError``. The
body of the class is complete by then. So it is taken from the traceback, and checked by the rules for all
topologies, which find every mistake and its place.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

from framework.frontends.declaration import ANY_ENVIRONMENT, accepted
from framework.frontends.streamparse.topology import declaration_of
from framework.model.errors import TopologyError
from framework.model.topology import Problem, Topology
from framework.model.topology.graph import SYSTEM_PREFIX


def refusal(error: BaseException) -> TopologyError | None:
    """All that is wrong with the class that an exception kept from being made.

    Returns:
        None if the exception did not come from streamparse's metaclass, or is about something
        that no topology can say, or none of our rules is broken.
    """
    frame = _refusing_frame(error)
    if frame is None:
        return None
    namespace: dict[str, Any] = frame.f_locals["class_dict"]
    file = frame.f_back.f_code.co_filename if frame.f_back else ""
    try:
        bases = [cls for base in frame.f_locals["bases"] for cls in base.__mro__]
        declared = declaration_of(file, namespace["__qualname__"], namespace, bases)
        topology = accepted(declared.topology(None, ANY_ENVIRONMENT))
    except TopologyError as refused:
        return refused
    except TypeError:
        return None
    problems = list(_streams_of_the_system(topology))
    return TopologyError(problems) if problems else None


def _streams_of_the_system(topology: Topology) -> Iterator[Problem]:
    """Inputs from the system, which are valid, but which streamparse looks for in the class."""
    for bolt in topology.bolts:
        for position, found in enumerate(bolt.inputs):
            if found.source.startswith(SYSTEM_PREFIX):
                place = topology.sources.at("components", bolt.id, "inputs", position)
                yield Problem(place, f"bolt {bolt.id!r}, input from {found.source!r}: {_NO_SYSTEM}")


_NO_SYSTEM = (
    "streamparse refuses a class that names a stream of the system: leave the input out, as ticks come "
    "wherever topology.tick.tuple.freq.secs is set, or derive the class from viperstorm.Topology"
)


def _refusing_frame(error: BaseException) -> FrameType | None:
    dsl = sys.modules.get("streamparse.dsl.topology")
    traceback = error.__traceback__
    while dsl is not None and traceback is not None:
        if traceback.tb_frame.f_code is dsl.TopologyType.__new__.__code__:
            return traceback.tb_frame
        traceback = traceback.tb_next
    return None

"""Why streamparse refused a topology class.

streamparse's metaclass stops at the first mistake of a class, and for some it says no more
than ``KeyError``. The body of the class is complete by then, so it is taken from the
traceback and judged by the rules that hold for all topologies, which find all mistakes
and their places.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from framework.adapters.streamparse.topology import declaration_of
from framework.declaration import ANY_ENVIRONMENT, accepted
from framework.errors import TopologyError


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
        accepted(declaration_of(file, namespace["__qualname__"], namespace).topology(None, ANY_ENVIRONMENT))
    except TopologyError as refused:
        return refused
    except TypeError:
        return None
    return None


def _refusing_frame(error: BaseException) -> FrameType | None:
    dsl = sys.modules.get("streamparse.dsl.topology")
    traceback = error.__traceback__
    while dsl is not None and traceback is not None:
        if traceback.tb_frame.f_code is dsl.TopologyType.__new__.__code__:
            return traceback.tb_frame
        traceback = traceback.tb_next
    return None

"""What a topology class said that streamparse refused.

streamparse's metaclass stops at the first mistake of a class, and says ``KeyError`` for
some. The body of the class is complete by then, so it is taken from the traceback, and
validation finds all of its mistakes, and their places.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

from framework.adapters.streamparse.topology import declaration_of
from framework.declaration import Declaration


def salvaged(error: BaseException) -> Declaration | None:
    """The class that an exception kept from being made.

    Returns:
        None if the exception is no refusal by streamparse's metaclass, or the refusal of
        something that no topology can say (TypeError).
    """
    frame = _refusing_frame(error)
    if frame is None or not isinstance(error, ValueError | KeyError):
        return None
    namespace: dict[str, Any] = frame.f_locals["class_dict"]
    file = frame.f_back.f_code.co_filename if frame.f_back else ""
    return declaration_of(file, namespace["__qualname__"], namespace)


def _refusing_frame(error: BaseException) -> FrameType | None:
    dsl = sys.modules.get("streamparse.dsl.topology")
    traceback = error.__traceback__
    while dsl is not None and traceback is not None:
        if traceback.tb_frame.f_code is dsl.TopologyType.__new__.__code__:
            return traceback.tb_frame
        traceback = traceback.tb_next
    return None

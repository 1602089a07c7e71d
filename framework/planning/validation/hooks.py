"""Methods that pystorm's loop calls, and that nothing calls of a component that is hosted.

`Host` and `PortedHost` call everything else that pystorm calls, where a class has a method of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from framework.model.topology import Problem, Topology, about
from framework.planning.traits import base_classes, held_class, is_ported

_OF_THE_LOOP = ("read_handshake", "read_message", "read_command", "_exit")
_OF_PORTED = ("run", *_OF_THE_LOOP)
_OF_PORTED_BOLTS = (*_OF_PORTED, "_batch_entry", "_batch_entry_run", "_handle_worker_exception")
_OF_PORTED_SPOUTS = (*_OF_PORTED, "_run", "is_heartbeat")
_OF_OURS = (
    *_OF_THE_LOOP,
    *("_run", "_setup_component", "_handle_run_exception"),
    *("read_tuple", "read_task_ids", "send_message", "is_heartbeat"),
)
_OF_OUR_BOLTS = (*_OF_OURS, "is_tick")
_LIBRARIES = ("pystorm", "streamparse", "framework")


def check_hooks(topology: Topology) -> Iterator[Problem]:
    """A warning for each class with a method of its own that pystorm would call and nothing calls here."""
    for component in topology.components:
        cls = held_class(component)
        names = [] if cls is None else [name for name in _uncalled(cls) if _is_own(cls, name)]
        if cls is not None and names:
            instead = (
                "run it as Storm would, with viper run --shell"
                if is_ported(cls)
                else "do it in initialize, process, ack, fail or raise_exception"
            )
            message = (
                f"is implemented by {cls.__name__}, whose {' and '.join(names)} pystorm calls in its loop, "
                f"and nothing calls here: {instead}"
            )
            yield about(topology, component, message, warning=True)


def _uncalled(cls: type) -> tuple[str, ...]:
    is_bolt = issubclass(cls, base_classes("Bolt"))
    if is_ported(cls):
        return _OF_PORTED_BOLTS if is_bolt else _OF_PORTED_SPOUTS
    return _OF_OUR_BOLTS if is_bolt else _OF_OURS


def _is_own(cls: type, name: str) -> bool:
    owner = next((base.__module__ for base in cls.__mro__ if name in vars(base)), None)
    return owner is not None and owner.partition(".")[0] not in _LIBRARIES

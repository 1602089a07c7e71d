"""Every error that ViperStorm raises on purpose; `framework.errors` draws how they are related."""

from framework.errors import (
    AnswerError,
    CheckpointError,
    ComponentError,
    ConfigError,
    EmitError,
    InternalError,
    LoadError,
    NoRoomError,
    PlaceError,
    ProgramError,
    RecordingError,
    StateError,
    SuspendError,
    TopologyError,
    ViperError,
    WorkerError,
)

__all__ = [
    "AnswerError",
    "CheckpointError",
    "ComponentError",
    "ConfigError",
    "EmitError",
    "InternalError",
    "LoadError",
    "NoRoomError",
    "PlaceError",
    "ProgramError",
    "RecordingError",
    "StateError",
    "SuspendError",
    "TopologyError",
    "ViperError",
    "WorkerError",
]

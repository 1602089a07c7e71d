"""Every error that ViperStorm raises on purpose; `framework.errors` draws how they are related."""

from framework.errors import (
    AnswerError,
    ComponentError,
    ConfigError,
    EmitError,
    InternalError,
    LoadError,
    NoRoomError,
    PlaceError,
    ProgramError,
    RecordingError,
    SinkError,
    SourceError,
    StateError,
    TopologyError,
    ViperError,
    WorkerError,
)

__all__ = [
    "AnswerError",
    "ComponentError",
    "ConfigError",
    "EmitError",
    "InternalError",
    "LoadError",
    "NoRoomError",
    "PlaceError",
    "ProgramError",
    "RecordingError",
    "SinkError",
    "SourceError",
    "StateError",
    "TopologyError",
    "ViperError",
    "WorkerError",
]

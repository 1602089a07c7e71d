"""Recordings of runs: written while a topology runs, replayed as its input, compared with each other."""

from framework.model.errors import RecordingError
from framework.recording.ancestry import Hop, line_of_descent
from framework.recording.header import Header
from framework.recording.reading import Recorded, Recording, time_of
from framework.recording.replay import (
    RecordedInput,
    RecordedSpout,
    ReplaySource,
    check_replayable,
    replay_ticks,
)
from framework.recording.timeline import ReplayTicks, ScaleChange, Tick, TickKind, append_change
from framework.recording.writing import Recorder, RecordingWriter, TaskRecorder
from viper.jumbo import Emission
from viper.payload import Rows

__all__ = [
    "Emission",
    "Header",
    "Hop",
    "Recorded",
    "RecordedInput",
    "RecordedSpout",
    "Recorder",
    "Recording",
    "RecordingError",
    "RecordingWriter",
    "ReplaySource",
    "ReplayTicks",
    "Rows",
    "ScaleChange",
    "TaskRecorder",
    "Tick",
    "TickKind",
    "append_change",
    "check_replayable",
    "line_of_descent",
    "replay_ticks",
    "time_of",
]

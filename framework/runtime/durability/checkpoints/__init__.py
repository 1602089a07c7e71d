"""Checkpoints: the position of a run on disk, from which another run resumes."""

from framework.runtime.durability.checkpoints.folder import (
    Checkpoint,
    CheckpointFolder,
    folder_of,
    found_at,
    read_checkpoint,
)
from framework.runtime.durability.checkpoints.lock import folder_locked, is_locked, locked

__all__ = [
    "Checkpoint",
    "CheckpointFolder",
    "folder_locked",
    "folder_of",
    "found_at",
    "is_locked",
    "locked",
    "read_checkpoint",
]

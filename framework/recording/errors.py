"""How recording, replaying and comparing tell what went wrong."""

from __future__ import annotations

from framework.errors import ViperError


class RecordingError(ViperError, ValueError):
    """A recording that cannot be written, cannot be read, or is of another topology."""

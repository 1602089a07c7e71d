"""Programs that must succeed, run without the checkout and without settings of whoever runs them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path


class FailedError(Exception):
    """A step of a release failed; the message has all that it printed."""


def succeed(*command: object, cwd: Path, **environ: str) -> str:
    """Run a program with some variables set; its stdout. Raises `FailedError` if it fails or is not there."""
    words = [str(word) for word in command]
    try:
        ran = subprocess.run(words, cwd=cwd, env={**plain(), **environ}, capture_output=True, text=True)
    except OSError as error:
        raise FailedError(f"{' '.join(words)}: {error}") from error
    if ran.returncode:
        raise FailedError(f"{' '.join(words)}: exit code {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


def plain() -> Mapping[str, str]:
    """The environment without what changes an interpreter, a run, or for which processors C is compiled."""
    changing = ("PYTHON", "VIPER_", "VIRTUAL_ENV", "CFLAGS", "CPPFLAGS", "LDFLAGS")
    return {key: value for key, value in os.environ.items() if not key.startswith(changing)}

"""The progress of a Spark job, on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from framework.cli.progress import StatusLine, can_animate

if TYPE_CHECKING:
    from spark_ingest.engine.progress import Progress

_WORDS = {
    "starting": "starting Spark",
    "counting": "counting doubtful timestamps",
    "writing": "writing the streams",
    "finishing": "writing the manifest",
}


@contextmanager
def shown_progress(quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A function that shows a job's progress while the block runs; None if nothing is to be shown."""
    if quiet:
        yield None
        return
    line = StatusLine(sys.stderr, animated=can_animate(sys.stderr))
    begin_s = time.monotonic()

    def show(progress: Progress) -> None:
        elapsed_s = time.monotonic() - begin_s
        line.tell(f"{elapsed_s:6.1f} s  {_text(progress)}", elapsed_s)

    try:
        yield show
    finally:
        line.clear()


def _text(progress: Progress) -> str:
    tasks = f": {progress.done:,} of {progress.total:,} tasks" if progress.total else ""
    return f"{_WORDS.get(progress.stage, progress.stage)}{tasks}"

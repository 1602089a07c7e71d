"""``python -m tests.kills.program FOLDER CASE PAR SETTINGS``: a run that is a process group of its own."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from framework.runtime.coordination.stop import StopReason
from tests.framework.runtime.durability.checkpoints.suspended import suspending
from tests.kills.deaths import watch_leader
from tests.kills.runs import MARGIN_S, SUSPENDED, Case, run_of


def main(folder: str, case: str, par: str, settings: str) -> int:
    """Go on from the last checkpoint; `SUSPENDED` if the run was suspended."""
    watch_leader()
    run = run_of(Case(**json.loads(case)), Path(folder), json.loads(par), **json.loads(settings))
    with suspending(run, margin_s=MARGIN_S) as refused:
        report = run.execute()
    late = "has come to its end|has begun its end"
    assert all(re.search(late, str(error)) for error in refused), refused
    return SUSPENDED if report.reason is StopReason.SUSPENDED else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

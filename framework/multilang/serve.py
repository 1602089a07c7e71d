"""Serves a component of ours as a program: ``python -m framework.multilang.serve module.Class [ARGUMENTS]``.

ARGUMENTS are those of its constructor, as JSON: ``{"args": [], "kwargs": {}}``; either may be left out.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from framework.components import Bolt
from framework.components.component import LOGGER_PREFIX
from framework.components.levels import LEVELS
from framework.importing import import_class
from framework.log import Origin, printing_to_log, speaking_as
from framework.multilang.serving import ServedBolt, ServedSpout
from framework.multilang.telling import Teller, TellingLog
from framework.multilang.wire import Wire
from framework.runtime.hosts.host import Host, Identity


def main(arguments: Sequence[str]) -> None:
    """Serve until stdin ends; the exit status is 1 if the component raises and does not go on after that."""
    wire = Wire.of_this_process()
    path, given = arguments[0], json.loads(arguments[1]) if len(arguments) > 1 else {}
    component: Any = import_class(path)(*given.get("args", ()), **given.get("kwargs", {}))
    host, teller = Host(component), Teller(wire)
    identity = _identity(wire)
    component._collector = teller
    host.tell(identity)
    with speaking_as(Origin(identity.component, identity.task)), printing_to_log():
        host.initialize(identity)
        served = ServedBolt if issubclass(host.cls, Bolt) else ServedSpout
        status = served(host, wire, teller, identity).serve()
        host.close()
    _leave(status)


def _identity(wire: Wire) -> Identity:
    """Shake hands, and have what is logged from now on sent."""
    setup = wire.command()
    conf, context = setup["conf"], setup["context"]
    component, task = context["componentid"], context["taskid"]
    Path(setup["pidDir"], str(os.getpid())).touch()
    wire.send({"pid": os.getpid()})
    level = "debug" if conf.get("topology.debug") else conf.get("pystorm.log.level", "info")
    logging.basicConfig(level=LEVELS[level], handlers=[TellingLog(wire)], format="%(message)s")
    logger = logging.getLogger(f"{LOGGER_PREFIX}.{component}")
    return Identity(conf.get("topology.name", ""), component, task, conf, context, logger)


def _leave(status: int) -> None:
    """End although threads of the component may go on."""
    if threading.active_count() == 1:
        sys.exit(status)
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])

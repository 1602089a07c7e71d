"""Programs that live and do not answer: the log says so, and which key ends that."""

from __future__ import annotations

import logging
import os
import re
import signal
from collections.abc import Iterator

import pytest

from framework.model.errors import ComponentError
from tests.framework.frontends.multilang.conftest import Script
from tests.framework.frontends.multilang.pieces import run_bolt

PROGRAM = """
import json, os, sys

def read():
    lines = []
    while (line := sys.stdin.readline()) != "end\\n":
        if not line:
            sys.exit()
        lines.append(line)
    return json.loads("".join(lines))

def send(message):
    print(json.dumps(message) + "\\nend", flush=True)

setup = read()
"""
SHAKES_HANDS = """
send({"pid": os.getpid()})
"""
READS_ON = """
while True:
    read()
"""
SET = "topology.subprocess.timeout.secs, after which such a program is killed, is {}"


@pytest.fixture(autouse=True)
def told() -> Iterator[list[str]]:
    """The log's lines about callbacks that take long; a program that such a line names is killed."""
    found: list[str] = []

    class Kills(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if " has been in " in (message := record.getMessage()):
                found.append(message)
                if pid := re.search(r"\(pid (\d+),", message):
                    os.kill(int(pid[1]), signal.SIGKILL)

    handler = Kills()
    logging.getLogger().addHandler(handler)
    yield found
    logging.getLogger().removeHandler(handler)


@pytest.mark.parametrize("seconds", [None, 1000])
def test_a_bolt_that_passes_over_heartbeats(script: Script, told: list[str], seconds: int | None) -> None:
    command = script(PROGRAM + SHAKES_HANDS + READS_ON)
    with pytest.raises(ComponentError, match="SIGKILL"):
        run_bolt(
            command,
            ["x"],
            viper__stuck__after__secs=0.1,
            topology__subprocess__timeout__secs=seconds,
        )
    (line,) = told
    assert "has not answered a heartbeat by sync; " in line
    assert line.endswith(SET.format("not set" if seconds is None else seconds))
    assert "multilang/session.py" not in line


def test_a_bolt_that_shakes_no_hands(script: Script, told: list[str]) -> None:
    command = script(PROGRAM + READS_ON)
    with pytest.raises(ComponentError, match="SIGKILL"):
        run_bolt(command, ["x"], viper__stuck__after__secs=0.1)
    (line,) = told
    assert "has not answered the handshake by its pid; " in line

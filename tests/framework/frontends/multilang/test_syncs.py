"""Bolts that send more syncs than heartbeats came to them, of which Storm takes no notice."""

from __future__ import annotations

import pytest

from tests.framework.frontends.multilang.conftest import Script
from tests.framework.frontends.multilang.pieces import run_bolt

ROWS = [[n] for n in range(12)]
PROGRAM = """
    import speaking

    def process(tup):
        {ahead}
        speaking.emit(tup["tuple"], anchors=[tup], need_task_ids=False)
        speaking.ack(tup)
        {behind}

    def heartbeat():
        for _ in range({syncs}):
            speaking.sync()

    speaking.shake_hands()
    while True:
        tup = speaking._command()
        heartbeat() if speaking.is_heartbeat(tup) else process(tup)
    """
SYNC = "speaking.sync()"
LATE = "import time; time.sleep(0.3)"
WAYS = {
    "two for a heartbeat": ("pass", "pass", 2),
    "five for a heartbeat": ("pass", "pass", 5),
    "one ahead of each output": (SYNC, "pass", 1),
    "one behind each answer": ("pass", SYNC, 1),
    "everywhere": (SYNC, SYNC, 3),
}


@pytest.mark.parametrize("way", WAYS)
def test_each_output_stands_below_its_input(script: Script, way: str) -> None:
    ahead, behind, syncs = WAYS[way]
    report = run_bolt(script(PROGRAM.format(ahead=ahead, behind=behind, syncs=syncs)), *ROWS)
    assert report.result("sink") == [tuple(row) for row in ROWS]
    counters = report.components["bolt"]
    assert (counters.emitted, counters.acked, counters.unplanned) == (12, 12, 0)


def test_a_program_that_thinks_for_long_is_waited_for(script: Script) -> None:
    report = run_bolt(script(PROGRAM.format(ahead=LATE, behind="pass", syncs=2)), *ROWS[:4])
    assert report.result("sink") == [tuple(row) for row in ROWS[:4]]


def test_a_program_that_answers_nothing_is_not(script: Script) -> None:
    """Its outputs come all the same: each is taken before the next tuple is sent."""
    text = PROGRAM.format(ahead="pass", behind="pass", syncs=1).replace("speaking.ack(tup)", "pass")
    assert run_bolt(script(text), *ROWS).result("sink") == [tuple(row) for row in ROWS]


def test_a_program_that_takes_the_next_message_for_the_receivers(
    script: Script, caplog: pytest.LogCaptureFixture
) -> None:
    """As on Storm, if no tuple is waiting there: the heartbeat that it has taken for them comes again."""
    command = script(
        """
        import speaking

        def process(tup):
            speaking.say({"command": "emit", "tuple": tup["tuple"], "anchors": [tup["id"]]})
            kinds.append(type(speaking.read()).__name__)
            speaking.emit([kinds[-1]], need_task_ids=False)

        kinds = []
        speaking.run_bolt(process)
        """
    )
    rows = run_bolt(command, *([number] for number in range(5))).result("sink")
    # The first heartbeat came behind its tuple, as a program had to be one that keeps it.
    expected = [[(number,), ("list" if number else "dict",)] for number in range(5)]
    assert rows == [row for pair in expected for row in pair]
    told = [r.getMessage() for r in caplog.records if r.levelname == "WARNING"]
    assert len(told) == 1 and "keep messages that come before the receivers" in told[0]

"""Messages against the protocol that Storm takes of a program: taken, warned of once, and counted."""

from __future__ import annotations

import logging

import pytest

from framework.model.errors import ComponentError
from framework.runtime import RunReport
from tests.framework.frontends.multilang.conftest import Script
from tests.framework.frontends.multilang.pieces import around, run_bolt, run_spout
from tests.framework.runtime.pieces import polled, run_built

ROWS = [["a"], ["b"], ["c"]]
WRITES = """
import sys, speaking

def write(text):
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("latin-1") + b"\\nend\\n")
    sys.stdout.buffer.flush()

"""


def run_tracked(command: tuple[str, str]) -> RunReport:
    """Run a bolt over tuples with ids, of which the report counts how many are acked."""

    def next_tuple(self: object) -> None:
        left = self.__dict__.setdefault("left", [list(row) for row in ROWS])
        if not left:
            raise StopIteration
        row = left.pop(0)
        self.emit(row, tup_id=row[0])  # type: ignore[attr-defined]

    return run_built(around(command, polled(next_tuple)), viper__on__error="stop")


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize(
    ("does", "told", "sent"),
    [
        (
            "speaking.say({'command': 'flush', 'x': 1})",
            "has sent the command 'flush', and not 'ack'",
            "3 unknown commands",
        ),
        (
            "speaking.say({'command': 'Emit ', 'tuple': 5})",
            "has sent the command 'Emit ', and not",
            "3 unknown commands",
        ),
        ("speaking.say({'command': ''})", "has sent the command '', and not", "3 unknown commands"),
        ("speaking.end()", "has sent the command 'end', and not", "3 unknown commands"),
        (
            """write('{"command": "log", "msg": "caf\\xe9"}')""",
            "that are no UTF-8, such as b'\\xe9', which are taken for U+FFFD, as on Storm; write UTF-8, or",
            "3 messages that are no UTF-8",
        ),
        (
            """write('{"command": "log", "msg": "x"}\\nforgotten')""",
            "has written 'forgotten' behind a message, which is passed over",
            "3 messages with more behind them",
        ),
    ],
)
def test_it_is_told_of_once_and_counted(
    script: Script, does: str, told: str, sent: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    command = script(
        f"{WRITES}speaking.run_bolt(lambda tup: (speaking.emit(tup['tuple'], anchors=[tup]), {does}))"
    )
    report = run_tracked(command)
    assert report.result("sink") == [tuple(row) for row in ROWS]
    assert report.components["source"].acked == 3
    (warning,) = warnings(caplog)
    assert warning.startswith("the program ") and told in warning and "as on Storm" in warning
    assert any(record.getMessage().endswith(f"has sent {sent}") for record in caplog.records)


@pytest.mark.parametrize(
    "fields",
    [
        "'anchors': tup['id']",
        "'anchors': [tup['id'], tup['id']]",
        "'anchors': [int(tup['id'])]",
        "'anchors': None",
        "'stream': None, 'task': None, 'id': None, 'anchors': [tup['id']]",
        "'task': 0, 'anchors': [tup['id']]",
        "'when': 5, 'msg': None, 'level': 'x', 'anchors': [tup['id']]",
    ],
)
def test_fields_of_an_emit(script: Script, fields: str, caplog: pytest.LogCaptureFixture) -> None:
    emit = f"{{'command': 'emit', 'tuple': tup['tuple'], 'need_task_ids': False, {fields}}}"
    report = run_tracked(script(f"import speaking\nspeaking.run_bolt(lambda tup: speaking.say({emit}))"))
    assert report.result("sink") == [tuple(row) for row in ROWS]
    assert (report.components["source"].acked, warnings(caplog)) == (3, [])


@pytest.mark.parametrize("wanted", ["{}", "{'need_task_ids': None}", "{'need_task_ids': True}"])
def test_receivers_are_told_unless_they_are_not_wanted(script: Script, wanted: str) -> None:
    """Storm's `JsonSerializer` takes null for a field that is not there."""
    command = script(
        f"""
        import speaking

        def process(tup):
            speaking.say({{"command": "emit", "tuple": ["first"], **{wanted}}})
            speaking.emit([speaking._ids()])

        speaking.run_bolt(process)
        """
    )
    assert run_bolt(command, ["x"]).result("sink") == [("first",), ([2],)]


def test_levels_and_texts_of_a_log(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    """A level that is none is info, and so are numbers out of range, truth and texts."""
    caplog.set_level(logging.DEBUG)
    command = script(
        """
        import speaking

        def process(tup):
            for level in (None, 0, 1, 2, 3, 4, 5, -1, True, "3", 2.0, [4]):
                speaking.say({"command": "log", "msg": repr(level), "level": level})
            for text in (None, {"a": "é"}, 5):
                speaking.say({"command": "log", "msg": text})
            speaking.say({"command": "log"})
            speaking.say({"command": "error"})

        speaking.run_bolt(process)
        """
    )
    assert run_bolt(command, ["x"]).components["bolt"].errors == 1
    logged = [(r.getMessage(), r.levelname) for r in caplog.records if r.name == "viperstorm.component.bolt"]
    others = {"1": "DEBUG", "2": "INFO", "3": "WARNING", "4": "ERROR"}
    levels = ["None", "0", "1", "2", "3", "4", "5", "-1", "True", "'3'", "2.0", "[4]"]
    expected = [(level, "DEBUG" if level == "0" else others.get(level, "INFO")) for level in levels]
    texts = [("null", "INFO"), ('{"a": "é"}', "INFO"), ("5", "INFO"), ("null", "INFO"), ("null", "ERROR")]
    assert logged == [*expected, *texts]


def test_a_spout_is_as_strict_as_on_storm(script: Script) -> None:
    command = script(
        "import speaking\nspeaking.run_spout({'next': lambda id: speaking.say({'command': 'flush'})})"
    )
    with pytest.raises(
        ComponentError, match=r"has sent \{'command': 'flush'\}: expected 'emit', 'end', 'error'"
    ):
        run_spout(command)


def test_a_handshake_without_a_pid(script: Script, caplog: pytest.LogCaptureFixture) -> None:
    command = script(
        """
        import speaking
        setup = speaking.read()
        speaking.say({"hello": 1})
        speaking.shake_hands = lambda: (setup["conf"], setup["context"])
        speaking.run_bolt(lambda tup: speaking.emit(tup["tuple"]))
        """
    )
    assert run_bolt(command, ["x"]).result("sink") == [("x",)]
    (warning,) = warnings(caplog)
    assert "has answered {'hello': 1} without its pid, which does on Storm, too" in warning


def test_json_of_many_levels_names_the_program(script: Script) -> None:
    text = f'{{"command": "emit", "tuple": [{"[" * 3000}1{"]" * 3000}]}}'
    command = script(f"{WRITES}speaking.run_bolt(lambda tup: write({text!r}))")
    with pytest.raises(ComponentError) as error:
        run_bolt(command, ["x"])
    said = str(error.value)
    assert command[1] in said and "more than 400 levels of lists and objects, as on Storm" in said
    assert "RecursionError" not in said and len(said) < 2_000


def test_values_of_four_hundred_levels_are_carried(script: Script) -> None:
    """As many as Storm takes; also to another program, and back."""
    text = f'{{"command": "emit", "tuple": [{"[" * 398}1{"]" * 398}], "need_task_ids": false}}'
    command = script(f"{WRITES}speaking.run_bolt(lambda tup: write({text!r}))")
    (row,) = run_bolt(command, ["x"]).result("sink")
    value, depth = row[0], 0
    while isinstance(value, list):
        (value,), depth = value, depth + 1
    assert (value, depth) == (1, 398)


def test_a_last_message_whose_end_is_not_a_line_is_taken(script: Script) -> None:
    """Java reads the last line of a text with or without its end."""
    command = script(
        """
        import sys, speaking
        speaking.shake_hands()
        while True:
            try:
                tup = speaking.read()
            except SystemExit:
                sys.stdout.write('{"command": "emit", "tuple": ["last"], "need_task_ids": false}\\nend')
                sys.exit()
            if tup["stream"] == "__heartbeat":
                speaking.sync()
            else:
                speaking.ack(tup)
        """
    )
    assert run_bolt(command, ["x"]).result("sink") == [("last",)]


def test_what_a_failed_program_has_said_is_shown_in_part(script: Script) -> None:
    command = script(
        """
        import sys, speaking

        def process(tup):
            speaking.error("x" * 1_000_000)
            print("y" * 60_000, file=sys.stderr)
            sys.exit(1)

        speaking.run_bolt(process)
        """
    )
    with pytest.raises(ComponentError) as error:
        run_bolt(command, ["x"])
    assert 11_000 < len(str(error.value)) < 15_000

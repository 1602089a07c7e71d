"""Log records say which component and task they come from."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator

import pytest

from framework.operators.log import Origin, ask_in_this_thread, attached_origins, current_origin, speaking_as
from tests.framework.operators.log.records import Kept


@pytest.fixture
def kept() -> Iterator[Kept]:
    handler, root = Kept(), logging.getLogger()
    root.addHandler(handler)
    yield handler
    root.removeHandler(handler)


def attached(record: logging.LogRecord) -> tuple[object, object]:
    return record.viper_component, record.viper_task  # type: ignore[attr-defined]


def test_every_logger_of_a_thread_speaks_for_who_is_called_there(kept: Kept) -> None:
    with attached_origins(), speaking_as(Origin("count", 4)):
        logging.getLogger("myapp").warning("one")
        logging.getLogger("viperstorm.component.other").warning("two")
    assert [attached(record) for record in kept.records] == [("count", 4)] * 2


def test_other_threads_are_known_by_their_logger_alone(kept: Kept) -> None:
    def log() -> None:
        logging.getLogger("myapp").warning("one")
        logging.getLogger("viperstorm.component.count").warning("two")

    with attached_origins(), speaking_as(Origin("count", 4)):
        thread = threading.Thread(target=log)
        thread.start()
        thread.join()
    assert [attached(record) for record in kept.records] == [(None, None), ("count", None)]


def test_who_is_asked_tells_who_speaks_right_now() -> None:
    current: list[Origin | None] = [Origin("split", 2)]
    ask_in_this_thread(lambda: current[0])
    try:
        assert current_origin() == Origin("split", 2)
        with speaking_as(Origin("count", 4)):
            assert current_origin() == Origin("count", 4)
        current[0] = None
        assert current_origin() is None
    finally:
        ask_in_this_thread(None)


def test_how_records_are_made_is_put_back() -> None:
    before = logging.getLogRecordFactory()
    with attached_origins():
        with attached_origins():
            pass
        assert logging.getLogRecordFactory() is not before
    assert logging.getLogRecordFactory() is before


def test_a_factory_of_the_users_is_kept(kept: Kept) -> None:
    class Own(logging.LogRecord):
        pass

    before = logging.getLogRecordFactory()
    logging.setLogRecordFactory(Own)
    try:
        with attached_origins():
            logging.getLogger("myapp").warning("one")
        assert logging.getLogRecordFactory() is Own
    finally:
        logging.setLogRecordFactory(before)
    assert [type(record) for record in kept.records] == [Own]


def test_what_is_logged_may_have_attributes_of_the_same_plain_names(kept: Kept) -> None:
    with attached_origins():
        logging.getLogger("myapp").warning("one", extra={"component": "mine", "task": 1, "pid": 2})
    assert kept.records[0].component == "mine"  # type: ignore[attr-defined]

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.framework.operators.kafka.broker import Broker, reason_to_skip


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker for all tests, which use topics of their own."""
    if (reason := reason_to_skip()) is not None:
        pytest.skip(reason)
    made = Broker(tmp_path_factory.mktemp("kafka"))
    try:
        made.start()
        yield made
    finally:
        made.kill()


@pytest.fixture
def topic(broker: Broker) -> str:
    """A topic of three partitions."""
    return broker.another()

"""The life of a process; that it ends with the process is tested in C, and by those who watch deaths."""

from __future__ import annotations

import threading

import pytest

from viper.arena import Arena
from viper.errors import ArenaError
from viper.life import Life

TIMEOUT_S = 60.0


def test_it_lasts_until_the_thread_ends_that_has_begun_it() -> None:
    arena = Arena.private(10_000)
    life = Life.create(arena)
    if life is None:
        pytest.skip("the system knows none")
    assert life.await_end()  # nobody has begun it
    begun, may_end = threading.Event(), threading.Event()

    def live() -> None:
        assert Life.attach(arena, life.offset).begin()
        begun.set()
        may_end.wait(TIMEOUT_S)

    for _ in range(2):
        living = threading.Thread(target=live)
        awaiting = threading.Thread(target=life.await_end)
        living.start()
        assert begun.wait(TIMEOUT_S)
        awaiting.start()
        assert awaiting.is_alive()
        may_end.set()
        for thread in (living, awaiting):
            thread.join(TIMEOUT_S)
            assert not thread.is_alive()
        begun.clear()
        may_end.clear()


def test_nothing_lies_at_an_offset_that_was_not_allocated() -> None:
    with pytest.raises(ArenaError, match="no region"):
        Life.attach(Arena.private(1_000), 512)

"""Worker processes are asked where their tasks are, and some do not answer."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

from framework.runtime.observation.stacks import Stacks, TaskStack
from framework.runtime.workers.messages import TellStacks
from framework.runtime.workers.supervisor import StackInquiry


def worker(pid: int, *, gone: bool = False) -> Any:
    sent: list[object] = []
    return SimpleNamespace(process=SimpleNamespace(pid=pid), gone=gone, send=sent.append, sent=sent)


class Patience:
    """In the place of an inquiry's event: it is over once the leading thread has done its part."""

    def __init__(self) -> None:
        self.led = threading.Event()

    def clear(self) -> None: ...

    def set(self) -> None: ...

    def wait(self, patience_s: float) -> None:
        assert self.led.wait(60)


def asked(inquiry: StackInquiry, lead: Any, woken: threading.Event) -> Stacks:
    """Ask from another thread, and lead the processes in this one."""
    found: list[Stacks] = []
    patience: Any = Patience()
    inquiry._complete = patience
    thread = threading.Thread(target=lambda: found.append(inquiry.ask()))
    thread.start()
    assert woken.wait(60)
    lead()
    patience.led.set()
    thread.join()
    return found[0]


STACKS = [TaskStack(f"count:{task}", pid, "process", "  File ...") for task, pid in ((1, 11), (2, 12))]


def test_all_that_is_told_is_given_by_task() -> None:
    woken, workers = threading.Event(), [worker(12), worker(11), worker(13, gone=True)]
    inquiry = StackInquiry(woken.set)

    def lead() -> None:
        inquiry.pass_on(workers)
        inquiry.hear(12, Stacks(STACKS[1:]))
        inquiry.hear(11, Stacks(STACKS[:1]))
        inquiry.pass_on(workers)

    assert asked(inquiry, lead, woken) == Stacks(STACKS, [], [])
    assert [w.sent for w in workers] == [[TellStacks()], [TellStacks()], []]


def test_who_is_silent_is_named_and_who_has_died_is_not_awaited() -> None:
    woken = threading.Event()
    inquiry = StackInquiry(woken.set)

    def lead() -> None:
        inquiry.pass_on([worker(11), worker(12), worker(13)])
        inquiry.hear(11, Stacks(STACKS[:1]))
        inquiry.leave_out(12)

    assert asked(inquiry, lead, woken) == Stacks(STACKS[:1], [13], [])


def test_what_comes_too_late_is_no_answer_to_the_next_inquiry() -> None:
    woken = threading.Event()
    inquiry = StackInquiry(woken.set)
    assert asked(inquiry, lambda: inquiry.pass_on([worker(11)]), woken).silent == [11]
    inquiry.hear(11, Stacks(STACKS[:1]))
    woken.clear()
    assert asked(inquiry, lambda: inquiry.pass_on([]), woken) == Stacks([], [], [])


def test_nobody_waits_longer_than_for_the_last_answer() -> None:
    inquiry = StackInquiry(lambda: inquiry.pass_on([]))
    assert inquiry.ask() == Stacks([], [], [])
    told = StackInquiry(lambda: (told.pass_on([worker(11)]), told.hear(11, Stacks(STACKS[:1])))[0])
    assert told.ask() == Stacks(STACKS[:1], [], [])

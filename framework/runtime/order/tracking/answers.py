"""The answers of a component: which tuples are still open, and which answers and anchors are mistakes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from framework.model.errors import AnswerError
from framework.runtime.observation.counters import TaskCounters

MOST_KEPT = 1_000_000
"""Tuples whose ids are kept. Of a component that never answers any, the others are only counted."""


class Unanswered:
    """Knows which tuples are unanswered; answers may come from any thread.

    Args:
        most: the number of tuples whose ids are kept.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._open: dict[str, None] = {}
        self._given_up = 0
        """Tuples whose ids are not kept any more."""
        self._has_received = self._may_miss = False
        self._on_last: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return len(self._open) + self._given_up

    def watch(self, call: Callable[[], None]) -> None:
        """Have something called whenever the last unanswered tuple is answered, in the answering thread."""
        self._on_last = call

    def receive(self, tup: Any) -> None:
        """Note that the component gets a tuple."""
        self._open[tup.id] = None
        self._has_received = True
        if len(self._open) > self._most:
            self._open.pop(next(iter(self._open)), None)
            self._given_up += 1
            self._may_miss = True

    def expect_unknown(self) -> None:
        """Expect that the component may answer, and anchor to, tuples that are not known here."""
        self._may_miss = True

    def may_be_open(self, tup_id: str) -> bool:
        """True unless a tuple that nobody tracks was never received, or was answered before."""
        return self._may_miss or tup_id in self._open

    @property
    def knows_all(self) -> bool:
        """True if the component answers itself, and each untracked tuple that it has received is known."""
        return self._has_received and not self._may_miss

    def answer(self, tup: Any) -> None:
        """Note the answer to a tuple, passed itself or by its id; or that nobody waits for it any more."""
        if not self._open:  # as always where tuples are tracked
            return
        if self._open.pop(id_of(tup), 0) is None and not self:
            self._on_last()

    def let_go(self) -> int:
        """Forget all of them, as the component is gone; returns how many they were."""
        count = len(self)
        self._open, self._given_up = {}, 0
        return count


def id_of(tup: Any) -> str:
    """The id of a tuple that is given itself or by its id."""
    return tup if isinstance(tup, str) else str(tup.id)


_STRICT = "(viper.answers: strict)"
_UNKNOWN = "has been answered before, or was never received"
_FIRST_ANSWER = "only the first answer to a tuple counts; further ones are counted, and not told of"
_WITHOUT_ANCHOR = (
    "the emit counts without that anchor, where Storm would end the worker; emit before the ack; "
    "further ones are counted (closed_anchors), and not told of"
)


class Mistakes:
    """Counts a bolt's answers and anchors that name no open tuple, at which Storm ends the worker.

    Args:
        counters: the task's.
        logger: the component's.
        strict: whether each is an error.
    """

    def __init__(self, counters: TaskCounters, logger: logging.Logger, *, strict: bool) -> None:
        self._counters = counters
        self._logger = logger
        self._strict = strict
        self._reported: set[str] = set()
        """The consequences that have been logged."""

    def answer(self, verb: str, tup_id: str, why: str) -> None:
        """Count an ack or a fail that is not the first of its tuple.

        Raises:
            AnswerError: answers are strict.
        """
        self._counters.second_answers += 1
        self._report(f"{verb} tuple {tup_id}, which {why}", "; a tuple is answered once", _FIRST_ANSWER)

    def unknown_answer(self, verb: str, tup_id: str) -> None:
        """Report an ack or a fail of a tuple that is not open; errors as for `answer`."""
        self.answer(verb, tup_id, _UNKNOWN)

    def anchor(self, tup_id: str) -> None:
        """Count an emit that is anchored to a tuple that is not open; errors as for `answer`."""
        self._counters.closed_anchors += 1
        self._report(f"anchors to tuple {tup_id}, which {_UNKNOWN}", "", _WITHOUT_ANCHOR)

    def _report(self, mistake: str, rule: str, consequence: str) -> None:
        """Raise the mistake where answers are strict, or log it with its consequence, once for each."""
        if self._strict:
            raise AnswerError(f"{mistake}{rule} {_STRICT}")
        if consequence not in self._reported:
            self._reported.add(consequence)
            self._logger.warning("%s: %s", mistake, consequence)

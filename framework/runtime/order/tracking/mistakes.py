"""Answers and anchors of a bolt that name a tuple which is not open: counted, and told of once."""

from __future__ import annotations

import logging

from framework.model.errors import AnswerError
from framework.runtime.observation.counters import TaskCounters

_STRICT = "(viper.answers: strict)"
_UNKNOWN = "has been answered before, or was never received"


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
        self._has_told_of_answer = self._has_told_of_anchor = False

    def answer(self, verb: str, tup_id: str, why: str) -> None:
        """An ack or a fail is not the first of its tuple.

        Raises:
            AnswerError: answers are strict.
        """
        self._counters.second_answers += 1
        told = f"{verb} tuple {tup_id}, which {why}"
        if self._strict:
            raise AnswerError(f"{told}; a tuple is answered once {_STRICT}")
        if not self._has_told_of_answer:
            self._has_told_of_answer = True
            self._logger.warning(
                "%s: only the first answer to a tuple counts; further ones are counted, and not told of", told
            )

    def unknown_answer(self, verb: str, tup_id: str) -> None:
        """An ack or a fail names a tuple that is not open; errors as for `answer`."""
        self.answer(verb, tup_id, _UNKNOWN)

    def anchor(self, tup_id: str) -> None:
        """An emit is anchored to a tuple that is not open.

        Raises:
            AnswerError: answers are strict.
        """
        self._counters.closed_anchors += 1
        told = f"anchors to tuple {tup_id}, which {_UNKNOWN}"
        if self._strict:
            raise AnswerError(f"{told} {_STRICT}")
        if not self._has_told_of_anchor:
            self._has_told_of_anchor = True
            self._logger.warning(
                "%s: the emit counts without that anchor, where Storm would end the worker; emit before the "
                "ack; further ones are counted (closed_anchors), and not told of",
                told,
            )

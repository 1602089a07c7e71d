"""What answers for the tuples of a bolt's task."""

from __future__ import annotations

from framework.runtime.edges.collector import TaskCollector
from framework.runtime.hosts.host import Identity
from framework.runtime.tracking.acker import Answers
from viper.forest import Forest
from viper.rows import Inbox


def make_answers(
    forest: Forest | None, task: int, inbox: Inbox, collector: TaskCollector, identity: Identity
) -> Answers | None:
    """Answers for the tuples of a task, connected with its collector; None where nothing is tracked.

    Args:
        forest: holds the trees.
        task: id of the task.
        inbox: says which tuple is in process.
        collector: the task's.
        identity: what its component is told about itself.
    """
    if forest is None:
        return None
    strict = identity.conf["viper.answers"] == "strict"
    counters, logger = collector.counters, identity.logger
    collector.answers = Answers(forest, task, task - 1, inbox, counters, logger, strict=strict)
    return collector.answers

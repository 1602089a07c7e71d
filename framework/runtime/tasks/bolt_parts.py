"""What does the work of a bolt's task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from framework.runtime.order.tracking.acker import Acker
from framework.runtime.tasks.agenda import Agenda
from framework.runtime.tasks.answering import Answering
from framework.runtime.tasks.awaited import Awaited
from framework.runtime.tasks.bolt_assigner import BoltAssigner
from framework.runtime.tasks.bolt_cut import BoltCut
from framework.runtime.tasks.hand_over import HandOver
from framework.runtime.tasks.interludes import Interludes
from framework.runtime.tasks.membership import Membership
from framework.runtime.tasks.processors import Processor
from framework.runtime.tasks.sink_commits import SinkCommits


@dataclass(frozen=True, slots=True)
class BoltParts:
    """What does the work of a bolt's task."""

    assigner: BoltAssigner
    """Gives outputs their positions."""
    processor: Processor
    """Gives tuples to the component."""
    interludes: Interludes
    """Call the component for what is no input."""
    answering: Answering
    """Answers for the tuples of a slice."""
    acker: Acker | None
    """Knows which tracked tuples are unanswered; None where none are tracked."""
    awaited: Awaited
    """Has the task wait for what a component has not answered that answers itself."""
    largest_slice: int | None
    """As `Task.largest_slice`."""
    commits: SinkCommits | None
    """Tells a transactional sink when to apply what it has taken; None for other components."""
    cut: BoltCut | None
    """Where the task is saved for checkpoints, or hands key groups over; None where it never does."""
    hand_over: HandOver | None
    """Hands key groups over, and takes others; None where its component keeps its tasks."""
    membership: Membership | None
    """Its part in a group of shared tables; None for a component that names none."""
    make_agenda: Callable[[], Agenda]
    """Makes the list of what is due; called when the component has been initialized, which may have a say."""

"""Recovery without a difference: what a killed worker process had not committed is done once more.

Every task keeps a page in shared memory: how far it has come in its inputs and outputs, whose turn it is in
each grouping, how far its clock and its ticks are. All of it changes at a commit, behind a slice of whose
outputs none waits any more, or not at all. A successor begins there, repeats the slice that was cut off, and
leaves out what its consumers have already.
"""

from framework.runtime.durability.recovery.commits import Commits
from framework.runtime.durability.recovery.memory import RecoveryMemory, Repeat, Suspect

__all__ = ["Commits", "RecoveryMemory", "Repeat", "Suspect"]

"""The bolt of the operator layer."""

from __future__ import annotations

from framework.operators.components.batch_bolt import BatchBolt


class MergeBolt(BatchBolt):
    """Passes on what it receives, which its task has put into one order; nobody names it in a topology.

    Its task hands whole batches on by itself, so nothing here is called for tuples.
    """

"""Components of streamparse's, as the tests of hosting have them."""

from __future__ import annotations

from streamparse import BatchingBolt, Bolt, Spout, TicklessBatchingBolt

from tests.framework.hosting import mixins


class Lists(mixins.Lists, Spout):
    """As the mixin."""


class Timed(mixins.Timed, Spout):
    """As the mixin."""


class Words(mixins.Words, Spout):
    """As the mixin."""


class Passes(mixins.Passes, Bolt):
    """As the mixin."""


class Evaluates(mixins.Evaluates, Bolt):
    """As the mixin."""


class Reuses(mixins.Reuses, Spout):
    """As the mixin."""


class Spoils(mixins.Spoils, Bolt):
    """As the mixin."""


class ToldSpout(mixins.ToldSpout, Spout):
    """As the mixin."""


class ToldBolt(mixins.ToldBolt, Bolt):
    """As the mixin."""


class SaysContext(mixins.SaysContext, Bolt):
    """As the mixin."""


class Speaks(mixins.Speaks, Bolt):
    """As the mixin."""


class Prints(mixins.Prints, Bolt):
    """As the mixin."""


class Undeclared(mixins.Undeclared, Bolt):
    """As the mixin."""


class Touchy(mixins.Touchy, Bolt):
    """As the mixin."""


class Floods(mixins.Floods, Spout):
    """As the mixin."""


class Lags(mixins.Lags, Bolt):
    """As the mixin."""


class Waits(mixins.Waits, Spout):
    """As the mixin."""


class Opens(mixins.Opens, Bolt):
    """As the mixin."""


class SaysWord(mixins.SaysWord, Bolt):
    """As the mixin."""


class SaysTuple(mixins.SaysTuple, Bolt):
    """As the mixin."""


class Misspells(mixins.Misspells, Bolt):
    """As the mixin."""


class Ticked(mixins.Ticked, Bolt):
    """As the mixin."""


class Batches(mixins.Batches, BatchingBolt):
    """As the mixin."""


class SurvivingBatches(mixins.SurvivingBatches, BatchingBolt):
    """As the mixin."""


class BatchesOfTimer(mixins.BatchesOfTimer, TicklessBatchingBolt):
    """As the mixin."""


class UntilMarked(mixins.UntilMarked, Spout):
    """As the mixin."""


class SaysContextFirst(mixins.SaysContext, Spout):
    """As the mixin."""


class NotesAnswers(mixins.NotesAnswers, Bolt):
    """As the mixin."""


class NotesBatches(mixins.NotesBatches, BatchingBolt):
    """As the mixin."""


class NotesTimedBatches(mixins.NotesBatches, TicklessBatchingBolt):
    """As the mixin."""

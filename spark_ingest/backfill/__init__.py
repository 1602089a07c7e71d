"""Topologies over histories too large for one machine: their bolts inside Spark's executors."""

from spark_ingest.backfill.errors import BackfillError, understood
from spark_ingest.backfill.running import Backfill, backfill
from spark_ingest.backfill.storing import backfill_to

__all__ = ["Backfill", "BackfillError", "backfill", "backfill_to", "understood"]

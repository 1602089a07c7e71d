"""What a run shows of itself: the totals of one moment (`RunSnapshot`), and rates between two (`Recent`).

Tables, ``viper top`` and exporters all read these; they ask no task and know no other part of a run.
"""

from framework.observing.rates import ComponentRates, Recent, rates_between
from framework.observing.snapshot import ComponentSnapshot, RunSnapshot, TaskSnapshot

__all__ = ["ComponentRates", "ComponentSnapshot", "Recent", "RunSnapshot", "TaskSnapshot", "rates_between"]

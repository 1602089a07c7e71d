"""Controllers, which decide how many tasks a bolt has while its run goes on; see ``docs/controllers.md``."""

from framework.operators.controllers.controller import Controller, Measurements
from framework.operators.controllers.making import Schedule
from framework.operators.controllers.predictive import Predictive
from framework.operators.controllers.thresholds import Thresholds

__all__ = ["Controller", "Measurements", "Predictive", "Schedule", "Thresholds"]

"""Controllers, which decide how many tasks a bolt has while its run goes on; see ``docs/controllers.md``."""

from framework.controllers.controller import Controller, Measurements
from framework.controllers.predictive import Predictive
from framework.controllers.schedule import Schedule
from framework.controllers.thresholds import Thresholds

__all__ = ["Controller", "Measurements", "Predictive", "Schedule", "Thresholds"]

"""Validation: everything that is wrong with a topology, found before anything starts."""

from framework.validation.isolation import check_isolation
from framework.validation.runnable import check_runnable
from framework.validation.validate import validate

__all__ = ["check_isolation", "check_runnable", "validate"]

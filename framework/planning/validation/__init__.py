"""Validation: everything that is wrong with a topology, found before anything starts."""

from framework.planning.validation.guarantees import guarantees
from framework.planning.validation.running import check_isolation, check_runnable
from framework.planning.validation.validate import validate

__all__ = ["check_isolation", "check_runnable", "guarantees", "validate"]

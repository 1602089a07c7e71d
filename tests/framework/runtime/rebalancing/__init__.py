"""Tests of runs that move their bolts."""

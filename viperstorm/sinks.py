"""Bolts for the end of a topology; see `framework.sinks`."""

from framework.sinks import CollectingSink, ConsoleSink, CountingSink, Sink

__all__ = ["CollectingSink", "ConsoleSink", "CountingSink", "Sink"]

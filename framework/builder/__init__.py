"""Topologies built call by call, in the manner of Storm's TopologyBuilder."""

from framework.builder.builder import TopologyBuilder
from framework.builder.declarers import BoltDeclarer, SpoutDeclarer
from framework.builder.foreign import Foreign, java, shell

__all__ = ["BoltDeclarer", "Foreign", "SpoutDeclarer", "TopologyBuilder", "java", "shell"]

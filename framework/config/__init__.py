"""Configuration: the keys, their defaults, and the layers that override them."""

from framework.config.keys import KEYS, Key
from framework.config.layers import (
    STREAMPARSE_FILE,
    is_of_streamparse,
    parse_option,
    project_files,
    streamparse_topologies,
)
from framework.config.resolve import component_conf, resolve, task_count
from framework.config.rules import AUTO_WORKERS
from framework.config.settings import Settings

__all__ = [
    "AUTO_WORKERS",
    "KEYS",
    "STREAMPARSE_FILE",
    "Key",
    "Settings",
    "component_conf",
    "is_of_streamparse",
    "parse_option",
    "project_files",
    "resolve",
    "streamparse_topologies",
    "task_count",
]

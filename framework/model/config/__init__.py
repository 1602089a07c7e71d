"""Configuration: the keys, their defaults, and the layers that override them."""

from framework.model.config.keys import KEYS, Key
from framework.model.config.layers import (
    STREAMPARSE_FILE,
    is_of_streamparse,
    parse_option,
    project_files,
    streamparse_topologies,
)
from framework.model.config.resolve import component_conf, resolve, task_count
from framework.model.config.rules import AUTO_WORKERS
from framework.model.config.settings import Settings

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

"""Configuration: the keys, their defaults, and the layers that override them."""

from framework.config.component import component_conf, task_count
from framework.config.files import project_files
from framework.config.keys import KEYS, Key
from framework.config.options import parse_option
from framework.config.resolve import resolve
from framework.config.settings import Settings

__all__ = [
    "KEYS",
    "Key",
    "Settings",
    "component_conf",
    "parse_option",
    "project_files",
    "resolve",
    "task_count",
]

"""The command that adds the packages that a Spark job needs to this installation."""

from __future__ import annotations

import json
from urllib.parse import unquote, urlsplit

_NAME = "viperstorm"


def install_command(extra: str = "spark") -> str:
    """The command that installs an extra from where pip has installed ViperStorm from."""
    return f"pip install '{_requirement(_origin(), extra)}'"


def _requirement(origin: str | None, extra: str) -> str:
    """Name what pip is to install: a folder or file, else a URL, else the name for an index that knows it.

    Args:
        origin: the URL that the distribution was installed from; None for an index.
        extra: of the distribution.
    """
    if origin is None:
        return f"{_NAME}[{extra}]"
    parts = urlsplit(origin)
    if parts.scheme == "file":
        return f"{unquote(parts.path)}[{extra}]"
    return f"{_NAME}[{extra}] @ {origin}"


def _origin() -> str | None:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        written = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        written = None
    if written is None:
        return None
    found = json.loads(written)
    system = found.get("vcs_info", {}).get("vcs")
    return f"{system}+{found['url']}" if system else str(found["url"])

"""The package to install is named by where this installation came from: no index has to know it."""

from __future__ import annotations

import json
from importlib import metadata
from typing import Any

import pytest

from spark_ingest.engine.installing import install_command

AT = {"vcs": "git", "commit_id": "0" * 40}


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        (
            {"url": "file:///home/me/viper%20storm", "dir_info": {"editable": True}},
            "pip install '/home/me/viper storm[spark]'",
        ),
        (
            {"url": "file:///tmp/viperstorm-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install '/tmp/viperstorm-0.1.0-py3-none-any.whl[spark]'",
        ),
        (
            {"url": "https://example.org/viperstorm.git", "vcs_info": AT},
            "pip install 'viperstorm[spark] @ git+https://example.org/viperstorm.git'",
        ),
        (None, "pip install 'viperstorm[spark]'"),
    ],
)
def test_the_command(origin: dict[str, Any] | None, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Installed:
        def read_text(self, name: str) -> str | None:
            assert name == "direct_url.json"
            return None if origin is None else json.dumps(origin)

    monkeypatch.setattr(metadata, "distribution", lambda name: Installed())
    assert install_command() == command

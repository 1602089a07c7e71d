"""Declared state in the front ends: topologies in YAML, the summary of a run, its plan, its validation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from framework.cli.main import main
from tests.framework.operators.state.remembering import Words

YAML = """
name: counting
config: {viper.key.groups: 8}
spouts: [{id: words, className: tests.framework.operators.state.remembering.Words, constructorArgs: [100]}]
bolts:
  - {id: count, className: tests.framework.operators.state.remembering.Counts, parallelism: 3}
  - {id: owns, className: tests.framework.operators.state.remembering.Owns, parallelism: 3}
  - {id: out, className: viperstorm.sinks.CollectingSink}
streams:
  - {from: words, to: count, grouping: {type: FIELDS, args: [word]}}
  - {from: words, to: owns, grouping: {type: ALL}}
  - {from: count, to: out, grouping: {type: GLOBAL}}
"""


def counted() -> list[tuple[str, int]]:
    """Each word of the spout with how often it came."""
    words = [word for word, _ in Words(100).tuples()]
    return [(word, words[: index + 1].count(word)) for index, word in enumerate(words)]


class TestFrontEnds:
    @pytest.fixture
    def path(self, tmp_path: Path) -> str:
        (tmp_path / "counting.yaml").write_text(YAML)
        return str(tmp_path / "counting.yaml")

    @staticmethod
    def viper(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments)

    def test_yaml(self, path: str) -> None:
        ran = self.viper("run", path, "-q", "--json", "-o", "viper.worker=inline")
        assert ran.exit_code == 0, ran.output
        results = json.loads(ran.stdout)["results"]["out"][0]
        assert [tuple(row) for row in results] == counted()

    def test_the_summary_tells_what_is_remembered(self, path: str) -> None:
        ran = self.viper("run", path, "-o", "viper.worker=inline")
        assert "state of count: seen 40 keys" in ran.output

    def test_the_plan_shows_states_and_their_keys(self, path: str) -> None:
        ran = self.viper("plan", path)
        header, row = "state of  name  kind   holds  per  key", "count     seen  value  int64  key  word"
        assert f"\n{header}\n{row}\n" in ran.output
        made = json.loads(self.viper("plan", path, "--json").stdout)
        assert made["states"][0] == {
            **{"component": "count", "name": "seen", "kind": "value", "types": "int64", "per": "key"},
            "key": {"words.default": ["word"]},
        }

    def test_validate_refuses_with_the_line(self, path: str) -> None:
        Path(path).write_text(YAML.replace("FIELDS, args: [word]", "SHUFFLE"))
        ran = self.viper("validate", path)
        assert "counting.yaml:10: bolt 'count', input from 'words': SHUFFLE grouping over 3" in ran.output

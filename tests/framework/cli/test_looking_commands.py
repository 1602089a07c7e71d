"""The commands that look at a topology without running it: validate, graph, plan, config show, flux."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from framework.cli.exit_codes import ExitCode

Viper = Callable[..., Result]
Process = Callable[..., "subprocess.Popen[str]"]

KEYED = Path(__file__).parents[3] / "topologies" / "brisk_word_count.yaml"
ELSEWHERE = """name: elsewhere
spouts: [{{id: numbers, className: parts.Numbers}}]
bolts:
  - {{id: split, {bolt}}}
streams: [{{from: numbers, to: split, grouping: {{type: SHUFFLE}}}}]
"""
JAVA = "className: org.a.b.C"
PROGRAM = (
    "className: org.apache.storm.flux.wrappers.bolts.FluxShellBolt, "
    f"constructorArgs: [[{sys.executable}, -u, splitter.py], [word]]"
)


class TestValidate:
    def test_a_valid_topology(self, viper: Viper) -> None:
        result = viper("validate", "doubling")
        assert (result.exit_code, result.stdout) == (ExitCode.OK, "")
        promise, counts = result.stderr.splitlines()
        assert promise.startswith("spout 'numbers' does not say where it is: it is refused")
        assert counts == "1 topology: no errors, no warnings"

    def test_every_problem_of_every_topology_has_a_line_with_its_place(self, viper: Viper) -> None:
        result = viper("validate", "topologies/wrong.py", "doubling", "nowhere.yaml")
        assert result.exit_code == ExitCode.INVALID
        first, second, third = result.stdout.splitlines()
        assert first.startswith("topologies/wrong.py:7: ") and "'viper.jumbo.sise'" in first
        assert second.startswith("topologies/wrong.py:9: ") and "'nubmer'" in second
        assert third.startswith("nowhere.yaml: ")
        assert result.stderr.endswith("\n3 topologies: 3 errors, no warnings\n")

    def test_without_a_target_all_topologies_of_the_project_are_checked(
        self, viper: Viper, project: Path
    ) -> None:
        (project / "topologies" / "_shared.py").write_text("common = 1\n")
        result = viper("validate")
        assert result.exit_code == ExitCode.INVALID
        assert [line.partition(":")[0] for line in result.stdout.splitlines()] == ["topologies/wrong.py"] * 2
        files = sum(path.suffix == ".py" for path in (project / "topologies").iterdir()) - 1
        assert files > 2
        assert result.stderr == f"{files} topologies: 2 errors, no warnings\n"

    def test_without_a_target_a_name_chooses_one(self, viper: Viper) -> None:
        result = viper("validate", "-n", "doubling")
        assert (result.exit_code, result.stderr) == (ExitCode.OK, "1 topology: no errors, no warnings\n")

    def test_where_there_are_no_topologies_it_says_where_it_looked(
        self, viper: Viper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "empty").mkdir()
        monkeypatch.chdir(tmp_path / "empty")
        result = viper("validate")
        assert result.exit_code == ExitCode.USAGE
        assert "there is no topology in topologies/" in result.stderr

    def test_json_has_target_place_and_message(self, viper: Viper) -> None:
        problems = json.loads(viper("validate", "--json", "doubling", "wrong").stdout)
        assert [(p["target"], p["file"], p["line"], p["warning"]) for p in problems] == [
            ("wrong", "topologies/wrong.py", 7, False),
            ("wrong", "topologies/wrong.py", 9, False),
        ]

    def test_strict_turns_warnings_about_order_into_errors(self, viper: Viper, project: Path) -> None:
        path = project / "topologies" / "doubling.py"
        path.write_text(path.read_text().replace('config={"viper.stateless": True}', "par=2"))
        relaxed, strict = viper("validate", "doubling"), viper("validate", "--strict", "doubling")
        assert (relaxed.exit_code, strict.exit_code) == (ExitCode.OK, ExitCode.INVALID)
        assert "warning: " in relaxed.stdout
        assert "warning: " not in strict.stdout

    def test_a_problem_that_is_told_in_several_lines_gets_one(self, viper: Viper, project: Path) -> None:
        (project / "binary.yaml").write_bytes(b"a: \xe0\n")
        result = viper("validate", "doubling", "--config", "binary.yaml")
        assert result.exit_code == ExitCode.INVALID
        assert len(result.stdout.splitlines()) == 1

    def test_what_only_a_cluster_can_run_is_a_warning(self, viper: Viper, project: Path) -> None:
        (project / "topologies" / "java.yaml").write_text(ELSEWHERE.format(bolt=JAVA))
        result = viper("validate", "java")
        assert result.exit_code == ExitCode.OK
        assert result.stdout.startswith(
            "topologies/java.yaml:4: warning: bolt 'split' is the Java class org.a.b.C"
        )
        assert viper("run", "java").exit_code == ExitCode.INVALID

    def test_a_script_that_is_nowhere_is_an_error(self, viper: Viper, project: Path) -> None:
        (project / "topologies" / "program.yaml").write_text(ELSEWHERE.format(bolt=PROGRAM))
        result = viper("validate", "program")
        assert result.exit_code == ExitCode.INVALID
        assert result.stdout.startswith("topologies/program.yaml:4: bolt 'split' is the program ")
        assert "there is no 'splitter.py' in " in result.stdout
        assert viper("run", "program").stderr.count("there is no 'splitter.py' in ") == 1
        resources = project / "multilang" / "resources"
        resources.mkdir(parents=True)
        (resources / "splitter.py").touch()
        assert viper("validate", "program").exit_code == ExitCode.OK

    def test_options_are_validated_too(self, viper: Viper) -> None:
        result = viper("validate", "doubling", "-o", "viper.jumbo.sise=1")
        assert "option -o: " in result.stdout
        assert "did you mean 'viper.jumbo.size'?" in result.stdout


class TestGraph:
    def test_mermaid_by_default(self, viper: Viper) -> None:
        lines = viper("graph", "doubling").stdout.splitlines()
        assert lines[3] == "flowchart LR"
        assert '    n0 -->|"shuffle"| n1' in lines

    def test_other_formats(self, viper: Viper) -> None:
        assert viper("graph", "doubling", "--format", "dot").stdout.startswith('digraph "doubling" {')
        assert json.loads(viper("graph", "doubling", "--format", "json").stdout)["name"] == "doubling"

    def test_output_to_a_file(self, viper: Viper, project: Path) -> None:
        assert viper("graph", "doubling", "-O", "picture.mmd").stdout == ""
        assert "flowchart LR" in (project / "picture.mmd").read_text()

    def test_svg_without_graphviz_says_what_to_install(
        self, viper: Viper, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("PATH", "")
        result = viper("graph", "doubling", "--format", "svg")
        assert result.exit_code == ExitCode.USAGE
        assert "apt-get install graphviz" in result.stderr

    def test_an_invalid_topology_is_not_drawn(self, viper: Viper) -> None:
        result = viper("graph", "wrong")
        assert (result.exit_code, result.stdout) == (ExitCode.INVALID, "")


class TestPlan:
    def test_tasks_streams_and_levels_for_people(self, viper: Viper) -> None:
        workers, tasks, streams, levels = viper("plan", "doubling").stdout.split("\n\n")[1:]
        assert workers.splitlines()[1].split() == ["1", "inline", "console:1", "double:2", "numbers:3"]
        assert tasks.splitlines()[0].split() == [
            *("task", "component", "role", "replica", "depth"),
            *("reads", "from", "chained", "feedback"),
        ]
        assert tasks.splitlines()[2].split() == ["2", "double", "bolt", "0", "1", "3", "yes"]
        assert streams.splitlines()[1].split() == ["numbers", "default", "double", "shuffle"]
        assert levels.splitlines()[1].split()[0] in ("numbers", "double", "console")

    def test_workers_are_chosen_as_for_a_run(self, viper: Viper) -> None:
        plan = json.loads(viper("plan", "doubling", "-w", "2", "--worker", "thread", "--json").stdout)
        assert plan["placement"]["kind"] == "thread"
        assert {executor["worker"] for executor in plan["placement"]["executors"]} == {1, 2}
        dealt = ["-o", "viper.placement=round-robin", "-o", "topology.workers=3"]
        above_options = viper("plan", "doubling", *dealt, "-w", "2", "--json").stdout
        assert len(json.loads(above_options)["placement"]["executors"]) == 2

    def test_processes_that_stand_by_are_told(self, viper: Viper) -> None:
        standing = "-o", "viper.standby.workers=2"
        told = viper("plan", "doubling", "--worker", "process", *standing).stdout
        assert told.splitlines()[1] == "2 processes to stand by for a worker that dies"
        assert "stand by" not in viper("plan", "doubling", *standing).stdout
        plan = json.loads(viper("plan", "doubling", "--worker", "process", "--json", *standing).stdout)
        assert plan["placement"]["standbys"] == 2

    def test_bolts_whose_tasks_claim_their_input_are_told(self, viper: Viper) -> None:
        tasks = "-o", 'viper.tasks={"double": 2}', "-o", "viper.stateless=true"
        claims = *tasks, "-o", "viper.sharing=claims"
        told = viper("plan", "doubling", *claims).stdout
        assert told.splitlines()[1] == "double: 2 tasks share their input by claims (viper.sharing)"
        assert json.loads(viper("plan", "doubling", "--json", *claims).stdout)["claiming"] == ["double"]
        assert "claims" not in viper("plan", "doubling", *tasks).stdout

    def test_bolts_whose_tasks_claim_key_groups_are_told(self, viper: Viper) -> None:
        told = viper("plan", str(KEYED), "-o", "viper.sharing=claims").stdout.splitlines()
        assert "counter: 2 tasks claim its key groups (viper.sharing)" in told
        assert "parser: 2 tasks share their input by claims (viper.sharing)" in told
        plan = json.loads(viper("plan", str(KEYED), "-o", "viper.sharing=claims", "--json").stdout)
        assert plan["claimed_by_key"] == ["counter"]

    def test_json_says_who_feeds_whom(self, viper: Viper) -> None:
        plan = json.loads(viper("plan", "doubling", "--json").stdout)
        component = {task["id"]: task["component"] for task in plan["tasks"]}
        fed = {component[c["readers"][0]]: [component[s] for s in c["sources"]] for c in plan["channels"]}
        assert fed == {"double": ["numbers"], "console": ["double"]}
        assert [channel["chained"] for channel in plan["channels"]] == [True, True]
        assert plan["streams"][0]["grouping"] == {"type": "SHUFFLE", "fields": []}
        assert set(plan["levels"]) == {"numbers", "double", "console"}


class TestConfigShow:
    def test_every_key_with_its_default(self, viper: Viper) -> None:
        shown = json.loads(viper("config", "show", "--json").stdout)
        assert shown["viper.jumbo.size"]["value"] == 1024
        assert shown["viper.jumbo.size"]["from"].startswith("conf/defaults.yaml:")

    def test_each_layer_is_named(self, viper: Viper, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (project / "viper.yaml").write_text("viper.slice.tuples: 5\nviper.jumbo.size: 5\n")
        monkeypatch.setenv("VIPER_JUMBO_SIZE", "6")
        result = viper("config", "show", "doubling", "-o", "viper.seed=7", "--json")
        shown = json.loads(result.stdout)
        found = {key: tuple(shown[f"viper.{key}"].values()) for key in ("slice.tuples", "jumbo.size", "seed")}
        assert found == {
            "slice.tuples": (5, f"{project / 'viper.yaml'}:1"),
            "jumbo.size": (6, "environment variable VIPER_JUMBO_SIZE"),
            "seed": (7, "option -o"),
        }

    def test_parts_of_keys_choose(self, viper: Viper) -> None:
        lines = viper("config", "show", "jumbo", "viper.seed").stdout.splitlines()
        assert [line.split()[0] for line in lines] == [
            *("key", "viper.channel.jumbos", "viper.jumbo.linger.ms", "viper.jumbo.size", "viper.seed")
        ]

    def test_a_key_that_is_none(self, viper: Viper) -> None:
        result = viper("config", "show", "viper.jumbo.sise")
        assert result.exit_code == ExitCode.USAGE
        assert (
            "no configuration key contains 'viper.jumbo.sise'; did you mean 'viper.jumbo.size'?"
            in result.stderr
        )

    def test_problems_do_not_hide_the_values(self, viper: Viper) -> None:
        result = viper("config", "show", "seed", "-o", "viper.order=strcit")
        assert result.exit_code == ExitCode.INVALID
        assert "viper.seed" in result.stdout
        assert "did you mean 'strict'?" in result.stderr

    def test_one_target_at_a_time(self, viper: Viper) -> None:
        assert viper("config", "show", "doubling", "endless").exit_code == ExitCode.USAGE


def test_flux_prints_yaml_that_loads_again(viper: Viper, project: Path) -> None:
    assert viper("flux", "doubling", "-O", "again.yaml").exit_code == ExitCode.OK
    assert viper("graph", "again.yaml").stdout == viper("graph", "doubling").stdout


def test_substitutions_come_from_a_properties_file(viper: Viper, project: Path) -> None:
    viper("flux", "doubling", "-O", "doubled.yaml")
    text = (project / "doubled.yaml").read_text()
    (project / "doubled.yaml").write_text(text.replace("name: doubling", "name: ${who}", 1))
    (project / "some.properties").write_text("who=somebody\n")
    drawn = viper("graph", "doubled.yaml", "--filter", "some.properties", "--format", "json")
    assert json.loads(drawn.stdout)["name"] == "somebody"


def test_a_reader_that_goes_away_is_no_error(process: Process) -> None:
    running = process("graph", "doubling", PYTHONUNBUFFERED="1")
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    assert running.stderr.read() == ""
    assert running.wait() == ExitCode.BROKEN_PIPE

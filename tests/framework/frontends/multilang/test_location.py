"""The folders of programs, their environment, and the threads on which their tasks wait for them."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from framework import TopologyBuilder
from framework.frontends.builder import shell
from framework.model.programs import (
    CommandProblem,
    environment,
    module_of,
    problem_with,
    script_of,
    working_folder,
)
from framework.model.topology import ShellImplementation
from framework.operators.sinks import CollectingSink
from tests.framework.frontends.multilang.conftest import FIXTURES, Script
from tests.framework.frontends.multilang.pieces import around, run_topology
from tests.framework.runtime.pieces import listed, plan_of, run_built


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    made = [tmp_path / name for name in ("src", "topologies")]
    for folder in made:
        (folder / "resources").mkdir(parents=True)
    return [str(folder) for folder in made]


class TestWorkingFolder:
    def test_is_where_a_word_of_the_command_is_a_file(self, folders: list[str]) -> None:
        Path(folders[1], "split.rb").touch()
        assert working_folder(["ruby", "split.rb"], folders) == Path(folders[1])
        assert working_folder(["ruby -w split.rb"], folders) == Path(folders[1])
        assert working_folder(["./split.rb"], folders) == Path(folders[1])

    def test_may_be_the_resources(self, folders: list[str]) -> None:
        Path(folders[1], "resources", "split.rb").touch()
        assert working_folder(["ruby", "split.rb"], folders) == Path(folders[1], "resources")

    @pytest.mark.parametrize("inside", ["topologies/multilang/resources", "resources", "multilang/resources"])
    def test_may_be_those_of_the_project_around_it(self, folders: list[str], inside: str) -> None:
        folder = Path(folders[0]).parent / inside
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "split.rb").touch()
        assert working_folder(["ruby", "split.rb"], folders) == folder

    @pytest.mark.parametrize(
        ("module", "file"),
        [
            ("split", "split.py"),
            ("split", "split/__main__.py"),
            ("a.split", "a/split.py"),
            ("a.b", "a/b/__main__.py"),
        ],
    )
    @pytest.mark.parametrize(
        "command",
        [
            "python3 -m {}",
            "python -um{}",
            "/usr/bin/pypy3.10 -W error -X dev -u -m {}",
            "env A=1 python3.11 -B -m {}",
        ],
    )
    def test_is_where_a_module_is(self, folders: list[str], module: str, file: str, command: str) -> None:
        there = Path(folders[0]).parent / "multilang" / "resources"
        (there / file).parent.mkdir(parents=True)
        (there / file).touch()
        words = command.format(module).split()
        Path(folders[0], "bolt").touch()  # another word of the command
        assert working_folder([*words, "bolt"], folders) == there
        assert working_folder([words[0], " ".join([*words[1:], "bolt"])], folders) == there
        assert problem_with([sys.executable, "-m", module], folders) is None

    def test_is_where_a_script_is_and_not_another_word(self, folders: list[str]) -> None:
        Path(folders[0], "words.txt").touch()
        Path(folders[1], "split.py").touch()
        assert working_folder(["python3", "split.py", "words.txt"], folders) == Path(folders[1])
        assert problem_with(["python3", "split.py", "words.txt"], folders) is None

    def test_is_not_outside_of_a_project(self, tmp_path: Path) -> None:
        project = tmp_path / "project"
        for folder in (project, tmp_path / "resources"):
            folder.mkdir()
        (tmp_path / "resources" / "split.rb").touch()
        assert working_folder(["ruby", "split.rb"], [str(project)]) == project

    def test_is_the_first_otherwise(self, folders: list[str]) -> None:
        assert working_folder(["ruby", "split.rb"], folders) == Path(folders[0])
        assert working_folder(["ruby", str(Path(folders[1], "x"))], folders) == Path(folders[0])
        assert working_folder(["ruby", "-e", "x" * 5_000], folders) == Path(folders[0])

    def test_is_the_current_one_where_there_is_no_project(self) -> None:
        assert working_folder(["ruby", "split.rb"], []) == Path.cwd()

    def test_a_program_in_it_is_executed(self, folders: list[str]) -> None:
        file = Path(folders[1], "split")
        file.touch(mode=0o755)
        assert problem_with(["./split"], folders) is None
        assert "no './other' in the folder" in str(problem_with(["./other"], folders))
        assert "expected a command" in str(problem_with([], folders))


@pytest.mark.parametrize(
    ("command", "module"),
    [
        ("python3 -m a.b", "a.b"),
        ("python3 -uma.b -m c", "a.b"),
        ("python3 --check-hash-based-pycs never -m a", None),  # which does not look as if it took a value
        ("nice -n 5 python3.12 -Werror -Xdev -m a", "a"),
        ("python3 split.py -m a", None),
        ("python3 -c import -m", None),
        ("python3 -m", None),
        ("python3 -", None),
        ("node -m a", None),
        ("", None),
    ],
)
def test_the_module_that_python_runs(command: str, module: str | None) -> None:
    assert module_of(command.split()) == module


@pytest.mark.parametrize("module", ["single", "package", "package.inner"])
def test_a_module_of_the_resources_runs(module: str, tmp_path: Path) -> None:
    """As on Storm, where the folder of the resources is the current one, and so on Python's path."""
    resources = tmp_path / "multilang" / "resources"
    (resources / "package").mkdir(parents=True)
    for name in ("single", "package/__main__", "package/inner"):
        text = "import speaking\nspeaking.run_bolt(lambda tup: speaking.emit([__name__, __spec__.name]))\n"
        (resources / f"{name}.py").write_text(text, "utf-8")
    (resources / "speaking.py").write_text((FIXTURES / "speaking.py").read_text("utf-8"), "utf-8")
    (tmp_path / "topologies").mkdir()
    builder = around([sys.executable, "-u", "-m", module], listed(["x"]), ["name", "spec"])
    topology = replace(builder.build("t"), import_paths=(str(tmp_path / "topologies"),))
    name = "package.__main__" if module == "package" else module
    assert run_topology(topology).result("sink") == [("__main__", name)]


@pytest.mark.parametrize("program", ["python3 split.py a", "./split.rb a", "/bin/sh split.sh", "no such"])
def test_a_command_in_one_text_is_told_of(folders: list[str], program: str) -> None:
    Path(folders[1], "split.py").touch()
    for command in ([program], [program, "more"]):
        problem = problem_with(command, folders)
        assert problem is not None and not problem.only_here
        assert str(problem).startswith(
            f"it is one text, {program!r}, and so the name of a program with blanks"
        )
        assert str(problem).endswith(f"write each word by itself, as {program.split()}")


def test_a_program_may_have_blanks_in_its_name(folders: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    Path(folders[1], "my program").touch(mode=0o755)
    assert problem_with(["./my program"], folders) is None
    monkeypatch.setenv("PATH", folders[1])
    assert problem_with(["my program"], folders) is None


class TestScript:
    @pytest.mark.parametrize(
        ("command", "script"),
        [
            ("ruby split.rb", "split.rb"),
            ("/usr/bin/python3.11 -u -W error split.py --all words.txt", "split.py"),
            ("python split", "split"),
            ("node --max-old-space-size=100 split.js", "split.js"),
            ("ruby -I lib -rjson split.rb", "split.rb"),
            ("python -m streamparse.run words.Split", None),
            ("python -um words", None),
            ("python -", None),
            ("perl -ne print split.pl", None),
            ("node --eval=1", None),
            ("ruby -x split", None),  # `split` may be the option's value
            ("streamparse_run words.py", None),
            ("./split split.py", None),
            ("python", None),
            ("", None),
        ],
    )
    def test_is_what_an_interpreter_runs(self, command: str, script: str | None) -> None:
        assert script_of(command.split()) == script

    def test_that_is_missing_is_reported_with_the_folders_and_the_nearest_name(
        self, folders: list[str]
    ) -> None:
        Path(folders[1], "resources", "split.py").touch()
        assert problem_with([sys.executable, "split.py"], folders) is None
        problem = problem_with([sys.executable, "spilt.py"], folders)
        assert problem == CommandProblem(
            f"there is no 'spilt.py' in {folders[0]!r}, {folders[1]!r}, "
            "nor in resources/ or multilang/resources/ there; did you mean 'split.py'?",
            only_here=False,
        )

    def test_that_is_absolute_may_be_on_another_machine(self) -> None:
        problem = problem_with([sys.executable, "/nowhere/split.py"], [])
        assert problem == CommandProblem("there is no file '/nowhere/split.py'", only_here=True)

    def test_with_arguments_in_one_text_is_no_file(self, folders: list[str]) -> None:
        """A program gets such a text as one argument, here as on Storm."""
        Path(folders[1], "split.py").touch()
        problem = problem_with([sys.executable, "split.py -v"], folders)
        assert problem is not None
        assert "'split.py -v' is one argument, and no file: write 'split.py'" in problem.message


def test_python_programs_find_the_project(folders: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "mine")
    assert environment(folders)["PYTHONPATH"] == os.pathsep.join([*folders, "mine"])
    monkeypatch.delenv("PYTHONPATH")
    assert environment(folders)["PYTHONPATH"] == os.pathsep.join(folders)


def test_variables_of_its_own_are_added_as_storm_does_it(
    folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setenv("PYTHONPATH", "mine")
    found = environment(folders, {"PATH": "/opt/bin", "PYTHONPATH": "other", "MODE": "fast"})
    assert found["PATH"] == os.pathsep.join(["/usr/bin", "/opt/bin"])
    assert found["PYTHONPATH"] == os.pathsep.join([*folders, "other"])
    assert found["MODE"] == "fast"
    monkeypatch.delenv("PATH")
    assert environment([], {"PATH": "/opt/bin"})["PATH"] == "/opt/bin"


@pytest.mark.parametrize("worker", [{}, {"viper__worker": "thread"}])
def test_a_program_has_them_and_may_stay_in_the_current_folder(
    worker: dict[str, Any], tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """
        import os, speaking
        speaking.run_bolt(lambda tup: speaking.emit([[os.getcwd(), os.environ["MODE"]]]))
    """
    (tmp_path / "below").mkdir()
    python, file = script(text)
    Path(file).rename(tmp_path / "below" / "talking.py")
    for stays, name in ((False, "talking.py"), (True, "below/talking.py")):
        topology = around((python, name), listed(["x"])).build("t")
        program = ShellImplementation((python, name), {"MODE": "fast"}, stays)
        changed = (replace(c, implementation=program) if c.id == "bolt" else c for c in topology.components)
        topology = replace(topology, components=tuple(changed), import_paths=(str(tmp_path / "below"),))
        folder = tmp_path if stays else tmp_path / "below"
        assert run_topology(topology, **worker).result("sink") == [([str(folder), "fast"],)]


def test_a_script_that_is_not_in_the_folder_where_its_program_stays_is_told_of(
    folders: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(folders[0], "split.py").touch()
    monkeypatch.chdir(folders[1])
    assert problem_with([sys.executable, "split.py"], folders) is None
    assert problem_with([sys.executable, "split.py"], folders, stays=True) == CommandProblem(
        f"there is no 'split.py' in {folders[1]!r}, where it runs, as changeChildCWD is false",
        only_here=False,
    )


def test_a_program_runs_in_its_folder(tmp_path: Path, script: Script) -> None:
    python, file = script("import os, speaking\nspeaking.run_bolt(lambda tup: speaking.emit([os.getcwd()]))")
    topology = around((python, Path(file).name), listed(["x"])).build("t")
    report = run_topology(replace(topology, import_paths=(str(tmp_path),)))
    assert report.result("sink") == [(str(tmp_path),)]


class TestThreads:
    def executors(self, par: int = 2, own: dict[str, Any] | None = None, **options: Any) -> list[bool]:
        builder = around(("x",), listed(["x"]), par=par, **(own or {}))
        plan, _ = plan_of(builder, **options)
        tasks = {task.id for task in plan.tasks_of("bolt")}
        return [e.blocking for e in plan.placement.executors if tasks & set(e.tasks)]

    def test_each_task_waits_on_one_of_its_own(self) -> None:
        assert self.executors() == [True, True]

    def test_unless_somebody_says_otherwise(self) -> None:
        assert self.executors(own={"viper__blocking": False}) == [False]
        assert self.executors(viper__blocking=False) == [False]

    def test_a_cycle_runs_on_one_thread(self, script: Script) -> None:
        command = script(
            """
            import speaking

            def process(tup):
                if tup["tuple"][0] < 5:
                    speaking.emit([tup["tuple"][0] + 1])

            speaking.run_bolt(process)
            """
        )
        builder = TopologyBuilder()
        builder.set_spout("source", listed([0]))
        bolt = builder.set_bolt("bolt", shell(*command, outputs=["value"]))
        bolt.shuffle_grouping("source").shuffle_grouping("bolt")
        builder.set_bolt("sink", CollectingSink).global_grouping("bolt")
        assert run_built(builder).result("sink") == [(n,) for n in range(1, 6)]

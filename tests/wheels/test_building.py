"""The needs of a wheel, and the report of a step that fails."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from tests.wheels.building import NEWEST_GLIBC, check
from tests.wheels.commands import FailedError, succeed
from tests.wheels.pythons import REPOSITORY


def wheel(folder: Path, tag: str, *names: str) -> Path:
    path = folder / f"viperstorm-1-cp311-cp311-{tag}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("viper/__init__.py", *names):
            archive.writestr(name, "")
    return path


@pytest.mark.parametrize("tag", ["manylinux_2_34_x86_64", "manylinux_2_28_aarch64"])
def test_what_older_systems_have_is_taken(tmp_path: Path, tag: str) -> None:
    check(wheel(tmp_path, tag))


def test_a_wheel_that_wants_a_newer_system_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match=r"wants glibc 2\.38: expected 2\.34 at most"):
        check(wheel(tmp_path, "manylinux_2_38_x86_64"))


def test_a_wheel_for_one_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FailedError, match="has no manylinux tag"):
        check(wheel(tmp_path, "linux_x86_64"))


def test_a_wheel_with_libraries_of_the_machine_is_refused(tmp_path: Path) -> None:
    copied = wheel(tmp_path, "manylinux_2_34_x86_64", "viperstorm.libs/libm-1234.so")
    with pytest.raises(FailedError, match=r"copies of this machine's libraries: viperstorm\.libs/libm"):
        check(copied)


def test_the_page_on_installing_names_the_glibc() -> None:
    page = (REPOSITORY / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"glibc {'.'.join(map(str, NEWEST_GLIBC))} " in page


class TestCommands:
    def test_a_failure_has_all_that_was_printed(self, tmp_path: Path) -> None:
        with pytest.raises(FailedError, match=r"(?s)exit code 3\nout\nerr"):
            script = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(3)"
            succeed(sys.executable, "-c", script, cwd=tmp_path)

    def test_a_program_that_is_not_there_is_a_failure(self, tmp_path: Path) -> None:
        with pytest.raises(FailedError, match="no-such-program"):
            succeed(tmp_path / "no-such-program", cwd=tmp_path)

    def test_settings_of_who_runs_it_are_left_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        left_out = {"PYTHONPATH", "VIPER_OPTIONS", "CFLAGS"}
        for name in left_out:
            monkeypatch.setenv(name, "anything")
        script = f"import os; print(*sorted({left_out | {'KEPT'}} & {{*os.environ}}))"
        assert succeed(sys.executable, "-c", script, cwd=tmp_path, KEPT="1") == "KEPT\n"

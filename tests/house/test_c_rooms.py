"""The rooms of `viper/csrc`: no circle, and no use of a room above."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.house.c_rooms import ORDER, calls, circle, includes, upwards

CSRC = Path(__file__).parents[2] / "viper/csrc"


def test_every_file_stands_in_a_room() -> None:
    files = [path.relative_to(CSRC) for path in CSRC.glob("**/*.[ch]")]
    assert {path.parent.as_posix() for path in files if "build" not in path.parts} == set(ORDER)
    assert [path.name for path in CSRC.glob("*.[ch]")] == ["module.c"]


def test_files_do_not_call_each_other_in_a_circle() -> None:
    assert circle(calls(CSRC)) == []


def test_files_do_not_include_each_other_in_a_circle() -> None:
    assert circle(includes(CSRC)) == []


def test_no_file_calls_or_includes_one_of_a_room_above() -> None:
    assert upwards(calls(CSRC)) == []
    assert upwards(includes(CSRC)) == []


def test_calls_are_found() -> None:
    found = calls(CSRC)
    assert {"rows/plain.c", "rows/fits.c"} <= found["rows/outbox.c"] | found["rows/calls.c"]
    assert "state/core.c" in found["state/rows.c"]
    assert "state/changes.c" in found["state/rows.c"], "through table_touch, which is inline in state.h"
    assert {"rows/outbox.c", "state/table.c", "tx/transaction.c"} <= found["module.c"]


class TestPlanted:
    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        for room in ORDER[:-1]:
            (tmp_path / room).mkdir()
        (tmp_path / "rows/low.c").write_text("/* calls high(1) */\nint low(int a)\n{\n    return a;\n}\n")
        (tmp_path / "tx/high.c").write_text('#include "tx.h"\nint high(int a)\n{\n    return low(a);\n}\n')
        (tmp_path / "tx/tx.h").write_text("int high(int a);\n")
        return tmp_path

    def test_no_fault(self, root: Path) -> None:
        assert calls(root) == {"rows/low.c": set(), "tx/high.c": {"rows/low.c"}}
        assert includes(root)["tx/high.c"] == {"tx/tx.h"}
        assert circle(calls(root)) == upwards(calls(root)) == []

    def test_a_circle_of_calls(self, root: Path) -> None:
        (root / "rows/low.c").write_text("int low(int a)\n{\n    return high(a);\n}\n")
        assert circle(calls(root)) == ["rows/low.c", "tx/high.c"]
        assert upwards(calls(root)) == ["rows/low.c -> tx/high.c"]

    def test_a_function_of_its_own_of_the_same_name(self, root: Path) -> None:
        (root / "rows/low.c").write_text(
            "static int high(int a)\n{\n    return a;\n}\n\nint low(int a)\n{\n    return high(a);\n}\n"
        )
        assert upwards(calls(root)) == []

    def test_a_circle_of_includes(self, root: Path) -> None:
        (root / "rows/rows.h").write_text('#include "tx/tx.h"\n')
        (root / "tx/tx.h").write_text('#include "rows/rows.h"\n')
        assert circle(includes(root)) == ["rows/rows.h", "tx/high.c", "tx/tx.h"]
        assert upwards(includes(root)) == ["rows/rows.h -> tx/tx.h"]

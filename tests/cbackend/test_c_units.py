"""The C layer's own tests; its sanitizers and planted bugs are `make check`."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

CBACKEND = Path(__file__).parents[2] / "cbackend"


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("make") and shutil.which("gcc")), reason="needs make and gcc")
def test_the_c_layer_passes_its_own_tests() -> None:
    done = subprocess.run(["make", "-C", CBACKEND, "test"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

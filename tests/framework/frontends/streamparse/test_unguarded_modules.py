"""A module of streamparse's components may end with ``Words().run()``: importing it makes nothing run."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pystorm.component
import pytest

from framework.frontends.streamparse.construction import hosting
from tests.portions import at_every_change

WORDS = """
import sys
from streamparse import Spout, TicklessBatchingBolt

class Words(Spout):
    outputs = ["word"]

    def initialize(self, conf, context):
        self.words = iter(["dog", "cat"])

    def next_tuple(self):
        self.emit([next(self.words)])

class Batches(TicklessBatchingBolt):
    def process_batch(self, key, tups):
        pass

Batches().run()
Words().run()
print("imported", file=sys.stderr)
"""
TOPOLOGY = """
from streamparse import Topology
from words import Batches, Words

class Unguarded(Topology):
    words = Words.spec()
    batches = Batches.spec(inputs=[words])
"""
FLUX = """
name: unguarded
spouts:
  - id: words
    className: words.Words
bolts:
  - {id: sink, className: framework.operators.sinks.CountingSink}
streams:
  - {from: words, to: sink, grouping: {type: SHUFFLE}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in {"words.py": WORDS, "topology.py": TOPOLOGY, "topology.yaml": FLUX}.items():
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def run(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the topology in a process of its own, which imports pystorm only with the module."""
    command = [sys.executable, "-m", "framework.cli", "run", *arguments, "-q", "--print", "words"]
    repository = str(Path(__file__).parents[4])
    return subprocess.run(
        command,
        cwd=project,
        env={**os.environ, "PYTHONPATH": repository},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("worker", at_every_change(["process", "inline", "thread"]))
def test_its_components_are_hosted(project: Path, worker: str) -> None:
    ran = run(project, "topology.py", "--worker", worker, "-o", "viper.isolated=false")
    assert (ran.returncode, ran.stdout.split()) == (0, ["dog", "cat"]), ran.stderr
    assert "imported" in ran.stderr


def test_a_class_that_yaml_names_is_hosted_too(project: Path) -> None:
    ran = run(project, "topology.yaml")
    assert (ran.returncode, ran.stdout.split()) == (0, ["dog", "cat"]), ran.stderr


def test_nothing_of_the_process_remains_changed(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    component, bolt = pystorm.component, pystorm.bolt.TicklessBatchingBolt
    before = (
        component.Component.run,
        bolt._batch_entry,
        dict(component._SERIALIZERS),
        signal.signal,
        signal.getsignal(signal.SIGUSR1),
        threading.current_thread().name,
        list(sys.meta_path),
    )
    with hosting(), hosting():
        made = bolt()
        made.run()
        made._batcher.join()
    after = (
        component.Component.run,
        bolt._batch_entry,
        dict(component._SERIALIZERS),
        signal.signal,
        signal.getsignal(signal.SIGUSR1),
        threading.current_thread().name,
        list(sys.meta_path),
    )
    assert after == before
    assert f"{__file__}:" in caplog.text
    assert "TicklessBatchingBolt.run() does nothing" in caplog.text


def test_outside_of_an_import_it_runs_as_ever() -> None:
    code = "import framework, pystorm; pystorm.Bolt().run()"
    ran = subprocess.run([sys.executable, "-c", code], input="", capture_output=True, text=True, check=False)
    assert "StormWentAwayError" in ran.stderr

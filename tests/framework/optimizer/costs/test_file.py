"""Profiles in files: what is written is read back, and every mistake has its line."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from framework.model.errors import ProfileError
from framework.optimizer.costs import ComponentCost, Profile, StreamCost, Variation
from framework.optimizer.costs.file import ProfileFile, as_yaml, from_yaml, load, save
from framework.optimizer.costs.hardware import Cache, Crossing, Hardware

HARDWARE = Hardware(
    "Some: Processor #1 @ 2.80GHz",
    (0, 1),
    (Cache(2, 1 << 20, (0, 1)), Cache(3, 1 << 25, (0, 1, 2, 3))),
    (Crossing(0, 1, 139.2),),
)
PROFILE = Profile(
    {
        "lines": ComponentCost(1536.5, {"default": StreamCost(1.0, 139.4, 0.5, 1078.0, 923.3)}, share=0.75),
        "no": ComponentCost(1e-05, {"on": StreamCost(1 / 3), "a: b": StreamCost(2.0)}, {"lines/on": 7.0}),
    },
    run_ns=40.0,
    jumbo_ns=1e22,
    jumbo_tuples=806.25,
    rates={"lines": 1000.0},
)
WHOLE = ProfileFile("word count", PROFILE, HARDWARE)

numbers = st.floats(min_value=0, allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=0, exclude_min=True, allow_nan=False, allow_infinity=False)
names = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
streams = st.builds(StreamCost, numbers, numbers, numbers, numbers, numbers)
components = st.builds(
    ComponentCost,
    numbers,
    st.dictionaries(names, streams, max_size=3),
    st.dictionaries(names, numbers, max_size=2),
    share=numbers,
    memory=numbers,
    variation=st.none() | st.builds(Variation, numbers, numbers),
)
profiles = st.builds(
    Profile,
    st.dictionaries(names, components, max_size=3),
    run_ns=numbers,
    jumbo_ns=numbers,
    jumbo_tuples=positive,
)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    save(tmp_path / "words.yaml", WHOLE)
    assert load(tmp_path / "words.yaml") == WHOLE


def test_other_readers_of_yaml_find_the_same_names() -> None:
    found = yaml.safe_load(as_yaml(WHOLE))
    assert list(found["components"]) == ["lines", "no"]
    assert list(found["components"]["no"]["streams"]) == ["on", "a: b"]
    assert found["machine"]["model"] == HARDWARE.model


def test_a_profile_that_was_not_measured_has_no_machine() -> None:
    content = ProfileFile("paper", PROFILE)
    assert "machine" not in as_yaml(content)
    assert from_yaml(as_yaml(content), "f") == content


@given(names, profiles)
def test_any_profile_is_read_back_exactly(name: str, profile: Profile) -> None:
    content = ProfileFile(name, profile)
    assert from_yaml(as_yaml(content), "f") == content


def test_what_is_left_out_has_a_default() -> None:
    read = from_yaml("topology: t\ncomponents: {a: {ns: 3, streams: {default: {selectivity: 2}}}}", "f")
    assert read.profile == Profile({"a": ComponentCost(3.0, {"default": StreamCost(2.0)})})


MISTAKES = {
    "run_ns: 0.5": ("run_ns: fast", "found 'fast', expected a number of 0 or more"),
    "ns: 1536.5": ("ns: -1", "found '-1', expected a number of 0 or more"),
    "jumbo_tuples: 10.0": ("jumbo_tuples: 0", "found '0', expected a number above 0"),
    "share: 1.0": ("share: .inf", "found '.inf', expected a number of 0 or more"),
    "memory: 0.0": ("memry: 0.0", "did you mean 'memory'?"),
    "selectivity: 2.0": ("size: 2.0", "found no selectivity, expected one"),
    "rates: {}": ("rates: {lnes: 4}", "unknown component 'lnes': expected 'lines'; did you mean 'lines'?"),
    "cpus: [0, 1]": ("cpus: [0, x]", "found 'x', expected a whole number of 0 or more"),
    "cpus: [4, 5]": ("cpus: [4]", "found 1 processors, expected two"),
    "model: m": ("model: [m]", "found a list, expected the name of a processor"),
    "inputs: {}": ("ns: 2.0", "found ns once more, expected it once"),
    "caches: []": ("caches: {}", "found a mapping, expected a list of caches"),
}
RIGHT = """\
topology: t
run_ns: 0.5
jumbo_tuples: 10.0
rates: {}
components:
  lines:
    ns: 1536.5
    share: 1.0
    memory: 0.0
    inputs: {}
    streams:
      default:
        selectivity: 2.0
machine:
  model: m
  cpus: [0, 1]
  caches: []
  crossings:
    - {cpus: [4, 5], ns: 3.0}
"""


def test_the_text_without_mistakes_is_read() -> None:
    assert from_yaml(RIGHT, "f").profile.components["lines"].ns == 1536.5


@pytest.mark.parametrize("right", MISTAKES)
def test_a_mistake_is_told_with_its_line(right: str) -> None:
    wrong, message = MISTAKES[right]
    assert RIGHT.count(right) == 1
    line = RIGHT[: RIGHT.index(right)].count("\n") + 1
    with pytest.raises(ProfileError) as raised:
        from_yaml(RIGHT.replace(right, wrong), "words.yaml")
    (problem,) = raised.value.problems
    assert str(problem).startswith(f"words.yaml:{line}: ") and message in problem.message


def test_all_mistakes_are_told_at_once() -> None:
    text = RIGHT.replace("1536.5", "dear").replace("0.5", "cheap")
    with pytest.raises(ProfileError) as raised:
        from_yaml(text, "f")
    assert [problem.place.line for problem in raised.value.problems] == [2, 7]


@pytest.mark.few(5)
@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "the file is empty"),
        ("- a\n", 1, "found a list, expected a profile"),
        ("topology: t\ncomponents: {", 2, "no valid YAML"),
        ("components: {}", 1, "found no topology, expected one"),
        ("topology: \x07", 1, "no valid YAML: the character 7"),
        ("[" * 20_000, 0, "nested too deeply"),
    ],
)
def test_no_profile_at_all(text: str, line: int, message: str) -> None:
    with pytest.raises(ProfileError) as raised:
        from_yaml(text, "f")
    (problem,) = raised.value.problems
    assert problem.place.line == line and message in problem.message


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ProfileError, match="cannot be read: No such file"):
        load(tmp_path / "missing.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"topology: t\n\xff")
    with pytest.raises(ProfileError, match=r"bytes\.yaml:2: found the byte 0xff"):
        load(tmp_path / "bytes.yaml")

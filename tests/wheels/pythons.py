"""The versions of Python that a release has wheels for, and which of them can build one on this machine."""

from __future__ import annotations

import configparser
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]

_QUESTION = """
import importlib.util, json, os, sys, sysconfig
headers = os.path.join(sysconfig.get_paths()["include"], "Python.h")
print(json.dumps({
    "version": "%d.%d" % sys.version_info[:2],
    "exact": sys.version.split()[0],
    "headers": os.path.exists(headers),
    "venv": importlib.util.find_spec("ensurepip") is not None,
}))
"""


@dataclass(frozen=True)
class Python:
    """An interpreter that can build a wheel."""

    program: str
    exact: str
    """Its version, as in 3.13.0."""


class UnusableError(Exception):
    """A Python builds no wheel on this machine; the message says why."""


def supported() -> list[str]:
    """The programs of the versions that the package's metadata names, such as python3.11."""
    metadata = configparser.ConfigParser()
    metadata.read(REPOSITORY / "setup.cfg", encoding="utf-8")
    classifiers = metadata["metadata"]["classifiers"]
    versions = re.findall(r"^Programming Language :: Python :: (3\.\d+)$", classifiers, flags=re.MULTILINE)
    return [f"python{version}" for version in versions]


def find(program: str) -> Python:
    """The interpreter that a program starts.

    Raises `UnusableError` where there is none, it cannot build, or its version is another one than its name
    says or none that is supported.
    """
    # What manages several versions has programs on the PATH that do nothing but refuse: so each is asked.
    try:
        asked = subprocess.run([program, "-c", _QUESTION], capture_output=True, text=True)
    except OSError:
        raise UnusableError("not found on this machine") from None
    if asked.returncode:
        said = (asked.stderr.strip().splitlines() or ["no reason given"])[0]
        raise UnusableError(f"found, but it does not start: {said}")
    answer = json.loads(asked.stdout)
    version = answer["version"]
    expected = re.fullmatch(r"python(3\.\d+)", Path(program).name)
    if expected and version != expected[1]:
        raise UnusableError(f"found, but it is Python {answer['exact']}")
    if f"python{version}" not in supported():
        raise UnusableError(f"Python {answer['exact']} is none of {', '.join(supported())}")
    if not answer["headers"]:
        raise UnusableError(f"found without its headers; on Debian: apt-get install python{version}-dev")
    if not answer["venv"]:
        raise UnusableError(f"found without venv; on Debian: apt-get install python{version}-venv")
    return Python(program, answer["exact"])

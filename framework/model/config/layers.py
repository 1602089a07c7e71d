"""The layers of configuration: the shipped defaults, files, environment variables, options."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from framework.model.config.checks import KNOWN
from framework.model.config.settings import Entry, Layer
from framework.model.errors import ConfigError, InternalError
from framework.model.topology import Topology
from framework.model.topology.places import Place
from framework.model.topology.problems import Problem, did_you_mean, one_of, unknown

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    import yaml

DEFAULTS = "conf/defaults.yaml"

PROJECT_FILE = "viper.yaml"
STREAMPARSE_FILE = "config.json"

_LOG_KEYS = ("path", "file", "level", "max_bytes", "backup_count")

PREFIX = "VIPER_"


def read_mapping(text: str | bytes, file: str) -> tuple[dict[str, Entry], list[Problem]]:
    """The entries of a YAML mapping; what cannot be read is among the problems.

    Args:
        text: the file's content.
        file: its name, for the places.
    """
    import yaml

    entries: dict[str, Entry] = {}
    problems: list[Problem] = []
    try:
        for key, entry in _entries(text, file):
            if key in entries:
                message = f"configuration key {key!r} is set again, after line {entries[key].place.line}"
                problems.append(Problem(entry.place, message))
            entries[key] = entry
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problems.append(Problem(Place(file, mark.line + 1 if mark else 0), f"no valid YAML: {error.problem}"))
    except (yaml.YAMLError, ValueError) as error:
        problems.append(Problem(Place(file), f"no valid YAML: {error}"))
    return entries, problems


def read_value(text: str) -> Any:
    """The value that a text has in YAML: ``4`` a number, ``true`` a bool, and so on.

    Raises:
        ValueError: the text is no valid YAML.
    """
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"no valid YAML: {getattr(error, 'problem', error)}") from error


def _entries(text: str | bytes, file: str) -> Iterator[tuple[Any, Entry]]:
    import yaml

    loader = yaml.SafeLoader(text)
    root = loader.get_single_node()
    if root is None:
        return
    if not isinstance(root, yaml.MappingNode):
        raise _misplaced(root, "expected a mapping of configuration keys to values")
    for key_node, value_node in root.value:
        if not isinstance(key_node, yaml.ScalarNode):
            raise _misplaced(key_node, "expected a configuration key")
        value = loader.construct_object(value_node, deep=True)
        yield loader.construct_object(key_node), Entry(value, Place(file, key_node.start_mark.line + 1))


def _misplaced(node: yaml.Node, message: str) -> yaml.MarkedYAMLError:
    import yaml

    return yaml.MarkedYAMLError(problem=message, problem_mark=node.start_mark)


def project_files(folder: Path, given: Sequence[Path] = ()) -> tuple[Path, ...]:
    """The files to hand to `resolve`: those given, or else the folder's ``viper.yaml`` if there is one."""
    if given:
        return tuple(given)
    own = folder / PROJECT_FILE
    return (own,) if own.is_file() else ()


def file_layer(path: Path, environment: str | None = None) -> tuple[Layer, list[Problem]]:
    """Read the layer of a YAML file, or of streamparse's ``config.json`` for one of its environments."""
    if is_streamparse_config(path):
        return _layer_of(path, environment)
    try:
        content = path.read_bytes()
    except OSError as error:
        return {}, [Problem(Place(str(path)), f"cannot be read: {error.strerror}")]
    return read_mapping(content, str(path))


@cache
def defaults_layer() -> Layer:
    """The shipped defaults; they are read once.

    Raises:
        InternalError: the file is missing or broken, so the installation is.
    """
    entries, problems = read_mapping(_defaults_file().read_bytes(), DEFAULTS)
    if problems:
        raise InternalError("; ".join(map(str, problems)))
    return MappingProxyType(entries)


def _defaults_file() -> Traversable:
    """The copy inside the installed package, or the one beside it in a checkout."""
    package = resources.files("framework")
    for candidate in (package.joinpath(DEFAULTS), Path(str(package)).parent / DEFAULTS):
        if candidate.is_file():
            return candidate
    raise InternalError(f"{DEFAULTS} is missing from the installation: install viperstorm again")


def streamparse_layer(topology: Topology, environment: str | None) -> tuple[Layer, list[Problem]]:
    """Read the layer of the ``config.json`` beside or above a topology's file, for an environment.

    A ``config.json`` without ``envs`` belongs to somebody else and is left alone.

    Args:
        topology: knows its file.
        environment: name of the environment; may be None where there is only one.
    """
    for folder in _folders(topology):
        path = folder / STREAMPARSE_FILE
        if path.is_file():
            return _layer_of(path, environment)
    return {}, []


def is_of_streamparse(topology: Topology) -> bool:
    """True if a topology lies in a streamparse project, by its ``config.json``."""
    return any(is_streamparse_config(folder / STREAMPARSE_FILE) for folder in _folders(topology))


def is_streamparse_config(path: Path) -> bool:
    """True if a file is a streamparse project's ``config.json``, which has environments."""
    try:
        content = json.loads(path.read_bytes()) if path.suffix == ".json" else None
    except (OSError, ValueError):
        return False
    return isinstance(content, dict) and isinstance(content.get("envs"), dict)


def _folders(topology: Topology) -> list[Path]:
    """The folders that may have the project's file: that of the topology, the one above, and those up to the
    current folder, where streamparse looks for it."""
    file = topology.sources.at().file
    if not file:
        return []
    folder, current = Path(file).absolute().parent, Path.cwd()
    above = [parent for parent in folder.parents if parent.is_relative_to(current)]
    return list(dict.fromkeys([folder, folder.parent, *above]))


def streamparse_topologies(file: Path) -> str | None:
    """The folder of topologies that a streamparse project's configuration names; None if it names none.

    Args:
        file: the project's ``config.json``, which may not exist.
    """
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return None
    found = content.get("topology_specs") if isinstance(content, dict) else None
    return found if isinstance(found, str) and found else None


def _layer_of(path: Path, chosen: str | None) -> tuple[Layer, list[Problem]]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        return {}, [Problem(Place(str(path)), f"is left out, as it cannot be read: {error}", warning=True)]
    environments = content.get("envs") if isinstance(content, dict) else None
    if not isinstance(environments, dict) or not environments:
        return {}, []
    if chosen is None and len(environments) > 1:
        message = f"no environment is chosen, so no options of one apply: name {one_of(environments)} with -e"
        return {}, [Problem(Place(str(path)), message, warning=True)]
    name = next(iter(environments)) if chosen is None else chosen
    if name not in environments:
        return {}, [Problem(Place(str(path)), unknown("environment", name, environments))]
    return _entries_of(environments[name], Place(str(path), attribute=f"envs.{name}"))


def _entries_of(environment: Any, place: Place) -> tuple[Layer, list[Problem]]:
    if not isinstance(environment, dict):
        return {}, [Problem(place, f"is {environment!r}: expected a JSON object")]
    return {key: Entry(value, place) for key, value in _settings_of(environment).items()}, []


def _settings_of(environment: Mapping[str, Any]) -> dict[str, Any]:
    """The options of an environment, and its ``log`` entries under pystorm's names."""
    log = environment.get("log")
    values = dict(log) if isinstance(log, dict) else {}
    for name in ("path", "file"):
        values[name] = values.get(name) or environment.get(f"log_{name}")
    found = {f"pystorm.log.{name}": values[name] for name in _LOG_KEYS if values.get(name) not in (None, "")}
    if isinstance(found.get("pystorm.log.level"), str):
        found["pystorm.log.level"] = found["pystorm.log.level"].lower()
    options = environment.get("options")
    return found | (options if isinstance(options, dict) else {})


def variable_of(key: str) -> str:
    """The environment variable that sets a key."""
    name = key.upper().replace(".", "_").replace("-", "_")
    return name if name.startswith(PREFIX) else PREFIX + name


KEY_OF_VARIABLE: Mapping[str, str] = {variable_of(key): key for key in KNOWN}
"""The key that each environment variable sets."""


def environment_layer(environ: Mapping[str, str]) -> tuple[Layer, list[Problem]]:
    """Read the layer of the environment variables; their values are YAML."""
    layer: dict[str, Entry] = {}
    problems: list[Problem] = []
    for variable in sorted(name for name in environ if name.startswith(PREFIX)):
        place = Place(attribute=f"environment variable {variable}")
        key = KEY_OF_VARIABLE.get(variable)
        if key is None:
            message = f"sets no known configuration key{did_you_mean(variable, KEY_OF_VARIABLE)}"
            problems.append(Problem(place, message))
            continue
        try:
            layer[key] = Entry(read_value(environ[variable]), place)
        except ValueError as error:
            problems.append(Problem(place, f"{environ[variable]!r} is {error}"))
    return layer, problems


def parse_option(option: str) -> tuple[str, Any]:
    """Split ``key=value``; the value is read as YAML.

    Raises:
        ConfigError: there is no ``=``, no key, or the value is no valid YAML.
    """
    key, equals, value = option.partition("=")
    if not equals or not key.strip():
        raise ConfigError(f"option {option!r}: expected key=value, e.g. topology.workers=2")
    try:
        return key.strip(), read_value(value)
    except ValueError as error:
        raise ConfigError(f"option {option!r}: {value!r} is {error}") from error


def options_layer(options: Mapping[str, Any], given_as: str) -> Layer:
    """The highest layer: options of the command line, ``-o viper.jumbo.size=512``, or arguments of a call.

    Args:
        options: values by key.
        given_as: how they were given, for messages: ``option -o`` or the name of an argument.
    """
    return {key: Entry(value, Place(attribute=given_as)) for key, value in options.items()}

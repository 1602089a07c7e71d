"""Describes a run: what it is, for those who look at it from outside."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from framework.model.config import Settings
from framework.model.render import rendered
from framework.planning import Plan
from framework.recording.tap import is_tap
from framework.runtime.observation import (
    DescribedComponent,
    DescribedSetting,
    DescribedStream,
    RunDescription,
)
from framework.version import VERSION

HIDDEN = "******"
_SECRET = re.compile(
    r"(?<![a-z])(password|passwd|pwd|secret|token|credentials?|auth|api\.?key|access\.?key|private\.?key)(?![a-z])"
)
"""Words in keys whose values are shown to nobody."""
_BETWEEN = re.compile(r"[_\-\s]")
_PASSWORD = re.compile(r"(//[^/\s:@]*:)[^@/\s]+@")
"""The password in an address."""
_DEFAULTS = "conf/defaults.yaml"


class Describing:
    """Describes one run.

    Args:
        plan: what is run.
        settings: the configuration that it was planned with.
        checkpoints: the folder of its checkpoints; None where it makes none.
    """

    def __init__(self, plan: Plan, settings: Settings, checkpoints: Path | None) -> None:
        self._plan = plan
        self._settings = settings
        self._checkpoints = None if checkpoints is None else str(checkpoints.resolve())
        self._started_s = time.time()
        self.run = f"{os.getpid()}-{self._started_s:.6f}"
        """Names the run among all on this machine."""

    def description(self) -> RunDescription:
        """The description; taps, which only watch a topology from outside, are left out."""
        plan = self._plan
        placement, picture = plan.placement, rendered(plan.topology)
        shown = [node for node in picture.nodes if not is_tap(node.id)]
        return RunDescription(
            topology=plan.topology.name,
            run=self.run,
            pid=os.getpid(),
            started_s=self._started_s,
            version=VERSION,
            time=str(plan.time),
            worker=str(placement.kind),
            workers=len({executor.worker for executor in placement.executors}),
            checkpoints=self._checkpoints,
            components=tuple(
                DescribedComponent(
                    *(node.id, str(node.role), str(node.kind), node.implementation),
                    depth=max((task.depth for task in plan.tasks_of(node.id)), default=0),
                    tasks=len(plan.tasks_of(node.id)),
                    scalable=node.id in plan.scalable,
                    conf=dict(self._own(node.id)),
                    sharing=_sharing(plan, node.id),
                )
                for node in shown
            ),
            streams=tuple(
                DescribedStream(edge.source, edge.stream, edge.target, edge.grouping, edge.feedback)
                for edge in picture.edges
                if not (is_tap(edge.target) or is_tap(edge.source))
            ),
            settings=tuple(map(self._setting, sorted(self._settings))),
        )

    def _setting(self, key: str) -> DescribedSetting:
        origin = self._settings.origin(key)
        return DescribedSetting(key, shown_value(key, self._settings[key]), origin, _DEFAULTS in origin)

    def _own(self, component: str) -> Iterator[tuple[str, Any]]:
        """Its own settings, and those that were found out where the topology leaves them open."""
        conf: Mapping[str, Any] = self._plan.confs.get(component, {})
        named = [each for each in self._plan.topology.components if each.id == component]
        declared = {key for each in named for key in each.config}
        for key in sorted(conf):
            if key in declared or (key in self._settings and conf[key] != self._settings[key]):
                yield key, shown_value(key, conf[key])


def _sharing(plan: Plan, component: str) -> str:
    if component in plan.claimed_by_key:
        return "claims by key"
    return "claims" if component in plan.claiming else "dealt"


def shown_value(key: str, value: Any) -> Any:
    """The value of a key as JSON can hold it; of a secret only that there is one."""
    if value is not None and _SECRET.search(_BETWEEN.sub(".", key.lower())):
        return HIDDEN
    if isinstance(value, Mapping):
        return {str(name): shown_value(str(name), inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [shown_value("", inner) for inner in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return _PASSWORD.sub(rf"\1{HIDDEN}@", str(value))

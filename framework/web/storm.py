"""What was seen of a run, in the form of Storm's REST API, so that scrapers written for it work.

Names, and which values are texts, are those of Storm 2. Storm counts over windows; here there are two: the
last ten minutes, as far as they are remembered, and all time. Counts are exact, where Storm takes samples.
"""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from framework.errors import ViperError
from framework.observing import ComponentRates, ComponentSnapshot, DescribedComponent, percentile_s
from framework.observing.times import added
from framework.topology import unknown
from framework.version import VERSION
from framework.web.watch import RunWatch

ALL_TIME = ":all-time"
TEN_MINUTES = "600"
_WINDOWS = {TEN_MINUTES: "10m 0s", ALL_TIME: "All time"}

_STATUS = {"starting": "ACTIVE", "running": "ACTIVE", "inactive": "INACTIVE", "draining": "KILLED"}


class StormView:
    """Answers in Storm's words.

    Args:
        watch: what was seen.
    """

    def __init__(self, watch: RunWatch) -> None:
        self._watch = watch
        self.id = f"{watch.description.topology}-1-{int(watch.description.started_s)}"
        """The topology's id: as in Storm, its name, a number, and when it was started."""

    def check(self, id: str) -> None:
        """Raises ViperError unless an id is that of the topology, or its name."""
        if id not in (self.id, self._watch.description.topology):
            raise ViperError(unknown("topology", id, [self.id]))

    # -- the machine

    def cluster_summary(self) -> Mapping[str, Any]:
        """``/api/v1/cluster/summary``: one supervisor, whose slots are the run's workers."""
        workers, tasks = self._watch.description.workers, self._tasks
        return {
            "stormVersion": VERSION,
            "supervisors": 1,
            "topologies": 1,
            "slotsTotal": workers,
            "slotsUsed": workers,
            "slotsFree": 0,
            "executorsTotal": tasks,
            "tasksTotal": tasks,
            "user": _user(),
        }

    def supervisor_summary(self) -> Mapping[str, Any]:
        """``/api/v1/supervisor/summary``: this machine."""
        workers = self._watch.description.workers
        machine = {
            "id": socket.gethostname(),
            "host": socket.gethostname(),
            **self._uptime(),
            "slotsTotal": workers,
            "slotsUsed": workers,
            "slotsFree": 0,
            "totalCpu": 100.0 * (os.cpu_count() or 1),
            "version": VERSION,
            "blacklisted": False,
        }
        return {"supervisors": [machine]}

    def configuration(self) -> Mapping[str, Any]:
        """``/api/v1/cluster/configuration``: every key of the configuration."""
        return {setting.key: setting.value for setting in self._watch.description.settings}

    # -- the topology

    def topology_summary(self) -> Mapping[str, Any]:
        """``/api/v1/topology/summary``: the one topology there is."""
        return {"topologies": [self._head()], "schedulerDisplayResource": False}

    def topology(self, window: str = ALL_TIME) -> Mapping[str, Any]:
        """``/api/v1/topology/:id``: its statistics, its components and its configuration.

        Raises:
            ViperError: there is no such window.
        """
        _check_window(window)
        roles = {each.id: each.role for each in self._watch.description.components}
        rows = [
            (roles[each.id], self._component(each, window)) for each in self._watch.last.snapshot.components
        ]
        configuration = self.configuration()
        return {
            **self._head(),
            "window": window,
            "windowHint": _WINDOWS[window],
            "msgTimeout": configuration["topology.message.timeout.secs"],
            "topologyStats": [self._statistics(each) for each in _WINDOWS],
            "spouts": [row for role, row in rows if role == "spout"],
            "bolts": [row for role, row in rows if role == "bolt"],
            "configuration": configuration,
        }

    def component(self, id: str, window: str = ALL_TIME) -> Mapping[str, Any]:
        """``/api/v1/topology/:id/component/:component``.

        Raises:
            ViperError: there is no such component, or window.
        """
        _check_window(window)
        known = {each.id: each for each in self._watch.last.snapshot.components}
        if id not in known:
            raise ViperError(unknown("component", id, known))
        seen = known[id]
        described = {each.id: each for each in self._watch.description.components}[id]
        row = self._component(seen, window)
        return {
            **row,
            "id": id,
            "encodedId": quote(id),
            "name": self._watch.description.topology,
            "topologyId": self.id,
            "componentType": seen.role,
            "window": window,
            "windowHint": _WINDOWS[window],
            "componentErrors": _errors(seen),
            f"{seen.role}Summary": [{**self._component(seen, w), **_window(w)} for w in _WINDOWS],
            "inputStats": self._inputs(id),
            "executorStats": _executors(seen, described),
        }

    def _head(self) -> dict[str, Any]:
        description = self._watch.description
        return {
            "id": self.id,
            "encodedId": quote(self.id),
            "name": description.topology,
            "owner": _user(),
            "status": _STATUS.get(self._watch.state, "KILLED"),
            **self._uptime(),
            "workersTotal": description.workers,
            "executorsTotal": self._tasks,
            "tasksTotal": self._tasks,
            "replicationCount": 1,
            "stormVersion": VERSION,
        }

    def _uptime(self) -> Mapping[str, Any]:
        seconds = int(self._watch.last.snapshot.elapsed_s)
        return {"uptime": _in_words(seconds), "uptimeSeconds": seconds}

    @property
    def _tasks(self) -> int:
        return sum(each.parallelism for each in self._watch.last.snapshot.components)

    def _statistics(self, window: str) -> Mapping[str, Any]:
        rows = [self._component(each, window) for each in self._watch.last.snapshot.components]
        spouts = [row for row in rows if "spoutId" in row]
        latencies = [float(row["completeLatency"]) for row in spouts if float(row["completeLatency"])]
        return {
            **_window(window),
            "emitted": sum(row["emitted"] for row in rows),
            "transferred": sum(row["transferred"] for row in rows),
            "completeLatency": _number(sum(latencies) / len(latencies) if latencies else 0.0),
            "acked": sum(row["acked"] for row in spouts),
            "failed": sum(row["failed"] for row in spouts),
        }

    def _component(self, now: ComponentSnapshot, window: str) -> dict[str, Any]:
        before, rates = self._since(now, window)
        median_s = percentile_s(added(task.times for task in now.tasks), 0.5)
        latest = now.error_sites[0] if now.error_sites else None
        row: dict[str, Any] = {
            f"{now.role}Id": now.id,
            f"encoded{now.role.capitalize()}Id": quote(now.id),
            "executors": now.parallelism,
            "tasks": now.parallelism,
            "emitted": now.emitted - before.get("emitted", 0),
            "transferred": now.emitted - before.get("emitted", 0),
            "acked": now.acked - before.get("acked", 0),
            "failed": now.failed - before.get("failed", 0),
            "lastError": "" if latest is None else f"{latest.kind}: {latest.message} ({latest.place})",
            "errorTime": None if latest is None else int(latest.last_s),
        }
        if now.role == "spout":
            return {**row, "completeLatency": _number((median_s or 0.0) * 1e3)}
        execute_s = rates.execute_s if rates is not None and rates.execute_s is not None else 0.0
        return {
            **row,
            "executed": now.processed - before.get("processed", 0),
            "executeLatency": _number(execute_s * 1e3),
            "processLatency": _number((median_s or 0.0) * 1e3),
            "capacity": _number(rates.capacity if rates is not None else 0.0),
        }

    def _since(
        self, now: ComponentSnapshot, window: str
    ) -> tuple[Mapping[str, int], ComponentRates | None]:
        """What a component had counted before a window, and its rates there; all time begins with nothing."""
        remembered = self._watch.over_last(float(TEN_MINUTES))
        if remembered is None:
            return {}, None
        snapshot, rates = remembered
        of_component = rates.get(now.id)
        if window == ALL_TIME or snapshot.elapsed_s == 0 or self._watch.last.snapshot.elapsed_s <= 600:
            return {}, of_component
        before = next(each for each in snapshot.components if each.id == now.id)
        names = ("emitted", "processed", "acked", "failed")
        return {name: getattr(before, name) for name in names}, of_component

    def _inputs(self, id: str) -> Sequence[Mapping[str, Any]]:
        return [
            {"component": each.source, "stream": each.stream, "grouping": each.grouping}
            for each in self._watch.description.streams
            if each.target == id
        ]


def _errors(seen: ComponentSnapshot) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "error": f"{site.kind}: {site.message}\n  at {site.place}",
            "errorTime": int(site.last_s),
            "errorHost": socket.gethostname(),
            "count": site.count,
        }
        for site in seen.error_sites
    ]


def _executors(seen: ComponentSnapshot, described: DescribedComponent) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "id": f"[{task.id}-{task.id}]",
            "encodedId": quote(f"[{task.id}-{task.id}]"),
            "host": socket.gethostname(),
            "worker": task.worker,
            "busySeconds": round(task.busy_s, 3),
            "implementation": described.implementation,
        }
        for task in seen.tasks
    ]


def _window(window: str) -> Mapping[str, str]:
    return {"window": window, "windowPretty": _WINDOWS[window]}


def _check_window(window: str) -> None:
    if window not in _WINDOWS:
        raise ViperError(f"unknown window {window!r}: expected {' or '.join(_WINDOWS)}")


def _number(value: float) -> str:
    return f"{value:.3f}"


def _in_words(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    parts = [(days, "d"), (hour, "h"), (minute, "m"), (second, "s")]
    first = next((index for index, (count, _) in enumerate(parts) if count), 3)
    return " ".join(f"{count}{unit}" for count, unit in parts[first:])


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())

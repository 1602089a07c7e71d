"""Snapshots of a run in the form of Storm's REST API, so that scrapers written for it work.

Names, and which values are texts, follow Storm 2; what has no counterpart here is empty. Counts are exact,
where Storm takes samples. A window is as long as it was seen, if that is shorter.
"""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from framework.model.errors import ViperError
from framework.model.topology import unknown
from framework.runtime.observation import ComponentSnapshot, ErrorSite, TaskSnapshot, percentile_s
from framework.version import VERSION
from framework.web.history import Done
from framework.web.watch import RunWatch

ALL_TIME = ":all-time"
_WINDOWS = {"600": "10m 0s", "10800": "3h 0m 0s", "86400": "1d 0h 0m 0s", ALL_TIME: "All time"}
_STATUS = {"starting": "ACTIVE", "running": "ACTIVE", "inactive": "INACTIVE"}
_PORT = 6700
"""The port of Storm's first worker; the others follow."""

Row = dict[str, Any]


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

    def cluster_summary(self) -> Row:
        """``/api/v1/cluster/summary``: one supervisor, whose slots are the run's workers."""
        return {
            "stormVersion": VERSION,
            "nimbusUptime": self._uptime()["uptime"],
            "supervisors": 1,
            "topologies": 1,
            **self._slots(),
            "executorsTotal": self._tasks,
            "tasksTotal": self._tasks,
            "user": _user(),
        }

    def nimbus_summary(self) -> Row:
        """``/api/v1/nimbus/summary``: the process that leads the run."""
        uptime = self._uptime()
        leader = {
            "host": socket.gethostname(),
            "port": 0,
            "status": "Leader",
            "version": VERSION,
            "nimbusUpTime": uptime["uptime"],
            "nimbusUpTimeSeconds": uptime["uptimeSeconds"],
            "nimbusLogLink": "",
        }
        return {"nimbuses": [leader]}

    def supervisor_summary(self) -> Row:
        """``/api/v1/supervisor/summary``: this machine."""
        machine = {
            "id": socket.gethostname(),
            "host": socket.gethostname(),
            **self._uptime(),
            **self._slots(),
            "totalCpu": 100.0 * (os.cpu_count() or 1),
            "version": VERSION,
            "blacklisted": False,
        }
        return {"supervisors": [machine]}

    def configuration(self) -> Row:
        """``/api/v1/cluster/configuration``: every key of the configuration."""
        return {setting.key: setting.value for setting in self._watch.description.settings}

    # -- the topology

    def topology_summary(self) -> Row:
        """``/api/v1/topology/summary``: the one topology there is."""
        return {"topologies": [self._head()], "schedulerDisplayResource": False}

    def topology(self, window: str = ALL_TIME) -> Row:
        """``/api/v1/topology/:id``: its statistics, its components and its configuration.

        Raises:
            ViperError: a window is neither a number of seconds nor all time.
        """
        rows = self._rows(window)
        configuration = self.configuration()
        return {
            **self._head(),
            "user": _user(),
            "debug": bool(configuration.get("topology.debug")),
            "samplingPct": 100,
            "topologyVersion": None,
            "window": window,
            "windowHint": _pretty(window),
            "msgTimeout": configuration["topology.message.timeout.secs"],
            "topologyStats": [{**_window(each), **_summed(self._rows(each))} for each in _WINDOWS],
            "spouts": [row for row in rows if "spoutId" in row],
            "bolts": [row for row in rows if "boltId" in row],
            "workers": [],
            "visualizationTable": [],
            "configuration": configuration,
        }

    def component(self, id: str, window: str = ALL_TIME) -> Row:
        """``/api/v1/topology/:id/component/:component``.

        Raises:
            ViperError: there is no such component, or a window is neither a number of seconds nor all time.
        """
        known = {each.id: each for each in self._watch.last.snapshot.components}
        if id not in known:
            raise ViperError(unknown("component", id, known))
        seen = known[id]
        row = self._row(seen, self._done(window)[id])
        by_window = [{**_window(each), **self._row(seen, self._done(each)[id])} for each in _WINDOWS]
        return {
            **row,
            "id": id,
            "encodedId": _encoded(id),
            "name": self._watch.description.topology,
            "topologyId": self.id,
            "encodedTopologyId": _encoded(self.id),
            "topologyStatus": self._head()["status"],
            "componentType": seen.role,
            "user": _user(),
            "window": window,
            "windowHint": _pretty(window),
            "componentErrors": [_error(site) for site in seen.error_sites],
            "spoutSummary" if seen.role == "spout" else "boltStats": by_window,
            "inputStats": self._inputs(id, row),
            "outputStats": self._outputs(id, row),
            "executorStats": [self._executor(seen, task) for task in seen.tasks],
        }

    def _head(self) -> Row:
        description = self._watch.description
        return {
            "id": self.id,
            "encodedId": _encoded(self.id),
            "name": description.topology,
            "owner": _user(),
            "status": _STATUS.get(self._watch.state, "KILLED"),
            **self._uptime(),
            "workersTotal": description.workers,
            "executorsTotal": self._tasks,
            "tasksTotal": self._tasks,
            "replicationCount": 1,
            "schedulerInfo": None,
            "stormVersion": VERSION,
        }

    def _uptime(self) -> Row:
        seconds = int(self._watch.last.snapshot.elapsed_s)
        return {"uptime": _in_words(seconds), "uptimeSeconds": seconds}

    def _slots(self) -> Row:
        workers = self._watch.description.workers
        return {"slotsTotal": workers, "slotsUsed": workers, "slotsFree": 0}

    @property
    def _tasks(self) -> int:
        return sum(each.parallelism for each in self._watch.last.snapshot.components)

    # -- components

    def _done(self, window: str) -> Mapping[str, Done]:
        _check(window)
        history = self._watch.history
        return history.total if window == ALL_TIME else history.of_last(float(window))

    def _rows(self, window: str) -> Sequence[Row]:
        done = self._done(window)
        return [self._row(each, done[each.id]) for each in self._watch.last.snapshot.components]

    def _row(self, seen: ComponentSnapshot, done: Done) -> Row:
        median_ms = _number((percentile_s(done.times, 0.5) or 0.0) * 1e3)
        row = {
            f"{seen.role}Id": seen.id,
            f"encoded{seen.role.capitalize()}Id": _encoded(seen.id),
            "executors": seen.parallelism,
            "tasks": seen.parallelism,
            "emitted": done.emitted,
            "transferred": done.emitted,
            "acked": done.acked,
            "failed": done.failed,
            **_last_error(seen),
        }
        if seen.role == "spout":
            return {**row, "completeLatency": median_ms}
        rates = self._watch.last.rates.get(seen.id)
        return {
            **row,
            "executed": done.processed,
            "executeLatency": _number(1e3 * done.busy_s / done.processed if done.processed else 0.0),
            "processLatency": median_ms,
            "capacity": _number(0.0 if rates is None else rates.capacity),
        }

    def _inputs(self, id: str, row: Row) -> Sequence[Row]:
        """Its streams; its executions are reported for all of them together, at the first one."""
        streams = [each for each in self._watch.description.streams if each.target == id]
        names = ("executed", "acked", "failed")
        return [
            {
                "component": each.source,
                "encodedComponentId": _encoded(each.source),
                "stream": each.stream,
                "grouping": each.grouping,
                **{name: 0 if number else row[name] for name in names},
                **{name: row[name] for name in ("executeLatency", "processLatency")},
            }
            for number, each in enumerate(streams)
        ]

    def _outputs(self, id: str, row: Row) -> Sequence[Row]:
        """As `_inputs`, of the streams that anybody subscribes to."""
        streams = dict.fromkeys(each.stream for each in self._watch.description.streams if each.source == id)
        names = ("emitted", "transferred", "acked", "failed")
        latency = row.get("completeLatency", _number(0.0))
        return [
            {
                "stream": stream,
                **{name: 0 if number else row[name] for name in names},
                "completeLatency": latency,
            }
            for number, stream in enumerate(streams)
        ]

    def _executor(self, seen: ComponentSnapshot, task: TaskSnapshot) -> Row:
        median_ms = _number((percentile_s(task.times, 0.5) or 0.0) * 1e3)
        return {
            "id": f"[{task.id}-{task.id}]",
            "encodedId": _encoded(f"[{task.id}-{task.id}]"),
            **self._uptime(),
            "host": socket.gethostname(),
            "port": _PORT + task.worker - 1,
            "worker": task.worker,
            "busySeconds": round(task.busy_s, 3),
            "workerLogLink": "",
            # Tasks are counted together.
            **dict.fromkeys(("emitted", "transferred", "acked", "failed", "executed"), 0),
            **dict.fromkeys(("completeLatency", "processLatency"), median_ms),
            "executeLatency": _number(0.0),
            "capacity": _number(0.0),
        }


def _summed(rows: Sequence[Row]) -> Row:
    spouts = [row for row in rows if "spoutId" in row]
    latencies = [float(row["completeLatency"]) for row in spouts if float(row["completeLatency"])]
    return {
        "emitted": sum(row["emitted"] for row in rows),
        "transferred": sum(row["transferred"] for row in rows),
        "completeLatency": _number(sum(latencies) / len(latencies) if latencies else 0.0),
        "acked": sum(row["acked"] for row in spouts),
        "failed": sum(row["failed"] for row in spouts),
    }


def _last_error(seen: ComponentSnapshot) -> Row:
    if not seen.error_sites:
        return {"lastError": "", "errorTime": None, "errorLapsedSecs": None, "errorHost": "", "errorPort": ""}
    told = _error(seen.error_sites[0])
    return {**told, "lastError": told["error"]}


def _error(site: ErrorSite) -> Row:
    return {
        "error": f"{site.kind}: {site.message} ({site.place})",
        "errorTime": int(site.last_s),
        "errorLapsedSecs": max(0, int(time.time() - site.last_s)),
        "errorHost": socket.gethostname(),
        "errorPort": _PORT,
        "errorWorkerLogLink": "",
        "count": site.count,
    }


def _window(window: str) -> Row:
    return {"window": window, "windowPretty": _pretty(window)}


def _check(window: str) -> None:
    if window != ALL_TIME and not window.isdecimal():
        raise ViperError(f"unknown window {window!r}: expected a number of seconds, or {ALL_TIME}")


def _pretty(window: str) -> str:
    return _WINDOWS.get(window) or _in_words(int(window))


def _encoded(name: str) -> str:
    return quote(name, safe="")


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

"""Resumes a run where another one has stopped, by the offsets in that run's report."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from framework.model.errors import PlaceError
from framework.planning import Plan
from framework.planning.place import UNKNOWN, Place, place_of


def going_on(plan: Plan, report: Path, known: Mapping[str, str], compared: Mapping[str, str]) -> Plan:
    """Make a plan whose spouts continue where those of another run have stopped.

    Args:
        plan: a plan with the same spouts; everything else may differ, the parallelism included.
        report: the file that the other run has written with ``--report``.
        known: the name of the data of each partitioned spout in the plan, by its id.
        compared: by what these are known, likewise, for messages; empty where nobody says it.

    Raises:
        PlaceError: the file is no report, that run has lost tuples or read other data, or a spout has no
            partitions, so that it cannot continue.
    """
    told = _read(report)
    places = {spout: _places(told, spout, report) for spout in known}
    for spout in plan.topology.spouts:
        if not plan.traits[spout.id].partitioned:
            raise PlaceError(f"spout {spout.id!r} brings no partitions, so it cannot go on where it stopped")
        if spout.id not in told["sources"]:
            raise PlaceError(f"{report}: that run had no rows from spout {spout.id!r} itself, as in a replay")
        if told["sources"][spout.id] != known[spout.id]:
            advice = f": {compared[spout.id]}" if compared[spout.id] else ", or run it from the beginning"
            raise PlaceError(
                f"{report}: spout {spout.id!r} had other data, {told['sources'][spout.id]!r}: "
                f"found {known[spout.id]!r}; give it the same{advice}"
            )
    return replace(plan, offsets=places)


def checksum(told: Mapping[str, Any]) -> str:
    """The checksum of what another run takes up of a report: the data of spouts, and how far they have come.

    Args:
        told: the report, as JSON holds it.
    """
    places = {id: component.get("places") for id, component in told["components"].items()}
    taken_up = {"sources": told["sources"], "places": places, "drained": told["drained"]}
    return f"{zlib.crc32(json.dumps(json.loads(json.dumps(taken_up)), sort_keys=True).encode()):08x}"


def _read(report: Path) -> dict[str, Any]:
    try:
        told = json.loads(report.read_text(encoding="utf-8"))
    except OSError as error:
        raise PlaceError(f"cannot read {report}: {error.strerror or error}") from error
    except ValueError as error:
        raise PlaceError(f"{report} is no report of a run: {error}") from error
    if not isinstance(told, dict) or not {"sources", "components", "drained", "reason"} <= told.keys():
        raise PlaceError(f"{report} is no report of a run: expected what viper run --report wrote")
    if "checksum" in told and told["checksum"] != checksum(told):  # earlier versions wrote none
        raise PlaceError(
            f"{report} is damaged: its checksum does not fit what it says of sources and places; run it from "
            "the beginning"
        )
    if not told["drained"] or told["reason"] == "failed" or told.get("lost"):
        raise PlaceError(
            f"{report}: that run has lost what was in flight ({told['reason']}), so nobody knows what has "
            "been processed; run it from the beginning"
        )
    return told


def _places(told: Mapping[str, Any], spout: str, report: Path) -> Mapping[int, Place]:
    try:
        found = told["components"][spout]["places"]
        places = {int(partition): place_of(place) for partition, place in found.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise PlaceError(f"{report} does not tell how far spout {spout!r} has come") from error
    if UNKNOWN in places.values():
        raise PlaceError(
            f"{report}: a worker of spout {spout!r} had died, and that run ended before rows came again, so "
            "nobody knows how far it has come; run it from the beginning"
        )
    return places

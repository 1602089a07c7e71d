"""BriskStream's applications as plain loops, which share no code with them; each rule can be another one."""

from __future__ import annotations

import calendar
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Rows = dict[str, list[tuple[Any, ...]]]
"""By the name of the sink."""
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


@dataclass(frozen=True)
class WordRules:
    """Of word count."""

    letters: frozenset[str] | None = LETTERS
    """The characters of words; None for all but blanks."""
    keeps_case: bool = True
    apart: bool = True
    """True if each word has a count of its own."""
    first: int = 1


def word_count(lines: Iterable[str], rules: WordRules | None = None) -> Rows:
    """The words of all lines with their counts."""
    rules, counts, told = rules or WordRules(), Counter[str](), []
    for line in lines:
        for word in words_of(line, rules.letters):
            one = word if rules.keeps_case else word.lower()
            key = one if rules.apart else ""
            told.append((one, counts[key] + rules.first))
            counts[key] += 1
    return {"sink": told}


def words_of(line: str, letters: frozenset[str] | None) -> list[str]:
    if letters is None:
        return line.split()
    return "".join(letter if letter in letters else " " for letter in line).split()


@dataclass(frozen=True)
class FraudRules:
    """Of fraud detection."""

    window: int = 5
    threshold: float = 0.96
    by_entity: bool = True
    waits: bool = True
    """True if there has to be a whole window."""
    forwards: bool = True
    """True if the row of the model is the state before, not that behind."""
    misses: bool = True
    """True if the probability counts that another state had come, not that of the one that did."""
    average: bool = True
    """True if it is that over the window, not that of the last transaction alone."""


def fraud_detection(lines: Iterable[str], model: Sequence[str], rules: FraudRules | None = None) -> Rows:
    """Compute the reports on transactions.

    Args:
        lines: transactions.
        model: the lines of the file with the model.
        rules: in the place of the usual ones.
    """
    rules, told = rules or FraudRules(), []
    names = model[0].split(",")
    chances = {
        name: dict(zip(names, map(float, row.split(",")), strict=True))
        for name, row in zip(names, model[1:], strict=True)
    }
    windows = defaultdict[str, deque[str]](lambda: deque(maxlen=rules.window))
    for line in lines:
        entity, _, state, *_ = line.split(",")
        window = windows[entity if rules.by_entity else ""]
        window.append(state)
        if len(window) < (rules.window if rules.waits else 2):
            continue
        states, scores = list(window), []
        for number in range(1, len(states)):
            before, now = states[number - 1], states[number]
            if not rules.forwards:
                before, now = now, before
            others = 0.0
            for name in names:
                if (name == now) != rules.misses:
                    others += chances[before][name]
            scores.append(others)
        if not rules.average:
            del scores[:-1]
        score = 0.0
        for each in scores:
            score += each
        score /= len(scores)
        if score > rules.threshold:
            told.append((entity, score, ",".join(states)))
    return {"sink": told}


@dataclass(frozen=True)
class SpikeRules:
    """Of spike detection."""

    window: int = 1000
    threshold: float = 0.03
    by_device: bool = True
    with_new: bool = True
    """True if a reading is part of its own average."""
    both_ways: bool = True
    relative: bool = True
    """True if the threshold is a share of the average."""
    wants_all: bool = True
    """True if a line needs all its fields."""


def spike_detection(lines: Iterable[str], rules: SpikeRules | None = None) -> Rows:
    """Compute the reports on readings."""
    rules, told = rules or SpikeRules(), []
    last = defaultdict[str, list[float]](list)
    sums = defaultdict[str, float](float)
    for line in lines:
        reading = reading_of(line, rules.wants_all)
        if reading is None:
            continue
        device, value = reading
        key = device if rules.by_device else ""
        known, before = last[key], sums[key] / (len(last[key]) or 1)
        if len(known) == rules.window:
            sums[key] -= known.pop(0)
        known.append(value)
        sums[key] += value
        average = sums[key] / len(known) if rules.with_new else before
        distance = value - average
        far = rules.threshold * average if rules.relative else rules.threshold
        if (abs(distance) if rules.both_ways else distance) > far:
            told.append((device, average, value, "spike detected"))
    return {"sink": told}


def reading_of(line: str, wants_all: bool) -> tuple[str, float] | None:
    fields = line.split()
    if len(fields) != 8 if wants_all else len(fields) < 5:
        return None
    time = " ".join(fields[:2])
    form = "%Y-%m-%d %H:%M:%S.%f" if "." in time else "%Y-%m-%d %H:%M:%S"
    try:
        datetime.strptime(time, form)
        return fields[3], float(fields[4])
    except ValueError:
        return None


@dataclass(frozen=True)
class LogRules:
    """Of log processing."""

    minutes: int | None = 60
    """In the ring; None to forget none."""
    as_published: bool = False
    """True if the minutes that came last are kept, by one task, not those that have places of their own."""
    zones: bool = True
    """True if the time zone counts."""
    seconds: int = 60
    """In a minute."""
    by_response: bool = True
    smallest: bool = True
    """True if the smallest network counts, not the largest."""
    by_country: bool = True
    """True if a city's name is one within its country."""
    dashes: bool = True
    """True if a response without content is one."""


Networks = Sequence[tuple[int, int, str, str]]
"""The first address, the bits that all have in common, country and city."""


class LogProcessing:
    """Counts requests.

    Args:
        networks: where addresses are.
        rules: in the place of the usual ones.
    """

    def __init__(self, networks: Networks, rules: LogRules | None = None) -> None:
        self._rules = rules or LogRules()
        self._networks = networks
        self._known: dict[str, tuple[str, str] | None] = {}
        self._minutes: dict[int, int] = {}
        self._responses = Counter[str]()
        self._countries = Counter[str]()
        self._cities = Counter[tuple[str, str]]()

    def rows(self, lines: Iterable[str]) -> Rows:
        """Compute the rows for lines."""
        volumes, statuses, places = list[Any](), list[Any](), list[Any]()
        for line in lines:
            request = self.request_of(line)
            if request is None:
                continue
            address, minute, response = request
            volumes.append((minute, self._counted(minute)))
            self._responses[response if self._rules.by_response else ""] += 1
            statuses.append((int(response), self._responses[response if self._rules.by_response else ""]))
            if address not in self._known:
                self._known[address] = self._place_of(address)
            place = self._known[address]
            if place is not None:
                country, city = place
                self._countries[country] += 1
                key = (country if self._rules.by_country else "", city)
                self._cities[key] += 1
                places.append((country, self._countries[country], city, self._cities[key]))
        return {"volumes": volumes, "statuses": statuses, "places": places}

    def request_of(self, line: str) -> tuple[str, int, str] | None:
        """Address, minute and response of a line, or None."""
        head = line.split(" ", 3)
        if len(head) < 4 or not all(head[:3]) or not head[3].startswith("["):
            return None
        time, bracket, rest = head[3][1:].partition('] "')
        minute = self._minute_of(time)
        if not bracket or minute is None:
            return None
        sizes = r"\d{1,18}|-" if self._rules.dashes else r"\d{1,18}"
        end = rest.find('" ', 1)
        while end > 0:
            response, _, more = rest[end + 2 :].partition(" ")
            if re.fullmatch("[0-9]{3}", response) and re.fullmatch(sizes, re.split(r"\s", more)[0]):
                return head[0], minute, response
            end = rest.find('" ', end + 1)
        return None

    def _minute_of(self, time: str) -> int | None:
        try:
            local = calendar.timegm(datetime.strptime(time[:20], "%d/%b/%Y:%H:%M:%S").timetuple())
            found = re.fullmatch(r" ([+-])([0-9]{2})([0-5][0-9])", time[20:])
            if found is None:
                return None
        except ValueError:
            return None
        sign, hours, minutes = found.groups()
        ahead = (int(hours) * 3600 + int(minutes) * 60) * (-1 if sign == "-" else 1)
        return (local - (ahead if self._rules.zones else 0)) // self._rules.seconds

    def _counted(self, minute: int) -> int:
        counts, ring = self._minutes, self._rules.minutes
        if minute not in counts and ring is not None:
            gone = [each for each in counts if (each - minute) % ring == 0]
            if self._rules.as_published:
                gone = list(counts)[:1] if len(counts) == ring else []
            for each in gone:
                del counts[each]
        counts[minute] = counts.get(minute, 0) + 1
        return counts[minute]

    def _place_of(self, address: str) -> tuple[str, str] | None:
        if not re.fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3}){3}", address):
            return None
        parts = list(map(int, address.split(".")))
        if max(parts) > 255:
            return None
        text = "".join(f"{part:08b}" for part in parts)
        found = [each for each in self._networks if text[: each[1]] == f"{each[0]:032b}"[: each[1]]]
        if not found:
            return None
        found.sort(key=lambda each: each[1])
        return found[-1 if self._rules.smallest else 0][2:]


def expected(name: str, lines: Sequence[str], given: Mapping[str, Any], rules: Any = None) -> Rows:
    """Compute the output of an application.

    Args:
        name: of the application.
        lines: that come in.
        given: the `model` of fraud detection, and the `networks` of log processing.
        rules: in the place of the usual ones.
    """
    if name == "word_count":
        return word_count(lines, rules)
    if name == "fraud_detection":
        return fraud_detection(lines, given["model"], rules)
    if name == "spike_detection":
        return spike_detection(lines, rules)
    return LogProcessing(given["networks"], rules).rows(lines)

"""The lines that come in, of each application: drawn from a seed, or those of a file over and over.

Lines are numbered from 0 on. They are drawn in chunks of a fixed size, each of which has a chance of its own.
So any part of them can be drawn without the lines before it, and is the same whoever draws how much.
"""

import gzip
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from brisk.markov import STATES

CHUNK = 4096
"""Lines that are drawn at once."""
TEXT = str(Path(__file__).parent.parent / "data" / "kjv.txt.gz")
CHARACTERS = np.array(list("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"))


def lines_of(path):
    """The lines of a file, plain or gzipped.

    Args:
        path: of the file.

    Raises:
        ValueError: it has none.
    """
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        found = file.read().splitlines()
    if not found:
        raise ValueError(f"{path} has no lines: expected one or more")
    return found


class Lines:
    """Draws the lines of one application.

    Args:
        seed: what they are drawn from.
        parameters: values of the application's own, by name; a `path` names a file whose lines, over and
            over, take the place of those that are drawn.
    """

    parameters = None
    """The class of its parameters."""

    def __init__(self, seed=1, **parameters):
        self.given = self.parameters(**parameters)
        self._seed = seed
        self._file = None
        self._prepare()

    def __repr__(self):
        return f"{type(self).__name__}, seed {self._seed}, {self.given}"

    def lines(self, count, first=0):
        """So many lines from a number on, in portions: pairs of the first one's number and a list."""
        end = first + count
        for chunk in range(first // CHUNK, -(-end // CHUNK)):
            begin = chunk * CHUNK
            part = slice(max(first - begin, 0), min(end - begin, CHUNK))
            yield begin + part.start, self._chunk(chunk)[part]

    def _chunk(self, number):
        if self.given.path is None:
            return self._drawn(np.random.default_rng([self._seed, number]), number * CHUNK)
        if self._file is None:
            self._file = lines_of(self.given.path)
        return [self._file[line % len(self._file)] for line in range(number * CHUNK, (number + 1) * CHUNK)]

    def _prepare(self):
        """Make what is drawn from."""

    def _drawn(self, chance, first):
        """The lines of a chunk, whose first one has this number."""
        raise NotImplementedError


@dataclass(frozen=True)
class SentencesParameters:
    """Of word count."""

    words: int | None = 10
    """In a sentence; None for the lines as they stand."""
    path: str = TEXT


class Sentences(Lines):
    """A text over and over, in sentences of equally many words; nothing of it depends on the seed."""

    parameters = SentencesParameters

    def _prepare(self):
        self._parts = lines_of(self.given.path)
        if self.given.words is not None:
            self._parts = re.findall(r"\w+", " ".join(self._parts), re.ASCII)

    def _chunk(self, number):
        each, parts = self.given.words or 1, self._parts
        places = range(number * CHUNK * each, (number + 1) * CHUNK * each, each)
        return [" ".join(parts[at % len(parts)] for at in range(place, place + each)) for place in places]


@dataclass(frozen=True)
class TransactionsParameters:
    """Of fraud detection."""

    characters: int = 3
    """Of the name of an entity, so there are 36 ** 3 of them."""
    path: str | None = None


class Transactions(Lines):
    """Transactions ``entity,record,state``, all of which are as likely."""

    parameters = TransactionsParameters

    def _drawn(self, chance, first):
        entities = CHARACTERS[chance.integers(len(CHARACTERS), size=(CHUNK, self.given.characters))]
        records = CHARACTERS[chance.integers(len(CHARACTERS), size=(CHUNK, 12))]
        states = chance.integers(len(STATES), size=CHUNK).tolist()
        drawn = zip(entities.tolist(), records.tolist(), states, strict=True)
        return [f"{''.join(entity)},{''.join(record)},{STATES[state]}" for entity, record, state in drawn]


@dataclass(frozen=True)
class ReadingsParameters:
    """Of spike detection."""

    devices: int = 54
    """As many as the laboratory had whose readings the application was made for."""
    noise: float = 0.005
    """The standard deviation of a reading, as a share of it."""
    spikes: float = 0.01
    """The share of readings that are some ten percent too high or too low."""
    broken: float = 0.0
    """The share of lines that end too early."""
    path: str | None = None


EVERY_S = 31
"""Seconds from one reading of a sensor to the next one."""
FIRST_READING = datetime(2004, 2, 28, 1, 0, 0, 27_850)
DAY_S = 86_400


class Readings(Lines):
    """Readings ``date time epoch device temperature humidity light voltage``, as of sensors in a building.

    All sensors report in each epoch, in an order that is drawn for each chunk. Temperatures go up and down
    with the day, by less than spikes are.
    """

    parameters = ReadingsParameters

    def _drawn(self, chance, first):
        given = self.given
        number = first + np.arange(CHUNK)
        devices = chance.permutation(given.devices)[number % given.devices] + 1
        passed_s = number * (EVERY_S / given.devices)
        day = np.sin(passed_s * (2 * np.pi / DAY_S))
        temperature = (20 + devices % 7 + 0.4 * day) * chance.normal(1, given.noise, CHUNK)
        spikes = chance.random(CHUNK) < given.spikes
        temperature[spikes] *= 1 + chance.choice((-0.1, 0.1), np.count_nonzero(spikes))
        humidity = 40 - 5 * day + chance.normal(0, 0.5, CHUNK)
        light = np.maximum(0, 300 * day) + chance.random(CHUNK)
        voltage = chance.normal(2.6, 0.03, CHUNK)
        columns = (passed_s, number // given.devices, devices, temperature, humidity, light, voltage)
        found = [_reading(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
        for at in np.flatnonzero(chance.random(CHUNK) < given.broken).tolist():
            found[at] = found[at].rsplit(" ", 2)[0]
        return found


def _reading(passed_s, epoch, device, temperature, humidity, light, voltage):
    time = FIRST_READING + timedelta(seconds=passed_s)
    return f"{time} {epoch} {device} {temperature:.4f} {humidity:.4f} {light:.2f} {voltage:.5f}"


@dataclass(frozen=True)
class RequestsParameters:
    """Of log processing."""

    hosts: int = 10_000
    """That ask; some of them more often than others."""
    per_second: float = 50.0
    """Requests."""
    takes_s: float = 2.0
    """The mean duration of a request: its time is when it began, and its line is written when it
    ends."""
    broken: float = 0.0
    """The share of lines that end too early."""
    path: str | None = None


FIRST_REQUEST = datetime(2015, 5, 17, 10, 5, tzinfo=UTC)
RESPONSES, RESPONSES_OFTEN = (200, 304, 404, 301, 206, 500, 403), (0.78, 0.1, 0.05, 0.03, 0.02, 0.01, 0.01)
NOT_CHANGED = 304
"""The status of a response without content."""
PAGES = 2_000


class Requests(Lines):
    """Lines of a web server's log, in the Common Log Format."""

    parameters = RequestsParameters

    def _prepare(self):
        self._hosts = np.random.default_rng(self._seed).integers(1 << 24, 224 << 24, self.given.hosts)

    def _drawn(self, chance, first):
        given = self.given
        # The square of an even number prefers the first hosts and pages.
        hosts = self._hosts[(chance.random(CHUNK) ** 2 * given.hosts).astype(np.int64)]
        pages = (chance.random(CHUNK) ** 2 * PAGES).astype(np.int64)
        took_s = chance.exponential(given.takes_s, CHUNK)
        passed_s = ((first + np.arange(CHUNK)) / given.per_second - took_s).astype(np.int64)
        responses = chance.choice(RESPONSES, CHUNK, p=RESPONSES_OFTEN)
        sizes = chance.lognormal(8, 1.5, CHUNK).astype(np.int64)
        columns = (hosts, passed_s, pages, responses, sizes)
        found = [_request(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
        for at in np.flatnonzero(chance.random(CHUNK) < given.broken).tolist():
            found[at] = found[at].rsplit(" ", 2)[0]
        return found


def _request(host, passed_s, page, response, size):
    address = ".".join(map(str, host.to_bytes(4)))
    time = (FIRST_REQUEST + timedelta(seconds=passed_s)).strftime("%d/%b/%Y:%H:%M:%S %z")
    content = "-" if response == NOT_CHANGED else size
    return f'{address} - - [{time}] "GET /page/{page} HTTP/1.1" {response} {content}'


APPLICATIONS = {
    "word_count": Sentences,
    "fraud_detection": Transactions,
    "spike_detection": Readings,
    "log_processing": Requests,
}

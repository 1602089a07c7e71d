"""The behaviour of components in tests of hosting, of either base; `ours` and `ported` put it before one.

They are found by name, as worker processes import them, and are told what to do by the configuration.
"""

from __future__ import annotations

import itertools
import logging
import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from tests.framework.runtime.workers.components import open_gate, wait_at
from tests.framework.runtime.workers.watching import show_stacks_when_told

show_stacks_when_told()


class Lists:
    """Emits the rows in ``rows``."""

    outputs = ["value"]

    def initialize(self, conf: Any, context: Any) -> None:
        self.rows = iter(conf["rows"])

    def next_tuple(self) -> None:
        self.emit(next(self.rows))


class Timed(Lists):
    """Emits rows that say their own time, in milliseconds."""

    config = {"viper.timestamp.field": "value"}


class Words(Lists):
    """Emits rows of two values."""

    outputs = ["word", "n"]


class Passes:
    """Emits what it receives."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit(list(tup.values))


class Evaluates:
    """Emits what the expressions that it receives stand for."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit([eval(tup.values[0])])


# -- values


class Reuses:
    """Emits one dict three times, and adds to it each time."""

    outputs = ["value"]

    def initialize(self, conf: Any, context: Any) -> None:
        self.value: Any = {"seen": []}

    def next_tuple(self) -> None:
        seen = self.value["seen"]
        if len(seen) == 3:
            raise StopIteration
        seen.append(len(seen))
        self.emit([self.value])


class Spoils:
    """Says what it received, and then changes it."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        self.emit([repr(tup.values[0])])
        tup.values[0]["seen"].append("spoilt")


# -- hooks and attributes


class Told:
    """Notes which hooks are called, and its attributes; nothing of a protocol is needed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.called: list[Any] = ["__init__"]

    def _refuse(self, *_args: Any, **_options: Any) -> NoReturn:
        raise AssertionError("nobody speaks with Storm here")

    run = read_handshake = read_message = read_command = _refuse

    def attributes(self: Any) -> dict[str, Any]:
        names = ("pid", "debug", "topology_name", "task_id", "component_name")
        return {name: getattr(self, name) for name in names} | {"logger": self.logger.name}

    def initialize(self: Any, conf: Any, context: Any) -> None:
        same = self.storm_conf is conf and self.context is context
        self.called.append(("initialize", self.attributes(), same))


class ToldSpout(Told):
    """Emits its notes at the first `next_tuple`."""

    outputs = ["called"]

    def activate(self) -> None:
        self.called.append("activate")

    def next_tuple(self: Any) -> None:
        if "next_tuple" in self.called:
            raise StopIteration
        self.called.append("next_tuple")
        self.emit([self.called])


class ToldBolt(Told):
    """Emits its notes for each tuple."""

    outputs = ["called"]

    def process(self: Any, tup: Any) -> None:
        self.called.append("process")
        self.emit([self.called])


class SaysContext:
    """Emits what `initialize` was given: a bolt at its first tuple, a spout at the first call."""

    outputs = ["conf", "context"]

    def initialize(self, conf: Any, context: Any) -> None:
        self.given = [conf, context]

    def process(self, tup: Any) -> None:
        self.emit(self.given)

    def next_tuple(self) -> None:
        self.emit(self.given)
        self.given = []


# -- logs


class Speaks:
    """Logs in every way, reports metrics and an exception, and continues."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        for level in ("trace", "debug", "info", "warn", "warning", "error", "critical", "what", None):
            self.log(f"by log: {level}", level=level)
        self.log(["no", "text"])
        for method in ("debug", "info", "warning", "error"):
            getattr(self.logger, method)("by logger: %s", method)
        self.report_metric("any name: at all/1", 1)
        self.report_metric("any name: at all/1", {"nested": [2]})
        try:
            raise ValueError("reported")
        except ValueError as error:
            self.raise_exception(error, tup)
            self.raise_exception(error)
        self.emit(["went on"])


class Prints:
    """Prints wherever it can."""

    outputs = ["value"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        print("printed in __init__")

    def initialize(self, conf: Any, context: Any) -> None:
        print("printed", "in", "initialize", flush=True)

    def process(self, tup: Any) -> None:
        print("printed in\nprocess")
        sys.stdout.write("written without an end")
        self.emit(list(tup.values))


class Undeclared:
    """Emits, and does not say that it would."""

    def process(self, tup: Any) -> None:
        self.emit([tup.values[0], 1])


# -- what is around it


class Touchy:
    """Has properties that raise before `initialize`, and attributes under any name."""

    outputs = ["value"]

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.log = logging.getLogger("its own")
        self.name = self.pid = self.task = self.host = self.identity = "mine"

    @property
    def conf(self) -> Any:
        if not hasattr(self, "_conf"):
            raise RuntimeError("not initialized")
        return self._conf

    tuples = result = consume = collector = conf

    def initialize(self, conf: Any, context: Any) -> None:
        self._conf = conf
        self.name = self.pid = self.log = "mine"

    def process(self, tup: Any) -> None:
        self.emit([self.conf["rows"][0][0] + self.name])


class Floods:
    """Never returns from its one call; how many it has emitted stands in the file ``written``."""

    outputs = ["value"]

    def next_tuple(self) -> None:
        with open(self.storm_conf["written"], "wb", buffering=0) as file:
            for number in itertools.count():
                os.pwrite(file.fileno(), number.to_bytes(8), 0)
                self.emit([number])


class Lags:
    """Emits for each tuple how many have been emitted after it; slower than they are emitted."""

    outputs = ["value"]

    def initialize(self, conf: Any, context: Any) -> None:
        self.descriptor = os.open(conf["written"], os.O_RDONLY | os.O_CREAT)

    def process(self, tup: Any) -> None:
        sum(range(2000))
        self.emit([int.from_bytes(os.pread(self.descriptor, 8, 0)) - tup.values[0]])

    def __del__(self) -> None:
        os.close(self.descriptor)


class Waits:
    """Emits, and waits in the same call until somebody further down has seen it, three times in one call."""

    outputs = ["value"]

    def next_tuple(self) -> None:
        for number in range(3):
            self.emit([number])
            wait_at(self.storm_conf["gates"][number])
        raise StopIteration


class Opens:
    """Opens the gate of each number that it receives."""

    def process(self, tup: Any) -> None:
        open_gate(self.storm_conf["gates"][tup.values[0]])


class SaysWord:
    """Emits the word that its own configuration has, and spoils it for nobody."""

    outputs = ["value"]

    def initialize(self, conf: Any, context: Any) -> None:
        self.words = conf["my.words"]

    def process(self, tup: Any) -> None:
        self.emit([self.words[0]])
        self.words.insert(0, "spoilt")


class SaysTuple:
    """Emits what can be said of the tuple that it received; the tuple itself comes last."""

    outputs = ["fields", "values", "dict", "joined", "columns", "tuple"]

    def process(self, tup: Any) -> None:
        tup_id, component, stream, task, values = tup
        assert (tup_id, task) == (tup.id, tup.task)
        columns = [dict(zip(each._fields, each, strict=True)) for each in [tup, tup]]  # as pandas reads them
        joined = (component, stream, *(values + values))
        assert tup.values._replace(word="other").word == "other"
        self.emit([tup._fields, tup.values._fields, tup.values._asdict(), joined, columns, tup])


class Misspells:
    """Asks for a field that its stream does not have."""

    outputs = ["word"]
    config = {"viper.on.error": "stop"}

    def process(self, tup: Any) -> None:
        self.emit([tup.values.wrod])


# -- ticks and batches


class Ticked:
    """Emits the values it gets, and (component, stream, task, values) of each tick."""

    outputs = ["value"]

    def process(self, tup: Any) -> None:
        assert not self.is_tick(tup)
        self.emit([tup.values[0]])

    def process_tick(self, tup: Any) -> None:
        assert self.is_tick(tup)
        self.emit(["tick" if tup[1:] == ("__system", "__tick", -1, (1,)) else tup])


class Batches:
    """Emits each batch; ``batch.ticks`` ticks lie between two, and the key ``batch.bad`` raises."""

    outputs = ["key", "values"]

    def initialize(self, conf: Any, context: Any) -> None:
        self.ticks_between_batches = conf["batch.ticks"]
        self.bad = conf.get("batch.bad")

    def group_key(self, tup: Any) -> Any:
        return tup.values[0] % 10

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        if key == self.bad:
            raise ValueError(f"bad key {key}")
        self.emit([key, [tup.values[0] for tup in tups]])


class SurvivingBatches(Batches):
    """Goes on after a batch that raised."""

    exit_on_exception = False


class BatchesOfTimer:
    """Marks in the folder ``marks`` that a batch has been processed."""

    outputs = ["values"]
    secs_between_batches = 0.01

    def process_batch(self, key: Any, tups: list[Any]) -> None:
        self.emit([[tup.values[0] for tup in tups]])
        (Path(self.storm_conf["marks"]) / str(tups[-1].values[0])).touch()


class UntilMarked:
    """Emits 0, 1 and 2, each when the one before it has been marked, and ends when the last one has."""

    outputs = ["value"]
    number = 0

    def next_tuple(self) -> None:
        if self.number == 0 or os.path.exists(Path(self.storm_conf["marks"], str(self.number - 1))):
            if self.number == 3:
                raise StopIteration
            self.emit([self.number])
            self.number += 1


# -- methods of its own where pystorm answers


class Notes:
    """Logs each call of a method that pystorm would call, with the value of the tuple, or "tick"."""

    outputs = ["value"]
    exit_on_exception = False

    def note(self: Any, method: str, tup: Any) -> None:
        told = tup if isinstance(tup, list) else [tup]
        values = ["tick" if one.component == "__system" else one.values[0] for one in told]
        self.logger.info("%s %s", method, " ".join(map(str, values)))

    def ack(self: Any, tup: Any) -> None:
        self.note("ack", tup)
        super().ack(tup)  # type: ignore[misc]

    def fail(self: Any, tup: Any) -> None:
        self.note("fail", tup)
        super().fail(tup)  # type: ignore[misc]

    def raise_exception(self: Any, exception: Any, tup: Any = None) -> None:
        self.note(f"raised {exception}", tup)
        super().raise_exception(exception, tup)  # type: ignore[misc]


class NotesAnswers(Notes):
    """Raises for odd numbers."""

    def process(self: Any, tup: Any) -> None:
        self.note("process", tup)
        if tup.values[0] % 2:
            raise ValueError("odd")
        self.emit([tup.values[0]])

    def process_tick(self, tup: Any) -> None:
        self.note("process_tick", tup)


class NotesBatches(Notes):
    """Raises for the batch of odd numbers."""

    def group_key(self, tup: Any) -> Any:
        return tup.values[0] % 2

    def process_batch(self: Any, key: Any, tups: Any) -> None:
        self.note("process_batch", tups)
        if key:
            raise ValueError("odd")
        self.emit([len(tups)])

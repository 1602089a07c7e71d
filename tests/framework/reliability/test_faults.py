"""The consequences when a component raises: the run stops, the component is made again, or it continues."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from framework import BatchingBolt
from framework.model.errors import ComponentError
from framework.operators.sinks import Sink
from framework.runtime import RunReport
from tests.framework.reliability.pieces import Heard, chained, ending, passing, tracked
from tests.framework.runtime.pieces import FakeClock, bolt, listed, polled, run_built

IDS = range(6)
TICKS = {"topology.tick.tuple.freq.secs": 1}
SKIP, RESTART = {"viper.on.error": "skip"}, {"viper.on.error": "restart"}


class Trouble:
    """Raises at some values, once for each, and notes how often a component was made."""

    def __init__(self, *values: Any, error: type[BaseException] = ValueError) -> None:
        self.left = list(values)
        self.made = 0
        self._error = error

    def maybe(self, value: Any) -> None:
        """Raise if that is left to be done."""
        if value in self.left:
            self.left.remove(value)
            raise self._error(f"at {value}")

    def process(self, component: Any, tup: Any) -> None:
        """A bolt's ``process``."""
        self.maybe(tup.values[0])
        component.seen.append(tup.values[0])

    def initialize(self, component: Any, *_: Any) -> None:
        """A component's ``initialize``."""
        self.made += 1
        component.seen = []

    def bolt(self, **attributes: Any) -> Any:
        """A bolt that has this trouble."""
        hooks = {"initialize": lambda self_, *args: self.initialize(self_, *args)}
        return ending(lambda self_, tup: self.process(self_, tup), **{**hooks, **attributes})


def ran(source: Any, *bolts: Any, **options: Any) -> RunReport:
    return run_built(chained(source, *bolts), **options)


# -- process


def test_stop_is_the_default_for_components_of_ours() -> None:
    with pytest.raises(ComponentError, match=r"'b1', task 1, in process: ValueError: at 3\n  tuple: Tuple\("):
        ran(tracked(Heard(), IDS), Trouble(3).bolt())


def test_skip_fails_the_tuple_and_goes_on() -> None:
    heard, trouble = Heard(), Trouble(1, 4)
    report = ran(tracked(heard, IDS), trouble.bolt(config=SKIP))
    assert (sorted(heard.acked), sorted(heard.failed)) == ([0, 2, 3, 5], [1, 4])
    counted = report.components["b1"]
    assert (counted.errors, counted.restarts, counted.failed, counted.lost) == (2, 0, 2, 0)
    assert report.components["source"].reasons == {"b1:1 raised": 2}
    assert trouble.made == 1


def test_restart_makes_the_component_anew() -> None:
    heard, trouble = Heard(), Trouble(1, 4)
    report = ran(tracked(heard, IDS), trouble.bolt(config=RESTART))
    assert (sorted(heard.acked), sorted(heard.failed)) == ([0, 2, 3, 5], [1, 4])
    counted = report.components["b1"]
    assert (counted.errors, counted.restarts, counted.lost) == (2, 2, 0)
    assert trouble.made == 3


@pytest.mark.parametrize("conf", [SKIP, RESTART])
def test_untracked_tuples_are_lost(conf: dict[str, Any]) -> None:
    def tuples(self: Any) -> Any:
        for n in range(20):
            self.emit([n], **({"tup_id": n} if n % 2 else {}))
        yield None

    heard = Heard()
    source = tracked(heard, ())
    source.tuples = tuples  # type: ignore[attr-defined]
    report = ran(source, Trouble(2, 3, 4, 9, 10).bolt(config=conf))
    assert sorted(heard.failed) == [3, 9]
    assert report.components["b1"].lost == report.lost == 3


def test_goes_on_where_it_says_so_itself() -> None:
    heard = Heard()
    ran(tracked(heard, IDS), Trouble(1).bolt(exit_on_exception=False))
    assert (len(heard.acked), heard.failed) == (5, [1])


def test_the_config_stands_above_what_the_component_says() -> None:
    with pytest.raises(ComponentError, match="at 1"):
        ran(tracked(Heard(), IDS), Trouble(1).bolt(exit_on_exception=False), viper__on__error="stop")


@pytest.mark.parametrize("conf", [SKIP, RESTART])
def test_sys_exit_is_a_reason_to_begin_anew_but_not_to_go_on(conf: dict[str, Any]) -> None:
    heard, trouble = Heard(), Trouble(2, error=SystemExit)
    if conf is SKIP:
        with pytest.raises(ComponentError, match="SystemExit"):
            ran(tracked(heard, IDS), trouble.bolt(config=conf))
    else:
        ran(tracked(heard, IDS), trouble.bolt(config=conf))
        assert (len(heard.acked), heard.failed, trouble.made) == (5, [2], 2)


def test_ported_components_are_restarted(streamparse: ModuleType) -> None:
    heard, made = Heard(), []

    def process(self: Any, tup: Any) -> None:
        if tup.values[0] == 2:
            sys.exit(1)

    attributes = {"process": process, "initialize": lambda self, *_: made.append(1), "outputs": []}
    ran(tracked(heard, IDS), type("Ported", (streamparse.Bolt,), attributes))
    assert (len(heard.acked), heard.failed, len(made)) == (5, [2], 2)


# -- restarts


def test_after_so_many_restarts_the_next_error_stops_the_run(clock: FakeClock) -> None:
    trouble = Trouble(*IDS)
    with pytest.raises(ComponentError, match=r"restarted 3 times within 60 s \(viper\.restart\.tries\)"):
        run_built(
            chained(listed(*([n] for n in IDS)), trouble.bolt(config=RESTART)),
            {"stop": clock},
            viper__restart__tries=3,
        )
    assert trouble.made == 4
    assert clock.rests[:2] == pytest.approx([0.01, 0.02])  # the first restart comes at once


def test_restarts_of_long_ago_do_not_count(clock: FakeClock) -> None:
    trouble = Trouble(*IDS)

    def process(self: Any, tup: Any) -> None:
        clock.now += 40
        trouble.process(self, tup)

    restarting = ending(process, initialize=lambda self, *_: trouble.initialize(self), config=RESTART)
    run_built(
        chained(listed(*([n] for n in IDS)), restarting),
        {"stop": clock},
        viper__restart__tries=2,
        viper__restart__window__secs=60,
    )
    assert trouble.made == 6  # as nothing comes for one that would be made after the last tuple


def test_a_pause_before_a_restart_is_waited_for_when_all_else_has_ended(clock: FakeClock) -> None:
    trouble = Trouble(3, 4)
    report = run_built(chained(listed(*([n] for n in IDS)), trouble.bolt(config=RESTART)), {"stop": clock})
    assert (report.components["b1"].restarts, report.components["b1"].lost) == (2, 2)


@pytest.mark.parametrize("hook", ["initialize", "__init__"])
def test_what_fails_to_begin_anew_stops_the_run(hook: str) -> None:
    begun: list[int] = []

    def begin(self: Any, *args: Any) -> None:
        begun.append(1)
        if len(begun) > 1:
            raise ValueError("not again")
        if hook == "__init__":
            super(cls, self).__init__()

    cls = ending(lambda self, tup: 1 / 0, config=RESTART, **{hook: begin})
    with pytest.raises(ComponentError, match=rf"in {hook}: .*ValueError: not again"):
        ran(tracked(Heard(), IDS), cls)
    assert len(begun) == 2


def test_what_a_restarted_bolt_held_fails() -> None:
    heard = Heard()
    trouble = Trouble(3)
    holding = trouble.bolt(auto_ack=False, config=RESTART)
    answering = {
        "process": lambda self, tup: (
            trouble.process(self, tup),
            self.ack(tup) if tup.values[0] > 3 else None,
        )
    }
    report = ran(tracked(heard, IDS), type("Holding", (holding,), answering))
    assert (sorted(heard.acked), sorted(heard.failed)) == ([4, 5], [0, 1, 2, 3])
    assert report.components["source"].reasons == {"b1:1 was restarted": 3, "b1:1 raised": 1}


# -- ticks and batches


def batching(trouble: Trouble, conf: dict[str, Any], **attributes: Any) -> Any:
    def process_batch(self: Any, key: Any, tups: Any) -> None:
        trouble.maybe(key)

    made = {
        "process_batch": process_batch,
        "group_key": lambda self, tup: tup.values[0] % 3,
        "initialize": lambda self, *_: trouble.initialize(self),
        "config": {**TICKS, **conf},
    }
    return type("Batching", (BatchingBolt,), {**made, **attributes})


@pytest.mark.parametrize("is_tracked", [True, False])
@pytest.mark.parametrize(("conf", "survives"), [(RESTART, False), (SKIP, False), (SKIP, True)])
def test_a_batch_that_raises_fails(
    conf: dict[str, Any], survives: bool, is_tracked: bool, clock: FakeClock
) -> None:
    """The batches after it fail with it, but where the bolt continues after exceptions."""
    heard, trouble = Heard(), Trouble(1)
    source = tracked(heard, IDS) if is_tracked else listed(*([n] for n in IDS))
    bolt_class = batching(trouble, conf, exit_on_exception=not survives)
    report = run_built(chained(source, bolt_class), {"stop": clock})
    failed = [1, 4] if survives else [1, 2, 4, 5]
    counted = report.components["b1"]
    assert sorted(heard.failed) == (failed if is_tracked else [])
    assert len(heard.acked) == (6 - len(failed) if is_tracked else 0)
    assert (counted.lost, counted.failed) == (0 if is_tracked else len(failed), len(failed))
    assert counted.restarts == trouble.made - 1


@pytest.mark.parametrize("is_tracked", [True, False])
def test_batches_of_a_bolt_that_raises_in_process_are_gone(is_tracked: bool) -> None:
    heard, trouble = Heard(), Trouble(3)

    def group_key(self: Any, tup: Any) -> Any:
        trouble.maybe(tup.values[0])

    source = tracked(heard, IDS) if is_tracked else listed(*([n] for n in IDS))
    report = ran(source, batching(trouble, RESTART, group_key=group_key))
    assert sorted(heard.failed) == ([0, 1, 2, 3] if is_tracked else [])
    assert report.components["b1"].lost == (0 if is_tracked else 4)


@pytest.mark.parametrize("conf", [SKIP, RESTART])
def test_a_tick_that_raises_loses_nothing(conf: dict[str, Any]) -> None:
    heard, trouble = Heard(), Trouble("tick")
    ticked = trouble.bolt(process_tick=lambda self, tup: trouble.maybe("tick"), config={**conf, **TICKS})
    report = ran(tracked(heard, IDS), ticked)
    assert (len(heard.acked), heard.failed) == (6, [])
    assert (report.components["b1"].errors, report.components["b1"].lost) == (1, 0)


def test_ticks_of_event_time_are_given_to_the_new_component() -> None:
    trouble, ticks = Trouble("tick"), []

    def process_tick(self: Any, tup: Any) -> None:
        trouble.maybe("tick")
        ticks.append(id(self))

    ticked = trouble.bolt(process_tick=process_tick, config={**RESTART, **TICKS})
    config = {"viper.timestamp.field": "time", "viper.timestamp.unit": "s"}
    ran(listed([0], [5], outputs=["time"], config=config), ticked, viper__time="event")
    assert trouble.made == 2
    assert len(set(ticks)) == 1
    assert len(ticks) == 5


# -- sinks


@pytest.mark.parametrize("conf", [SKIP, RESTART])
def test_a_sink_that_raises_fails_all_that_it_was_given(conf: dict[str, Any]) -> None:
    heard, trouble = Heard(), Trouble(2)

    class Raises(Sink):
        config = conf

        def consume(self, rows: Any) -> None:
            for (value,) in rows:
                trouble.maybe(value)

    report = ran(tracked(heard, IDS), Raises, viper__slice__tuples=1)
    assert (len(heard.acked), heard.failed) == (5, [2])
    assert report.components["b1"].failed == 1
    assert report.components["b1"].restarts == (conf is RESTART)


# -- spouts


@pytest.mark.parametrize("conf", [SKIP, RESTART])
@pytest.mark.parametrize("hook", ["next_tuple", "ack", "fail", "activate", "deactivate"])
def test_a_callback_of_a_spout_that_raises(hook: str, conf: dict[str, Any]) -> None:
    """A spout that is made again begins from the start, and hears nothing of emits before."""
    trouble, heard, made = Trouble(hook), Heard(), []

    def initialize(self: Any, *_: Any) -> None:
        made.append(1)
        self.n = -1

    def next_tuple(self: Any) -> None:
        trouble.maybe("next_tuple" if self.n == 2 else None)
        self.n += 1
        if self.n >= 6:
            raise StopIteration
        self.emit([self.n], tup_id=self.n)

    def raising(name: str) -> Any:
        def callback(self: Any, *args: Any) -> None:
            getattr(heard, name, lambda *_: None)(self, *args)
            trouble.maybe(name)

        return callback

    hooks = {name: raising(name) for name in ("ack", "fail", "activate", "deactivate")}
    source = polled(next_tuple, initialize=initialize, config=conf, **hooks)
    failing = ending(lambda self, tup: self.fail(tup) if tup.values[0] == 5 else None)
    counted = ran(source, failing).components["source"]
    assert trouble.left == []
    assert counted.errors == 1
    restarts = conf is RESTART and hook != "deactivate"  # there is nothing left to begin anew for
    assert (len(made), counted.restarts) == (1 + restarts, restarts)
    assert counted.tracked == counted.acked + counted.failed + counted.unanswered
    assert set(heard.acked) == {0, 1, 2, 3, 4}
    assert set(heard.failed) == {5}


def test_a_generator_that_raises_cannot_be_skipped() -> None:
    def tuples(self: Any) -> Any:
        yield [0]
        raise ValueError("no more")

    source = tracked(Heard(), (), config=SKIP)
    source.tuples = tuples  # type: ignore[attr-defined]
    with pytest.raises(ComponentError, match="no more\n  a generator cannot go on"):
        ran(source, passing())


def test_what_was_emitted_before_an_error_is_processed() -> None:
    heard, seen = Heard(), []

    def process(self: Any, tup: Any) -> None:
        self.emit([tup.values[0]])
        raise ValueError("too late")

    end = ending(lambda self, tup: seen.append(tup.values[0]))
    ran(tracked(heard, IDS), bolt(process, config=SKIP), end)
    assert (seen, sorted(heard.failed)) == (list(IDS), list(IDS))

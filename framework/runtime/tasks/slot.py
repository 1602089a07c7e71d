"""The component of a task: initialized, called, made again after an error, closed."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from framework.model.errors import ComponentError, EmitError
from framework.model.tracebacks import let_go_of_frames
from framework.operators.components import StatefulBolt
from framework.runtime.durability.state import TaskState, Transactions
from framework.runtime.exchange.collector import TaskCollector
from framework.runtime.order.tracking.answers import Unanswered
from framework.runtime.tasks.context import TaskContext, TaskStopped
from framework.runtime.tasks.hosts.faults import OnError, Recovery
from framework.runtime.tasks.hosts.host import Host
from framework.runtime.tasks.hosts.user_errors import name_the_fields, name_the_folder, user_errors
from framework.runtime.tasks.presence import Presence

if TYPE_CHECKING:
    from viper.columns.lease import Lease
    from viper.state import Scope


class ComponentSlot:
    """Holds the component that does a task's work; if it raises, it is replaced by a new one."""

    def __init__(
        self,
        context: TaskContext,
        host: Host,
        collector: TaskCollector,
        recovery: Recovery,
        presence: Presence,
        state: TaskState | None = None,
    ) -> None:
        """
        Args:
            context: the task's.
            host: drives the first component.
            collector: takes what it emits.
            recovery: what happens when it raises, and how another one is made.
            presence: who acts for the task while a callback blocks.
            state: what the component declares to remember; None if that is nothing.
        """
        self.host = host
        self.state = state
        """The declared state of the component; None if it declares none."""
        self._transactions: Transactions | None = None
        """The states of a stateful bolt."""
        self.presence = presence
        self.restart_at_s: float | None = None
        """Monotonic time in seconds at which the component is made again; None where that is not due."""
        self.process: Callable[[Any], Any]
        """Gives a bolt's component a tuple."""
        self._work: Callable[..., Any]
        """The same, without a look at what it returns."""
        self._context = context
        self._collector = collector
        self._recovery = recovery
        self._abandoned = False

    @property
    def is_gone(self) -> bool:
        """True if the component has raised and waits to be made again."""
        return self.restart_at_s is not None

    @property
    def unanswered(self) -> Unanswered:
        """The untracked tuples that the component, which decides itself when it answers, has not answered."""
        return self._collector.unanswered

    @property
    def waiting_rows(self) -> int:
        """Rows that the component has emitted and that have not been sent off."""
        return len(self._collector.buffer)

    def begin(self) -> None:
        """Bind and initialize the component.

        Raises:
            ComponentError: its `initialize` raised.
        """
        host, identity = self.host, self._context.identity
        host.bind(self._collector, identity)
        try:
            if self.state is not None:
                self.state.bind(host.component, goes_on=self._recovery.choice(host) is not OnError.STOP)
            host.initialize(identity)
            if isinstance(host.component, StatefulBolt):
                interval_s = identity.conf["topology.state.checkpoint.interval.ms"] / 1_000
                self._transactions = Transactions(host.component, interval_s)
        except user_errors() as error:
            name_the_folder(error, host.cls)
            self._context.fail("initialize", error)
        host.initialized(self._collector)
        if host.is_bolt:
            self._work = self.presence.wrap(host.process)
            self.process = self._process_first

    def _process_first(self, *args: Any) -> object:
        """Process the first tuples, and see whether that returns something which nobody awaits."""
        result = self._work(*args)
        if inspect.isawaitable(result):
            kind = type(result).__name__
            if inspect.iscoroutine(result):
                result.close()
            raise TypeError(
                f"process returned a {kind}, which nobody awaits: write it as async def process"
            )
        self.process = self._work
        return result

    def come_here(self) -> None:
        """Have the component called by the calling thread from now on."""
        self._collector.buffer.come_here()

    def call(self, during: str, callback: Callable[..., object], *args: Any) -> None:
        """Call back into the component, and deal with what it raises.

        Raises:
            ComponentError: it raised, and the run ends with it.
        """
        try:
            callback(*args)
        except user_errors() as error:
            self.raised(during, error)

    def raised(self, during: str, error: BaseException, tup: object = None) -> None:
        """Deal with an error of the component: it continues, or is to be made again.

        Raises:
            ComponentError: the run ends with it.
            TaskStopped: nobody waits for the callback any more.
        """
        self._deal(during, error, tup, self.host.raised)

    def _deal(
        self, during: str, error: BaseException, tup: object, told: Callable[[BaseException, Any], None]
    ) -> None:
        if self._abandoned:  # for that very reason, perhaps: its program was killed
            raise TaskStopped from error
        name_the_fields(error)
        name_the_folder(error, self.host.cls)
        choice = self.choice(error)
        if choice is OnError.STOP:
            self._tell(told, error, tup)
            self._context.fail(during, error, tup)
        self._collector.report_error(error, tup, during)
        self._tell(told, error, tup)
        if choice is OnError.RESTART:
            self._plan_restart(during, error, tup)
        let_go_of_frames(error)

    def refused(self, error: EmitError) -> None:
        """Deal with a tuple of the component's for which no task can be chosen, as `raised` does.

        Raises:
            ComponentError: the run ends with it.
            TaskStopped: nobody waits for the callback any more.
        """
        if self.is_gone:  # it is made anew in any case
            self.report(error, "emit")
        else:
            self._deal("emit", error, None, lambda error, tup: None)  # no callback has raised it

    def _tell(self, told: Callable[[BaseException, Any], None], error: BaseException, tup: object) -> None:
        """Let the component answer for what it has raised; another error of it changes nothing."""
        try:
            with self._collector.reported(error):
                told(error, tup)
        except user_errors() as other:
            if other.__context__ is error:
                other.__context__ = None  # which stands in the log already
            self._collector.report_error(other, tup, "what it does about an exception")

    def kept(self, lease: Lease) -> NoReturn:
        """End the run, as something keeps columns of which the component has declared that it keeps none.

        The run cannot continue, whatever ``viper.on.error`` says: their memory belongs to others.

        Args:
            lease: what lends the columns.

        Raises:
            ComponentError: always.
        """
        spec = self._context.spec
        raise ComponentError(
            spec.component,
            spec.id,
            "process_rows",
            f"{self.host.cls.__name__} declares keeps_columns = False, but something still refers to columns "
            f"that it received in a call that has returned ({_keeper(self.host.component, lease)}): keep a "
            "copy, as numpy.array() makes one, or remove the declaration",
        )

    # -- declared state

    def begin_call(self) -> None:
        """Prepare for a callback that is for no tuple, or for several.

        Raises:
            ComponentError: a value cannot be kept that an earlier one has changed.
        """
        if self.state is not None:
            try:
                self.state.begin_call()
            except user_errors() as error:
                self._context.fail("keeping its state", error)

    def key_of(self, indexes: tuple[int, ...] | None) -> tuple[Scope, tuple[int, ...]] | None:
        """Return the scope of declared state with the fields of its key in rows; None if rows have no such
        key."""
        return None if self.state is None or indexes is None else (self.state.scope, indexes)

    def take_back(self) -> None:
        """Take back what the tuple in process, or the callback, has changed of the declared state."""
        if self.state is not None:
            self.call("pre_rollback", self.host.roll_back)
            self.state.back()

    def commit(self, *, is_last: bool = False) -> None:
        """Make all changes of the declared state last.

        Args:
            is_last: whether nothing comes behind the commit.

        Raises:
            ComponentError: a value cannot be kept, or a stateful bolt raised.
        """
        self._keep(TaskState.commit, is_last)

    def write(self) -> None:
        """Write what has changed of the declared state into its tables, where it is not committed yet.

        Raises:
            ComponentError: a value cannot be kept.
        """
        if self.state is not None:
            try:
                self.state.flush()
            except user_errors() as error:
                self._context.fail("keeping its state", error)

    def flush(self, *, is_last: bool = False) -> None:
        """Write all changes of the declared state, as a commit follows; arguments as of `commit`."""
        self._keep(TaskState.flush, is_last)

    def save(self, *, commit: bool = False, hands_over: bool = False) -> None:
        """Write into the tables what lives in this process until a checkpoint, which reads it there.

        Args:
            commit: whether to make it last, as no commit follows.
            hands_over: whether it is read there by tasks that own key groups of this one next.

        Raises:
            ComponentError: a value cannot be kept.
        """
        if self.state is not None:
            try:
                if hands_over:
                    self.state.hand_over()
                else:
                    self.state.save()
                if commit:
                    self.state.writer.commit()
            except user_errors() as error:
                self._context.fail("keeping its state", error)

    def own(self, groups: range) -> None:
        """Switch the declared state by key to other key groups.

        To be called between two inputs. `save` has written the groups that are handed over, and a commit has
        made them last, before any task hears that it may take them. Every task that owned one of them has
        done so. The component keeps the handles that it has.

        Args:
            groups: those that the task owns; none for a task that stands by.

        Raises:
            ComponentError: what the groups hold cannot be read.
        """
        if self.state is not None:
            try:
                self.state.own(groups)
            except user_errors() as error:
                self._context.fail("taking over its key groups", error)

    def _keep(self, how: Callable[[TaskState], None], is_last: bool) -> None:
        if self.state is not None:
            try:
                if self._transactions is not None:
                    self._transactions.before_commit(is_last=is_last)
                how(self.state)
            except user_errors() as error:
                self._context.fail("keeping its state", error)

    # -- errors

    def report(self, error: BaseException, during: str) -> None:
        """Log an exception that changes nothing."""
        self._collector.report_error(error, None, during)

    def choice(self, error: BaseException) -> OnError:
        """Return the action after an exception."""
        if isinstance(error, ComponentError):
            return OnError.STOP  # it says more precisely what failed
        choice = self._recovery.choice(self.host)
        return OnError.STOP if choice is OnError.SKIP and isinstance(error, SystemExit) else choice

    def remake(self) -> None:
        """Make the component again; it is to be begun then.

        Raises:
            ComponentError: its constructor raised.
        """
        self.restart_at_s = None
        self._context.counters.restarts += 1
        self.host.abandon()
        self.host = self._recovery.make_host()

    def give_up_restart(self) -> None:
        """Make no new component although the last one has raised, as nothing comes that would need it."""
        if self.is_gone:
            self.restart_at_s = None
            self.host.abandon()

    def abandon(self) -> None:
        """Wait no more for the component's callback; what it has started must not outlive the run."""
        self._abandoned = True
        self.host.abandon()

    def close(self) -> None:
        """Inform the component that it is over; it cannot emit any more.

        Raises:
            ComponentError: it raised.
        """
        self._collector.close()
        self.host.unbind(self._collector)
        try:
            self.host.close()
        except user_errors() as error:
            self._context.fail("close", error)

    def let_go(self) -> None:
        """Let go of the component, which keeps nothing of the run, once `close` was called."""
        self._collector.let_go()
        self.host.let_go()
        if self.state is not None:
            self.state.let_go()
        vars(self).clear()

    def _plan_restart(self, during: str, error: BaseException, tup: object) -> None:
        budget, now = self._recovery.budget, time.monotonic()
        pause_s = budget.take(now)
        if pause_s is None:
            tried = f"restarted {budget.tries} times within {budget.window_s:g} s (viper.restart.tries)"
            self._context.fail(during, error, tup, tried)
        self.restart_at_s = now + pause_s
        words = budget.in_words("viper.restart.tries")
        gone = "its state is gone" if self.state is None else "only its declared state is left"
        self._context.logger.warning("%s is restarted%s; %s", self._context.name, words, gone)


def _keeper(component: object, lease: Lease) -> str:
    """The attribute of a component that keeps columns, in words."""
    from viper.columns.keepers import kept_in

    for name, value in getattr(component, "__dict__", {}).items():
        kept = kept_in(value, lease)
        if kept is not None:
            return f"its attribute {name!r} has {kept}"
    return "none of its attributes does"

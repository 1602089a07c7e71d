"""A program that is a component's task: a process with three pipes."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

from framework.lifeline import ending_with_this_thread
from framework.log import Origin
from framework.multilang.errors import NoMessage, ProgramError
from framework.multilang.messages import Decoder, encoded
from framework.multilang.pipes import Pipes
from framework.multilang.places import complaint_about, environment, working_folder
from framework.multilang.stderr import StderrLog

LOOK_S = 1.0
"""Seconds between two looks whether a silent program is still there; mostly its closed pipe tells before."""
LEAVE_S = 2.0
"""Seconds that a program has to end by itself once its stdin is closed."""
LAST_WORDS_S = 1.0
"""Seconds until what a dead program wrote has been read."""
GLANCE_S = 0.02
"""Seconds between two looks whether a program has ended whose pipes are held open by others."""
_STEP_S = 0.002
_TO_STDERR = "; stdout is for messages alone: print to stderr, or log"


class Program:
    """Started when it is made, and gone after `close` or `abandon`.

    It has a process group of its own, so that a Ctrl-C, which the run drains at, does not end it at once,
    and that what it starts itself ends with it. Where our own process is killed, Linux kills the program,
    too; on other systems the program only sees the end of its stdin.
    """

    def __init__(
        self,
        command: Sequence[str],
        folders: Sequence[str],
        logger: logging.Logger,
        origin: Origin,
        silence_s: float | None = None,
    ) -> None:
        """
        Args:
            command: the program and its arguments.
            folders: the project's, see `places`.
            logger: of the component.
            origin: the component and the task, for the log.
            silence_s: seconds after which a program that was asked and says nothing is killed; None
                waits for as long as it lives.

        Raises:
            ProgramError: it cannot be started.
        """
        self.phase = ""
        """When something happens, to stand after it in messages: ``" in the handshake"``."""
        self.reported: str | None = None
        """The last error that it has told of."""
        self._silence_s = silence_s
        self._failure: ProgramError | None = None
        self._listening = False
        self._decoder = Decoder()
        folder = working_folder(command, folders)
        complaint = complaint_about(command, folders)
        if complaint:
            raise ProgramError(f"the program {_shown(command)} cannot be started: {complaint}")
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment(folders),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                preexec_fn=ending_with_this_thread(),
            )
        except (OSError, ValueError) as error:
            raise ProgramError(f"the program {_shown(command)} cannot be started: {error}") from error
        self._name = f"the program {_shown(command)} (pid {self._process.pid}, in {str(folder)!r})"
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stderr = StderrLog(self._process.stderr, logger, origin)
        self._stderr.start()
        self._pipes = Pipes(self._process.stdin.fileno(), self._process.stdout.fileno())

    # -- messages

    def send(self, message: Any) -> None:
        """Send a message; it is written while the answer is waited for.

        Raises:
            ProgramError: it has a value that JSON cannot carry, or the program has failed before.
        """
        data = encoded(message)
        if self._failure is not None:
            raise self._failure
        self._pipes.put(data)

    def receive(self) -> dict[str, Any]:
        """The next message; waits for it.

        Raises:
            ProgramError: the program has ended, or does not speak the protocol; it is gone now.
        """
        if self._failure is not None:
            raise self._failure
        self._listening = True
        try:
            message = self._awaited()
        except NoMessage as error:
            raise self.given_up(f"has written to stdout what is no message: {error}", _TO_STDERR) from None
        finally:
            self._listening = False
        if not isinstance(message, dict):
            raise self.given_up(f"has sent {message!r:.300}: expected an object with a command")
        return message

    def _awaited(self) -> Any:
        since = time.monotonic()
        while (message := self._decoder.next()) is None:
            wait_s = LOOK_S if self._silence_s is None else min(LOOK_S, self._silence_s)
            data = self._pipes.read(wait_s)
            if data is None and self._has_exited():
                data = self._pipes.read(0) or b""  # what it starts itself may hold the pipe open
            if data:
                self._decoder.feed(data)
            elif data is not None:
                raise self._ended()
            elif self._pipes.deaf and not self._exits_within(LAST_WORDS_S):
                raise self.given_up("has closed its stdin")
            elif self._silence_s is not None and time.monotonic() - since >= self._silence_s:
                what = f"has said nothing for {self._silence_s:g} s (topology.subprocess.timeout.secs)"
                raise self.given_up(what)
        return message

    # -- failures

    def given_up(self, what: str, hint: str = "") -> ProgramError:
        """Kill the program, as it cannot be used any more; returns the error to be raised from now on.

        Args:
            what: goes on after the program's name.
            hint: what to do about it.
        """
        self._listening = False
        self.abandon()
        told = [f"{self._name} {what}{self.phase}{hint}"]
        if self.reported is not None:
            told.append(f"it has reported: {self.reported.rstrip()}")
        if self._stderr.last:
            told.append("\n    ".join(["the end of its stderr:", *self._stderr.last]))
        self._failure = ProgramError("\n  ".join(told))
        return self._failure

    def _ended(self) -> ProgramError:
        has_exited = self._exits_within(LAST_WORDS_S)
        self._kill()
        how = _how_it_ended(self._process.returncode) if has_exited else "has closed its stdout"
        rest = self._decoder.rest
        return self.given_up(how, f"\n  the last that it wrote: {rest!r:.300}" if rest else "")

    # -- its end

    def close(self) -> None:
        """Close its stdin, at which it should end, and kill it if it does not soon."""
        if self._process.stdin is None or self._process.stdin.closed:
            return
        self._pipes.end()
        self._process.stdin.close()
        until = time.monotonic() + LEAVE_S
        while (left_s := until - time.monotonic()) > 0 and not self._has_exited():
            # It may have to get rid of something to get to its end.
            if self._pipes.read(min(left_s, GLANCE_S)) == b"":
                self._exits_within(left_s)
        self.abandon()

    def abandon(self) -> None:
        """Kill it, with everything that it has started; nothing happens if it is gone already.

        Where another thread waits for an answer it gets the end of the program.
        """
        self._kill()
        self._failure = self._failure or ProgramError(f"{self._name} does not run any more")
        self._stderr.join(LAST_WORDS_S)
        if not self._listening:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def _kill(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # nobody can kill one that is another user's
            self._process.wait(LEAVE_S)

    def _exits_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self._has_exited():
            if time.monotonic() >= until:
                return False
            time.sleep(_STEP_S)
        return True

    def _has_exited(self) -> bool:
        # It is not reaped here: as long as it is not, nobody else can have its process group's number.
        if self._process.returncode is not None:
            return True
        try:
            return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:
            return True  # another thread has killed it


def _how_it_ended(status: int | None) -> str:
    if status is None:
        return "has ended"
    if status >= 0:
        return f"has ended with exit status {status}"
    with contextlib.suppress(ValueError):
        return f"was killed by {signal.Signals(-status).name}"
    return f"was killed by signal {-status}"


def _shown(command: Sequence[str]) -> str:
    return repr(" ".join(command))

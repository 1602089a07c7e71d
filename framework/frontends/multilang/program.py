"""The process of a program: how it is started, sends and receives messages, fails and ends."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from framework.common.lifeline import ending_with_this_thread
from framework.frontends.multilang.messages import Decoder, InvalidMessage, encoded
from framework.model.errors import ProgramError
from framework.model.programs import environment, problem_with, working_folder
from framework.model.topology import ShellImplementation
from framework.operators.log import Origin, speaking_as

CHECK_S = 1.0
"""Seconds between two checks whether a silent program is alive; mostly a closed pipe shows its end before."""
EXIT_S = 2.0
"""Seconds that a program has to end by itself once its stdin is closed."""
OUTPUT_S = 1.0
"""Seconds to wait for the exit, and for the last output, of a program that is ending."""
EXIT_CHECK_S = 0.02
"""Seconds between two checks whether a program has ended whose pipes are held open by others."""
LONGEST_SHOWN = 10_000
"""Characters of an error which the program has reported that are shown if it fails."""
LONGEST_LINE_SHOWN = 1_000
"""Characters of each of the last lines of its stderr, likewise."""
_STEP_S = 0.002
_TO_STDERR = "; stdout is for messages alone: print to stderr, or log"


class Program:
    """A process that starts with this object, and ends with `close` or `abandon`.

    It has a process group of its own. So a Ctrl-C of the terminal, at which the run drains, does not end it,
    and the processes that it starts itself end with it. When this process is killed, Linux kills the program,
    too; on other systems the program only sees the end of its stdin.
    """

    def __init__(
        self,
        program: ShellImplementation,
        folders: Sequence[str],
        logger: logging.Logger,
        origin: Origin,
        silence_s: float | None = None,
    ) -> None:
        """
        Args:
            program: its command, and where and with which environment it runs.
            folders: the project's, see `framework.model.programs`.
            logger: of the component.
            origin: the component and the task, for the log.
            silence_s: seconds after which a program that does not answer is killed; None to wait for as
                long as it lives.

        Raises:
            ProgramError: it cannot be started.
        """
        self._phase = ""
        """Stands at the end of what is reported: ``" in the handshake"``."""
        self._reported: str | None = None
        """The last error that the program has reported."""
        self._pid_folder: str | None = None
        self._silence_s = silence_s
        self._failure: ProgramError | None = None
        self._is_receiving = False
        self._is_input_over = False
        self.has_ended = False
        """True if the program has closed its stdout, behind the end of its input."""
        command = program.command
        folder = working_folder(command, folders, stays=program.stays)
        problem = problem_with(command, folders, stays=program.stays)
        if problem:
            raise ProgramError(f"the program {_shown(command)} cannot be started: {problem}")
        try:
            self._process = subprocess.Popen(
                command,
                cwd=folder,
                env=environment(folders, program.env),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                process_group=0,
                preexec_fn=ending_with_this_thread(),
            )
        except (OSError, ValueError) as error:
            raise ProgramError(f"the program {_shown(command)} cannot be started: {error}") from error
        self._name = f"the program {_shown(command)} (pid {self._process.pid}, in {str(folder)!r})"
        self.leniency = Leniency(self._name, logger)
        """Counts what it sends that is none of the protocol, and that Storm takes."""
        self._decoder = Decoder(self.leniency.note)
        assert self._process.stdin and self._process.stdout and self._process.stderr
        self._stderr = StderrLog(self._process.stderr, logger, origin)
        self._stderr.start()
        self._pipes = Pipes(self._process.stdin.fileno(), self._process.stdout.fileno())

    # -- messages

    def send(self, message: Any) -> None:
        """Send a message; `receive` writes it while it waits for the answer.

        Raises:
            ProgramError: JSON cannot carry a value of the message, or the program has failed before.
        """
        data = encoded(message)
        if self._failure is not None:
            raise self._failure
        self._pipes.put(data)

    def receive(self) -> dict[str, Any]:
        """Wait for the next message.

        Raises:
            ProgramError: the program has ended, or breaks the protocol, and is killed for that.
        """
        message = self._received(None)
        assert message is not None
        return message

    def receive_within(self, seconds: float) -> dict[str, Any] | None:
        """The next message, if one comes within so many seconds; errors as for `receive`."""
        return self._received(time.monotonic() + seconds)

    def _received(self, until_s: float | None) -> dict[str, Any] | None:
        if self._failure is not None:
            raise self._failure
        self._is_receiving = True
        try:
            message = self._next_message(until_s)
        except InvalidMessage as error:
            raise self.given_up(f"has written to stdout what is no message: {error}", _TO_STDERR) from None
        finally:
            self._is_receiving = False
        if message is not None and not isinstance(message, dict):
            raise self.given_up(f"has sent {message!r:.300}: expected an object with a command")
        return message

    def _next_message(self, until_s: float | None) -> Any:
        """The next message; None if none has come until a monotonic time in seconds."""
        since = time.monotonic()
        while (message := self._decoder.next()) is None:
            wait_s = CHECK_S if self._silence_s is None else min(CHECK_S, self._silence_s)
            if until_s is not None:
                wait_s = min(wait_s, max(until_s - time.monotonic(), 0.0))
            data = self._pipes.read(wait_s)
            if data is None and self._has_exited():
                data = self._pipes.read(0) or b""  # a process that it has started may hold the pipe open
            if data:
                self._decoder.feed(data)
            elif data is not None and self._decoder.close():
                continue
            elif data is not None and self._is_input_over and not self._decoder.rest:
                self.has_ended = True
                return None
            elif data is not None:
                raise self._ended()
            elif until_s is not None and time.monotonic() >= until_s:
                return None
            elif self._pipes.stdin_closed and not self._exits_within(OUTPUT_S):
                raise self.given_up("has closed its stdin")
            elif self._silence_s is not None and time.monotonic() - since >= self._silence_s:
                what = f"has sent nothing for {self._silence_s:g} s (topology.subprocess.timeout.secs)"
                raise self.given_up(what)
        return message

    # -- the handshake

    @contextlib.contextmanager
    def phase(self, text: str) -> Iterator[None]:
        """Within it, errors say that they happened ``in the handshake``, or whatever the text is."""
        self._phase = f" {text}"
        yield
        self._phase = ""

    def make_pid_folder(self) -> str:
        """Make the folder in which the program leaves a file that is named after its pid.

        It exists until `remove_pid_folder`, or until the program has ended.
        """
        self._pid_folder = tempfile.mkdtemp(prefix="viper-pids-")
        return self._pid_folder

    def remove_pid_folder(self, *, if_used: bool = False) -> None:
        """Remove that folder, if it is still there.

        Args:
            if_used: whether to keep it until the program has left its file there.
        """
        folder = self._pid_folder
        if folder is not None and (not if_used or any(Path(folder).glob("*"))):
            self._pid_folder = None
            shutil.rmtree(folder, ignore_errors=True)

    # -- failures

    def report(self, error: str) -> None:
        """Keep an error that the program has reported, to show it if the program fails."""
        self._reported = error

    def given_up(self, what: str, hint: str = "") -> ProgramError:
        """Kill the program, which cannot be used any more; returns the error to raise.

        Args:
            what: the action of the program; it follows the program's name.
            hint: what to do about it.
        """
        self._is_receiving = False
        self.abandon()
        lines = [f"{self._name} {what}{self._phase}{hint}"]
        if self._reported is not None:
            lines.append(f"it has reported: {self._reported.rstrip():.{LONGEST_SHOWN}}")
        if self._stderr.last:
            last = [f"{line:.{LONGEST_LINE_SHOWN}}" for line in self._stderr.last]
            lines.append("\n    ".join(["the end of its stderr:", *last]))
        self._failure = ProgramError("\n  ".join(lines))
        return self._failure

    def silent_about(self, request: str) -> str:
        """The sentence on a program that has not answered a request, with the key by which it is killed.

        Args:
            request: what it has to answer, after its handshake.
        """
        awaited = "the handshake by its pid" if self._phase else request
        seconds = "is not set" if self._silence_s is None else f"is {self._silence_s:g}"
        return (
            f"{self._name} has not answered {awaited}; topology.subprocess.timeout.secs, after which such a "
            f"program is killed, {seconds}"
        )

    def _ended(self) -> ProgramError:
        has_exited = self._exits_within(OUTPUT_S)
        self._kill()
        how = _how_it_ended(self._process.returncode) if has_exited else "has closed its stdout"
        rest = self._decoder.rest
        return self.given_up(how, f"\n  the last that it wrote: {rest!r:.300}" if rest else "")

    # -- its end

    def end_input(self) -> None:
        """Close the program's stdin; what it writes to stdout then can be received until `has_ended`."""
        if not self._is_input_over and self._process.stdin is not None:
            self._is_input_over = True
            self._pipes.end()
            self._process.stdin.close()

    def close(self) -> None:
        """Close the program's stdin, at which it should end, and kill it if it does not within `EXIT_S`."""
        if self._failure is not None:
            return
        self.end_input()
        until = time.monotonic() + EXIT_S
        while (left_s := until - time.monotonic()) > 0 and not self._has_exited():
            # It may have to write something before it can end, so its output is read.
            if self._pipes.read(min(left_s, EXIT_CHECK_S)) == b"":
                self._exits_within(left_s)
        self.abandon()

    def abandon(self) -> None:
        """Kill the program, with everything that it has started; nothing happens if it has ended already.

        Another thread that waits for an answer gets a ProgramError.
        """
        self._kill()
        self.remove_pid_folder()
        self.leniency.close()
        self._failure = self._failure or ProgramError(f"{self._name} does not run any more")
        self._stderr.join(OUTPUT_S)
        if not self._is_receiving:
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()

    def _kill(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):  # it may run as another user
            self._process.wait(EXIT_S)

    def _exits_within(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while not self._has_exited():
            if time.monotonic() >= until:
                return False
            time.sleep(_STEP_S)
        return True

    def _has_exited(self) -> bool:
        # It is not reaped here: until it is, no other process can get the number of its process group.
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


class Leniency:
    """Warns once of each kind of thing, and counts the others.

    Args:
        name: of the program, for messages.
        logger: of the component.
    """

    def __init__(self, name: str, logger: logging.Logger) -> None:
        self._name = name
        self._logger = logger
        self._counts = Counter[str]()

    def note(self, kind: str, told: str) -> None:
        """Note how an action of the program was taken.

        Args:
            kind: what kind of thing it is, in the plural.
            told: the action of the program, and the way it is taken.
        """
        self._counts[kind] += 1
        if self._counts[kind] == 1:
            self._logger.warning("%s %s; further ones are counted", self._name, told)

    def close(self) -> None:
        """Log how many there were, where it was more than one."""
        for kind, count in self._counts.items():
            if count > 1:
                self._logger.info("%s has sent %s %s", self._name, f"{count:,}", kind)
        self._counts.clear()


CHUNK = 1 << 16
"""Bytes that are read from stdout at once."""
KEPT_LINES = 10
"""Last lines of stderr that are kept for the message that reports the program's end."""
LONGEST_LINE = 1 << 16
"""Bytes after which a line of stderr is logged although it continues."""


class Pipes:
    """Writes to a program's stdin while it reads from its stdout, so that neither side waits for ever.

    `put` only keeps the data; `read` writes as much of it as the program takes.
    """

    def __init__(self, stdin: int, stdout: int) -> None:
        """
        Args:
            stdin: descriptor of the pipe that the program reads from.
            stdout: descriptor of the pipe that the program writes to.
        """
        self._stdin = stdin
        self._stdout = stdout
        self._unsent = bytearray()
        self._is_open = True
        """True if anything can be written."""
        self.stdin_closed = False
        """True if the program has closed its stdin."""
        self._poll = select.poll()
        os.set_blocking(stdin, False)
        os.set_blocking(stdout, False)
        self._poll.register(stdout, select.POLLIN)
        self._poll.register(stdin, 0)  # poll reports its closing all the same

    def put(self, data: bytes) -> None:
        """Add data that the next reads write."""
        if self._is_open:
            self._unsent += data

    def end(self) -> None:
        """Drop what has not been written, and write no more."""
        self._unsent.clear()
        if self._is_open:
            self._is_open = False
            self._poll.unregister(self._stdin)

    def read(self, timeout_s: float) -> bytes | None:
        """The program's text since then; empty when it has closed its end, None if nothing has come yet.

        Args:
            timeout_s: how long to wait for output, or for room to write.
        """
        if self._unsent:
            self._write()
        if self._is_open:
            self._poll.modify(self._stdin, select.POLLOUT if self._unsent else 0)
        for descriptor, event in self._poll.poll(timeout_s * 1000):
            if descriptor == self._stdin and event & select.POLLERR:
                self._lose_reader()
        try:
            return os.read(self._stdout, CHUNK)
        except BlockingIOError:
            return None

    def _write(self) -> None:
        try:
            written = os.write(self._stdin, self._unsent)
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._lose_reader()
            return
        del self._unsent[:written]

    def _lose_reader(self) -> None:
        self.stdin_closed = True
        self.end()


class StderrLog(threading.Thread):
    """Logs a program's stderr until the program, and all that it has started, have closed it.

    Args:
        stream: the pipe, which the thread closes at its end.
        logger: of the component.
        origin: the component and the task.
    """

    def __init__(self, stream: IO[bytes], logger: logging.Logger, origin: Origin) -> None:
        super().__init__(name="viper-stderr", daemon=True)
        self._stream = stream
        self._logger = logger
        self._origin = origin
        self.last: deque[str] = deque(maxlen=KEPT_LINES)
        """The last lines."""

    def run(self) -> None:
        """Log each line as info, which is Storm's level for it."""
        with self._stream, speaking_as(self._origin):
            while line := self._stream.readline(LONGEST_LINE):
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                self.last.append(text)
                self._logger.info("%s", text)

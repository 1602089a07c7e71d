"""The changes of files and folders, as the kernel tells of them.

A file of its own: it knows the kernel, and not what is read.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
from collections.abc import Mapping
from typing import Any, Final

from framework.operators.components import Later, when_readable

FILE: Final = 0x2 | 0x4 | 0x400 | 0x800
"""IN_MODIFY, IN_ATTRIB, which a removal is while somebody reads the file, IN_DELETE_SELF and IN_MOVE_SELF."""
FOLDER: Final = 0x40 | 0x80 | 0x100 | 0x200 | 0x400 | 0x800
"""IN_MOVED_FROM, IN_MOVED_TO, IN_CREATE, IN_DELETE, IN_DELETE_SELF and IN_MOVE_SELF."""
NEW_NAMES: Final = 0x80 | 0x100
"""IN_MOVED_TO and IN_CREATE, of a folder."""
LOOK_S: Final = 1.0
"""Seconds after which one looks although nothing was told: a link may lead elsewhere now."""
_EVENTS_BYTES: Final = 1 << 16
_REMOTE: Final = frozenset(
    {"9p", "afs", "ceph", "cifs", "gfs2", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "orangefs"}
    | {"prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs"}
)
"""Types of file systems that others may write to from elsewhere, of which the kernel here does not tell."""


class Changes:
    """Tells when something has changed.

    Args:
        masks: for each path the changes that count.
    """

    def __init__(self, masks: Mapping[str, int]) -> None:
        self._masks = masks
        self._descriptor = -1
        self.silence: str | None = None
        """The reason for which the kernel tells nothing; None if it does, or was not asked yet."""

    def begins(self) -> bool:
        """Have the kernel tell from now on; true if it has just begun, so that one has to look once more."""
        if self._descriptor >= 0 or self.silence is not None:
            return False
        self.silence = next(filter(None, map(_remote, self._masks)), None)
        if self.silence is None:
            self._begin()
        return self._descriptor >= 0

    def _begin(self) -> None:
        try:
            self._descriptor = _call("inotify_init1", os.O_CLOEXEC | os.O_NONBLOCK)
            for path, mask in self._masks.items():
                _call("inotify_add_watch", self._descriptor, os.fsencode(path), mask)
        except (OSError, AttributeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "the system has no inotify"
            self.close()
            self.silence = f"inotify: {reason}" if isinstance(error, OSError) else reason

    @property
    def next(self) -> Later | None:
        """The event of the next change; None if nobody tells of it."""
        return None if self._descriptor < 0 else when_readable(self, timeout=LOOK_S)

    def forget(self) -> None:
        """Take note of all so far; to be called before one looks at what has changed."""
        with contextlib.suppress(BlockingIOError):
            while self._descriptor >= 0:
                os.read(self._descriptor, _EVENTS_BYTES)

    def fileno(self) -> int:
        """The descriptor that is readable if something has changed; -1 without one."""
        return self._descriptor

    def close(self) -> None:
        """Have nothing told any more."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


@functools.cache
def _libc() -> ctypes.CDLL:
    """The C library of this process, once: what `ctypes` makes of it refers to itself."""
    return ctypes.CDLL(None, use_errno=True)


def _call(name: str, *args: Any) -> int:
    result = int(getattr(_libc(), name)(*args))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _remote(path: str, mounts: str = "/proc/self/mountinfo") -> str | None:
    """The type of the file system in words, if others may write to it from elsewhere; else None."""
    try:
        device = os.stat(path).st_dev
        with open(mounts, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return None
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in lines:
        mount, _, kind = line.partition(" - ")
        name = kind.split(" ")[0]
        if mount.split(" ")[2] == wanted and (name in _REMOTE or name.startswith("fuse")):
            return f"others may write to a file system of type {name} from elsewhere"
    return None

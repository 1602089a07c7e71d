from collections.abc import Callable, Iterator, Sequence
from typing import Any

from typing_extensions import Buffer

class Outbox:
    discarded: int
    def __init__(
        self,
        ports: tuple[tuple[str, int, bool], ...],
        slow: Callable[..., Any],
        on_full: Callable[[], object],
        limit: int,
    ) -> None: ...
    def emit(self, values: Sequence[Any], **options: Any) -> Any: ...
    def append(self, port: int, row: tuple[Any, ...], /) -> None: ...
    def take(self) -> tuple[list[tuple[Any, ...]], bytes | None]: ...
    def __len__(self) -> int: ...

class Inbox:
    open: bool
    def __init__(self, record: type[tuple[Any, ...]], outbox: Outbox | None) -> None: ...
    def load(
        self,
        rows: list[tuple[Any, ...]],
        first: int,
        count: int,
        component: str,
        stream: str,
        task: int,
        values: type[tuple[Any, ...]] | None,
        /,
    ) -> Inbox: ...
    def cut(self) -> bytes: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __next__(self) -> Any: ...

def is_plain(value: object, /) -> bool: ...
def partition(
    rows: list[tuple[Any, ...]], targets: Buffer, parts: int, /
) -> list[list[tuple[Any, ...]]]: ...

"""Values of classes that were redefined since: their emit says so, and not only what pickle says."""

from __future__ import annotations

import pytest

from framework.model.errors import EmitError
from framework.runtime.exchange.values import snapshot

NAMES = ("Redefined", "Deleted")


class Redefined:
    def __repr__(self) -> str:
        return "<old>"


class Deleted:
    def __repr__(self) -> str:
        return "<old>"


old = Redefined(), Deleted()


class Redefined:  # type: ignore[no-redef]
    pass


del Deleted


@pytest.mark.parametrize(("value", "name"), list(zip(old, NAMES, strict=True)), ids=NAMES)
@pytest.mark.parametrize("wrapped", [False, True])
def test_it_is_said(value: object, name: str, wrapped: bool) -> None:
    with pytest.raises(EmitError) as error:
        snapshot([value] if wrapped else value)
    assert str(error.value).endswith(
        f"; the class {__name__}.{name} was redefined or deleted after the value was made, so its module has "
        "it no more: make the value again"
    )


def test_of_a_class_within_a_function_it_is_not() -> None:
    class Local:
        pass

    with pytest.raises(EmitError, match=r"emit values that pickle can carry$"):
        snapshot(Local())

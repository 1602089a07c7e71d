"""Reads values that were pickled when they were remembered."""

from __future__ import annotations

import pickle
from typing import Any

from framework.model.errors import StateError


def loaded(data: bytes) -> Any:
    """The value.

    Raises:
        StateError: nothing has its class's name any more.
    """
    try:
        return pickle.loads(data)
    except (AttributeError, ImportError) as error:
        if isinstance(error, AttributeError) and not str(error).startswith("Can't get attribute"):
            raise  # of the class's own code
        raise StateError(
            f"a value that was remembered cannot be read, as its class is not there: {error}; define or "
            "import it under the name that it had when the value was kept"
        ) from error

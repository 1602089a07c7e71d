"""An error of user code, as one record of the log."""

from __future__ import annotations

import logging

from framework.tracebacks import exc_info_of_user_code


def log_error(logger: logging.Logger, error: BaseException, message: str, *args: object) -> None:
    """Log an error with its traceback from the user's own code on.

    It is one record: what is said of what comes of the error is to follow in others.

    Args:
        logger: the component's.
        error: what user code raised.
        message: what it did, as in ``Logger.error``, like its arguments.
    """
    logger.error(message, *args, exc_info=exc_info_of_user_code(error))


def log_raised(
    logger: logging.Logger, error: BaseException, tup: object = None, during: str | None = None
) -> None:
    """Log what a callback raised that the component goes on after.

    Args:
        logger: the component's.
        error: what it raised.
        tup: the tuple that it was called with; None or an empty one for none.
        during: the callback, where that has to be said.
    """
    if tup:
        log_error(logger, error, "%s raised while processing %.500s", type(error).__name__, repr(tup))
    else:
        where = f" in {during}" if during else ""
        log_error(logger, error, "%s raised%s", type(error).__name__, where)

"""Exit codes of the command line, and one sentence on stderr for each failure."""

from __future__ import annotations

import errno
import io
import logging
import sys
from collections.abc import Callable

from pbmserv.errors import ConfigError, OperatorError, ServerFault, StartRefused

_MACHINE_ERRORS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


def exit_code_of(work: Callable[[], int]) -> int:
    """Run a command and print one sentence about its failure, if any.

    Returns:
        The exit code: 0 success, 1 refused or failed, 2 wrong usage or settings, or a database that
        does not fit. A service manager does not try again after 2.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An ASCII terminal must not stop the program at an unusual character of a letter.
            stream.reconfigure(errors="replace")
    try:
        return work()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    except KeyboardInterrupt:
        return _complain("\nAborted.", 1)
    except ConfigError as error:
        return _complain(_wrong_settings(str(error)), 2)
    except StartRefused as error:
        return _complain(f"pbmserv: {error}", 2)
    except (OperatorError, ServerFault) as error:
        return _complain(f"pbmserv: {error}", 1)
    except Exception as error:
        reason = _machine_failure(error) or _database_failure(error)
        if reason is None:
            raise
        return _complain(f"pbmserv: {reason}", 1)


def _complain(text: str, code: int) -> int:
    log = sys.modules.get("pbmserv.log")  # if a server has begun to log
    if log is not None and log.writes_json():
        log.notice(text.removeprefix("pbmserv: "), logging.ERROR)
        return code
    from pbmserv.cli.output import complain

    complain(text)
    return code


def _machine_failure(error: Exception) -> str | None:
    """Return the reason why the machine refuses a file, or `None` for another kind of error."""
    if (
        not isinstance(error, OSError)
        or error.filename is None
        or error.errno not in _MACHINE_ERRORS
    ):
        return None
    from pbmserv.files import why_not

    return f"{error.filename}: {why_not(error)}"


def _database_failure(error: Exception) -> str | None:
    """Return the driver's own message if the database failed, else `None`."""
    if "sqlalchemy" not in sys.modules:  # no database was opened
        return None
    from pbmserv.store.core.database import outage_line

    words = outage_line(error)
    return None if words is None else f"the database cannot be used: {words}"


def _wrong_settings(message: str) -> str:
    lines = message.splitlines()
    if len(lines) == 1:
        return f"pbmserv: a setting is wrong: {message}"
    return "\n  ".join([f"pbmserv: {len(lines)} settings are wrong:", *lines])

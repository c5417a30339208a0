"""The command line: one file for each group of commands.

Here is how it begins and ends, and ``serve`` as it is usually written. `main` reads all else, with
a library for it and every command's options: a fifth of a start, and memory that a server would
hold on to.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pbmserv.errors import ConfigError, OperatorError, ServerFault


def run(arguments: Sequence[str]) -> int:
    """Carry out one command line; its exit code, see `ended`."""
    usual = _usual_serve(arguments)
    if usual is None:
        from pbmserv.cli.main import run as run_any

        return run_any(arguments)
    return ended(partial(serve, *usual))


def _usual_serve(arguments: Sequence[str]) -> tuple[Path | None, bool, str] | None:
    """The options of a ``serve`` that has nothing else; ``None``: it has, or it is not one."""
    if arguments[:1] != ["serve"]:
        return None
    config, without_mail, only = None, False, ""
    rest = iter(arguments[1:])
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--without-mail":
            without_mail = True
            continue
        value = value if equals else next(rest, "")
        if name not in {"--config", "--only"} or not value or value.startswith("-"):
            return None
        if name == "--config":
            config = Path(value)
        else:
            only = value
    return config, without_mail, only


def serve(config: Path | None, without_mail: bool, only: str) -> int:
    """Run the server; its exit code.

    Args:
        config: a file with settings.
        without_mail: start even if no mail can come in.
        only: the stages to run; ``""`` = all.

    Raises:
        ConfigError: a setting is wrong.
        KeyboardInterrupt: Ctrl-C, before it could be stopped by it.
    """
    from pbmserv.config.settings import load
    from pbmserv.stages import preflight

    found = load(os.environ, config)  # a wrong setting is told before the parts are even imported
    stages = preflight.stages_of(only)
    if "door" in stages and not without_mail:
        preflight.must_take_mail(found.settings)
    gc.disable()  # until `collect_rarely`: what is imported stays, and need not be searched again
    from pbmserv.serve import serve as run_stages

    return run_stages(found, stages)


_MACHINES = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT}


def ended(work: Callable[[], int]) -> int:
    """Do *work*, and say what was wrong.

    Returns:
        The exit code: 0 done, 1 refused or failed, 2 wrong usage or settings.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A letter's one odd character must not end the program on an ASCII terminal.
            stream.reconfigure(errors="replace")
    try:
        return work()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except KeyboardInterrupt:
        return _complained("\nAborted.", 1)
    except ConfigError as error:
        return _complained(_settings_are_wrong(str(error)), 2)
    except (OperatorError, ServerFault) as error:
        return _complained(f"pbmserv: {error}", 1)
    except Exception as error:
        reason = _machine_fails(error) or _database_fails(error)
        if reason is None:
            raise
        return _complained(f"pbmserv: {reason}", 1)


def _complained(text: str, code: int) -> int:
    from pbmserv.cli.output import complain

    complain(text)
    return code


def _machine_fails(error: Exception) -> str | None:
    """What a file cannot be used for: there is nothing in it to report."""
    if not isinstance(error, OSError) or error.filename is None or error.errno not in _MACHINES:
        return None
    from pbmserv.files import why_not

    return f"{error.filename}: {why_not(error)}"


def _database_fails(error: Exception) -> str | None:
    """The driver's own words, if the database is what fails."""
    if "sqlalchemy" not in sys.modules:  # then it cannot be
        return None
    from pbmserv.store.core.database import words_of

    words = words_of(error)
    return None if words is None else f"the database cannot be used: {words}"


def _settings_are_wrong(message: str) -> str:
    lines = message.splitlines()
    if len(lines) == 1:
        return f"pbmserv: a setting is wrong: {message}"
    return "\n  ".join([f"pbmserv: {len(lines)} settings are wrong:", *lines])

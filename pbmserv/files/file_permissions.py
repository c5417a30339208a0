"""Where the server's files lie: made for its own user alone, and told when they are not.

The database holds the key of reply addresses, hidden moves and mails with passwords in them.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from sqlalchemy.engine import make_url

from pbmserv.errors import OperatorError

_OTHERS = stat.S_IRWXO


def file_of(url: str) -> Path | None:
    """The file of a SQLite database; ``None``: it has none on this machine."""
    parsed = make_url(url)
    named = parsed.database not in {None, "", ":memory:"} and "uri" not in parsed.query
    if parsed.get_backend_name() != "sqlite" or not named:
        return None
    return Path(str(parsed.database))


def make_private(folder: Path) -> None:
    """A folder that only its owner may enter; one that is there stays as it is."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)


def make_file(path: Path) -> None:
    """An empty file for its owner alone, if there is none.

    SQLite takes one for a new database, and gives the files beside it the same mode.
    """
    make_private(path.parent)
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def held(path: Path, stage: str) -> TextIO:
    """The mark of the one server that runs a stage over a SQLite database, for as long as it is
    open.

    It dies with the process and its children. Operators' commands need not be alone, and do not
    ask.

    Raises:
        OperatorError: another server has it.
    """
    name = path.resolve()
    name = name.with_name(f"{name.name}.{stage}.lock")
    mark = os.fdopen(os.open(name, os.O_RDWR | os.O_CREAT, 0o600), "r+")
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        other = mark.read(20).strip() or "?"
        mark.close()
        raise OperatorError(
            f"the server with process number {other} works on it already; stop that one first, "
            "or use PostgreSQL for several"
        ) from None
    mark.truncate(0)
    mark.write(f"{os.getpid()}\n")
    mark.flush()
    return mark


def open_to_others(data_dir: Path, url: str) -> Iterator[str]:
    """What everybody on this machine may read, a sentence for each."""
    database = file_of(url)
    for path, mode in ((data_dir, "700"), (database, "600")):
        if path is not None and path.exists() and stat.S_IMODE(path.stat().st_mode) & _OTHERS:
            yield (
                f"{path} is open to everybody on this machine, and there are passwords and hidden "
                f"moves in it; do `chmod {mode} {path}`"
            )


def must_be_there(url: str, sources: Mapping[str, str]) -> None:
    """Make sure that there is a database to look at; looking at one makes none.

    Args:
        sources: where each setting comes from, as `config.Loaded` has it.

    Raises:
        OperatorError: there is none, which is most often one that the settings do not name.
    """
    path = file_of(url)
    if path is not None and not path.exists():
        told = ", ".join(f"{key}: {sources[key]}" for key in ("database", "data_dir"))
        raise OperatorError(
            f"there is no database at {path} (settings: {told}); "
            "name the server's settings with --config FILE or PBMSERV_CONFIG"
        )

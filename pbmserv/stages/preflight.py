"""Checks before a server starts; each that fails is one sentence for the operator.

A folder that does not exist is most often misspelt, or on a disk that is not mounted: a new one in
its place would hold a new, empty database. So only the default folder is made.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pbmserv.clock import EARLIEST_TIME, Clock
from pbmserv.config.display import text_of
from pbmserv.config.settings import Loaded, Settings
from pbmserv.config.sources import variable_of
from pbmserv.errors import ConfigError, OperatorError, ServerFault
from pbmserv.file_locks import claim_stage
from pbmserv.files import make_private, sqlite_file, why_not
from pbmserv.outbound.relay_url import read_relay_url


def refuse_without_mail(settings: Settings) -> None:
    """Refuse to start if no mail can ever come in.

    Raises:
        ConfigError: naming the setting to set.
    """
    if settings.smtp is None and settings.smtps is None and settings.lmtp is None:
        raise ConfigError(
            "PBMSERV_SMTP, PBMSERV_SMTPS and PBMSERV_LMTP are all empty, so no mail can come in; "
            "set one of them, such as PBMSERV_SMTP=127.0.0.1:2525, or start with --without-mail"
        )


def refuse_wrong_clock(clock: Clock) -> None:
    """Refuse to start if the clock cannot be right.

    Letters would have a wrong date, and setting the clock later would end games that had just
    begun.

    Raises:
        ServerFault: not a `ConfigError`, so a service manager tries again until the clock is set.
    """
    if (now := clock.now()) < EARLIEST_TIME:
        raise ServerFault(
            f"the clock of this machine says {now:%Y-%m-%d %H:%M} UTC, which cannot be; set it "
            "(timedatectl set-ntp true), and start again"
        )


@contextmanager
def held_folders(loaded: Loaded, stages: Sequence[str]) -> Iterator[None]:
    """Hold the folders and the database that *stages* work in.

    Raises:
        ConfigError: one does not exist, cannot be written to, or belongs to a running server.
    """
    data_dir = loaded.settings.data_dir
    if loaded.sources["data_dir"] == "default":
        _make(loaded, "data_dir", data_dir)
    _check_is_writable(loaded, "data_dir", data_dir)
    check_database_folder(loaded)
    _check_maildir(loaded)
    path = sqlite_file(loaded.settings.database)
    if path is None:
        yield
        return
    with ExitStack() as marks:
        try:
            for stage in stages:
                marks.enter_context(claim_stage(path, stage))
        except OperatorError as error:
            raise _wrong(loaded, "database", str(error)) from None
        yield


def check_database_folder(loaded: Loaded) -> None:
    """Check that a SQLite database can be in the folder that the settings name.

    Raises:
        ConfigError: it cannot; the message says what would help.
    """
    # Loads SQLAlchemy, and `serve` refuses wrong settings before it does so.
    from pbmserv.store.core.database import mail_url

    path = sqlite_file(loaded.settings.database)
    if path is None:
        return
    if path.is_dir():
        raise _wrong(loaded, "database", "this is a folder; name the file in it")
    if loaded.sources["data_dir"] == "default" and path.parent == loaded.settings.data_dir:
        _make(loaded, "data_dir", path.parent)
    _check_is_writable(loaded, "database", path.parent)
    for file in filter(None, (path, sqlite_file(mail_url(loaded.settings.database)))):
        try:  # `os.access` would not say why; this process has not opened it with SQLite yet
            os.close(os.open(file, os.O_RDWR))
        except FileNotFoundError:  # the first start makes it
            continue
        except OSError as error:
            why = f"the server cannot write to {file}: {why_not(error)}"
            raise _wrong(loaded, "database", why) from None


def _check_maildir(loaded: Loaded) -> None:
    """Check the folder of a Maildir relay, and make it if it is inside the data folder."""
    relay = read_relay_url(loaded.settings.relay)
    if relay.scheme != "maildir":
        return
    root = Path(relay.path)
    if loaded.settings.data_dir.resolve() in root.resolve().parents:
        _make(loaded, "relay", root)
    _check_is_writable(loaded, "relay", root)


def _make(loaded: Loaded, key: str, folder: Path) -> None:
    if folder.exists():
        return
    try:
        make_private(folder)
    except OSError as error:
        raise _wrong(loaded, key, f"the server cannot make it: {why_not(error)}") from None


def _check_is_writable(loaded: Loaded, key: str, folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise _wrong(loaded, key, f"{folder} is a file; name a folder")
    if not folder.exists():
        raise _wrong(
            loaded,
            key,
            f"there is no folder {folder}; if it is the right one, make it for the server's user "
            f"alone: install -d -m 700 {folder}",
        )
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = f"the server cannot write to {folder}: {why_not(error)}"
        raise _wrong(loaded, key, why) from None


def _wrong(loaded: Loaded, key: str, why: str) -> ConfigError:
    text = text_of(getattr(loaded.settings, key))
    return ConfigError(f'{variable_of(key)} = "{text}" ({loaded.sources[key]}): {why}')

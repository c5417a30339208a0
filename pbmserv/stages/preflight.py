"""What must be there before a server starts, told in one sentence each when it is not.

A folder that is not there is most often one that was misspelt, or a disk that is not mounted: a
new one in its place would hold a new, empty database. So only the default one is made.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from pbmserv.clock import WRITTEN, Clock
from pbmserv.config.display import text_of
from pbmserv.config.settings import Loaded, Settings
from pbmserv.config.sources import variable_of
from pbmserv.errors import ConfigError, OperatorError, ServerFault

STAGES = ("door", "play", "post", "bots", "web")
"""In the order in which they start."""


def stage_of_process(name: str) -> str:
    """What a process of this name runs: ``post2`` is a second post."""
    return name.rstrip("0123456789")


def stages_of(only: str) -> tuple[str, ...]:
    """The stages that ``--only`` names, in their order; all of them where it names none.

    Raises:
        ConfigError: it names one that there is not.
    """
    named = [word for word in only.replace(",", " ").split() if word]
    for word in named:
        if word not in STAGES:
            known = ", ".join(STAGES)
            raise ConfigError(f"--only {word}: there is no such stage; there are {known}")
    return tuple(stage for stage in STAGES if not named or stage in named)


def must_take_mail(settings: Settings) -> None:
    """Refuse to serve where no mail could ever come in.

    Raises:
        ConfigError: says which setting to set.
    """
    if settings.smtp is None and settings.smtps is None and settings.lmtp is None:
        raise ConfigError(
            "PBMSERV_SMTP, PBMSERV_SMTPS and PBMSERV_LMTP are all empty, so no mail can come in; "
            "set one of them, such as PBMSERV_SMTP=127.0.0.1:2525, or start with --without-mail"
        )


def must_be_set(clock: Clock) -> None:
    """Refuse to serve by a clock that cannot be right: letters would be dated by it, and once it
    is set games would be lost that began a moment ago.

    Raises:
        ServerFault: no setting is wrong, so a service manager tries again until the clock is set.
    """
    if (now := clock.now()) < WRITTEN:
        raise ServerFault(
            f"the clock of this machine says {now:%Y-%m-%d %H:%M} UTC, which cannot be; set it "
            "(timedatectl set-ntp true), and start again"
        )


@contextmanager
def places(loaded: Loaded, stages: Sequence[str]) -> Iterator[None]:
    """Hold the places that *stages* work in: there, writable, and no other server's.

    Raises:
        ConfigError: says what is wrong with one, and what would help.
    """
    from pbmserv.files import file_of, held

    data_dir = loaded.settings.data_dir
    if loaded.sources["data_dir"] == "default":
        _make(loaded, "data_dir", data_dir)
    _must_be_writable(loaded, "data_dir", data_dir)
    database_place(loaded)
    _letters_place(loaded)
    path = file_of(loaded.settings.database)
    if path is None:
        yield
        return
    with ExitStack() as marks:
        try:
            for stage in stages:
                marks.enter_context(held(path, stage))
        except OperatorError as error:
            raise _wrong(loaded, "database", str(error)) from None
        yield


def database_place(loaded: Loaded) -> None:
    """Make sure that a SQLite database can be where the settings say.

    Raises:
        ConfigError: it cannot; says what would help.
    """
    from pbmserv.files import file_of, why_not
    from pbmserv.store.core.database import mail_url

    path = file_of(loaded.settings.database)
    if path is None:
        return
    if path.is_dir():
        raise _wrong(loaded, "database", "this is a folder; name the file in it")
    if loaded.sources["data_dir"] == "default" and path.parent == loaded.settings.data_dir:
        _make(loaded, "data_dir", path.parent)
    _must_be_writable(loaded, "database", path.parent)
    for one in filter(None, (path, file_of(mail_url(loaded.settings.database)))):
        try:  # `os.access` would not say why; nobody here has opened it with SQLite yet
            os.close(os.open(one, os.O_RDWR))
        except FileNotFoundError:  # the first start makes it
            continue
        except OSError as error:
            why = f"the server cannot write to {one}: {why_not(error)}"
            raise _wrong(loaded, "database", why) from None


def _letters_place(loaded: Loaded) -> None:
    """A Maildir relay's folder; one inside the data folder is made."""
    scheme, _, name = loaded.settings.relay.strip().partition(":")
    if scheme.lower() != "maildir":
        return
    root = Path(name).expanduser()
    if loaded.settings.data_dir.resolve() in root.resolve().parents:
        _make(loaded, "relay", root)
    _must_be_writable(loaded, "relay", root)


def _make(loaded: Loaded, key: str, folder: Path) -> None:
    from pbmserv.files import make_private, why_not

    if folder.exists():
        return
    try:
        make_private(folder)
    except OSError as error:
        raise _wrong(loaded, key, f"the server cannot make it: {why_not(error)}") from None


def _must_be_writable(loaded: Loaded, key: str, folder: Path) -> None:
    from pbmserv.files import why_not

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

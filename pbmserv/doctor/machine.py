"""Checks of this machine: certificates, disk, copies of the database, clock, versions."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from sqlalchemy import Connection, text
from sqlalchemy.exc import SQLAlchemyError

from pbmserv import __version__
from pbmserv.clock import WRITTEN, span
from pbmserv.config.display import blank_passwords
from pbmserv.doctor.connections import certificate_end
from pbmserv.doctor.finding import Finding, Level, problem, warning
from pbmserv.doctor.installation import Installation
from pbmserv.errors import PbmError
from pbmserv.files import file_of
from pbmserv.monitoring import upkeep
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database, error_line, mail_url

OLDEST_BACKUP = timedelta(days=2)
LEAST_FREE = 0.10
"""Share of the disk, and with it `LEAST_OCTETS`, below which there is a warning."""
LEAST_OCTETS = 2 << 30
NEARLY_FULL = 200 << 20

COMMAND_S = 5.0
OLDEST_POSTGRESQL = 13


def certificates(installation: Installation) -> Iterator[Finding]:
    """Check when the certificates of the mail ports and the pages end."""
    settings, now = installation.settings, installation.clock.now()
    if settings.tls_cert is not None:
        path = Path(settings.tls_cert)
        try:
            ends = upkeep.certificate_end(path)
        except (OSError, ValueError) as error:
            yield problem("Certificate", f"{path} cannot be read: {error}.")
        else:
            yield certificate(f"{path}", ends, now)
    parts = urlsplit(settings.web_url)
    if parts.scheme == "https" and parts.hostname:
        host, port = parts.hostname, parts.port or 443
        try:
            ends = certificate_end(host, port)
        except socket.gaierror:
            yield problem(
                "Certificate",
                f"{host} has no address, so nobody can open {settings.web_url}.",
                f"{host}. IN A (the public address of this machine)",
            )
        except OSError as error:
            reason = getattr(error, "verify_message", None) or error.strerror or error
            advice = (
                "Start your proxy (nginx or Caddy); its log says why it does not run."
                if isinstance(error, ConnectionRefusedError)
                else "Renew the certificate of your proxy, and reload it."
            )
            sentence = f"{settings.web_url} cannot be opened: {reason}."
            yield problem("Certificate", sentence, advice)
        else:
            yield certificate(settings.web_url, ends, now)


def certificate(name: str, ends: datetime, now: datetime) -> Finding:
    """Return the finding about a certificate's end."""
    left = ends - now
    if left <= timedelta():
        return problem("Certificate", f"{name} ended {ends:%Y-%m-%d}.", "certbot renew")
    sentence = f"{name} is valid until {ends:%Y-%m-%d} ({left.days} days)."
    if left < upkeep.SOON:
        return warning("Certificate", sentence, "certbot renew")
    return Finding("Certificate", sentence)


def disk(installation: Installation) -> Iterator[Finding]:
    """Check the room on the disk of the data folder."""
    folder = installation.settings.data_dir
    try:
        usage = shutil.disk_usage(folder)
        inodes = os.statvfs(folder)
    except OSError as error:
        yield problem("Disk", f"{folder}: {error.strerror}.", f"install -d -m 700 {folder}")
        return
    share = usage.free / usage.total if usage.total else 0.0
    sentence = f"{usage.free / 1e9:.1f} GB are free ({share:.0%} of the disk of {folder})."
    if usage.free < NEARLY_FULL:
        yield problem("Disk", sentence, "pbmserv db compact")
    elif share < LEAST_FREE and usage.free < LEAST_OCTETS:
        yield warning("Disk", sentence, "pbmserv db compact")
    elif inodes.f_files and inodes.f_favail / inodes.f_files < LEAST_FREE / 2:
        yield warning("Disk", f"{folder} is nearly out of inodes.", f"df -i {folder}")
    else:
        yield Finding("Disk", sentence)


def backup(installation: Installation) -> Iterator[Finding]:
    """Check the age of the newest copy by ``db backup``."""
    advice = "systemctl enable --now pbmserv-backup.timer"
    made_at = upkeep.last_backup(installation.settings.data_dir)
    if made_at is None:
        yield warning("Backup", "No copy of the database was made on this machine.", advice)
        return
    age = installation.clock.now() - made_at
    sentence = f"The newest copy is {span(max(age.total_seconds(), 0.0))} old."
    yield (
        warning("Backup", sentence, advice) if age > OLDEST_BACKUP else Finding("Backup", sentence)
    )


def clock(installation: Installation) -> Iterator[Finding]:
    """Check that the machine's clock is right."""
    now = installation.clock.now()
    advice = "timedatectl set-ntp true"
    if now < WRITTEN:
        yield problem("Clock", f"The clock says {now:%Y-%m-%d}, which cannot be.", advice)
        return
    answer = _output("timedatectl", "show", "--property=NTPSynchronized", "--value")
    if answer == "no":
        yield warning("Clock", "No time server sets the clock of this machine.", advice)
    elif answer == "yes":
        yield Finding("Clock", f"A time server sets the clock: {now:%Y-%m-%d %H:%M} UTC.")
    else:
        yield Finding("Clock", f"It is {now:%Y-%m-%d %H:%M} UTC by this machine.")


def versions(installation: Installation) -> Iterator[Finding]:
    """Name the versions, and check that the database fits the program."""
    python = ".".join(map(str, sys.version_info[:3]))
    programs = f"pbmserv {__version__}, Python {python}, SQLite {sqlite3.sqlite_version}"
    yield Finding("Versions", f"{programs}.")
    url = installation.settings.database
    for store in dict.fromkeys((url, mail_url(url))):
        path = file_of(store)
        if path is not None and not path.exists():
            continue
        try:
            yield from _database(store)
        except (SQLAlchemyError, sqlite3.Error, OSError) as error:
            yield problem("Database", f"{blank_passwords(store)}: {error_line(error)}.")


def _database(url: str) -> Iterator[Finding]:
    name = blank_passwords(url)
    with closing(Database(url)) as database:
        try:
            schema.require(database)
        except PbmError as error:
            yield problem("Database", f"{name}: {error}", "pbmserv db upgrade")
            return
        with database.reading.connect() as connection:
            yield (_sqlite if database.is_sqlite else _postgresql)(connection, name)


def _sqlite(connection: Connection, name: str) -> Finding:
    verdict = connection.execute(text("PRAGMA quick_check(1)")).scalar_one()
    if verdict == "ok":
        return Finding("Database", f"{name} is whole and fits this version.")
    advice = "systemctl stop pbmserv; pbmserv db restore NEWEST-COPY --overwrite"
    return problem("Database", f"{name} is damaged: {str(verdict).splitlines()[0]}", advice)


def _postgresql(connection: Connection, name: str) -> Finding:
    version = int(connection.execute(text("SHOW server_version_num")).scalar_one()) // 10_000
    if version < OLDEST_POSTGRESQL:
        return warning(
            "Database",
            f"{name} is PostgreSQL {version}, which nobody maintains any more.",
            "Upgrade PostgreSQL.",
        )
    dump = _output("pg_dump", "--version").rpartition(" ")[2].partition(".")[0]
    digits = "".join(char for char in dump if char.isdigit())
    if not digits or int(digits) < version:
        had = f"pg_dump is version {digits}" if digits else "there is no pg_dump"
        return warning(
            "Database",
            f"{name} is PostgreSQL {version} and {had}, so `db backup` fails.",
            f"apt install postgresql-client-{version}",
        )
    return Finding("Database", f"{name} (PostgreSQL {version}) fits this version.", Level.OK)


def _output(*command: str) -> str:
    """Return the first line that a program prints, ``""`` if it fails or does not exist."""
    try:
        result = subprocess.run(  # noqa: S603 - our own words
            command, capture_output=True, text=True, timeout=COMMAND_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = result.stdout.splitlines() if result.returncode == 0 else []
    return lines[0].strip() if lines else ""

"""Checks of this machine: its disk, copies of the database, clock, and versions."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from datetime import timedelta

from pbmserv import __version__
from pbmserv.clock import EARLIEST_TIME, duration_text
from pbmserv.doctor.finding import Finding, problem, warning
from pbmserv.doctor.installation import Installation, first_line
from pbmserv.monitoring import upkeep

OLDEST_BACKUP = timedelta(days=2)
"""Age of the newest copy above which there is a warning; the timer makes one a day."""
LEAST_FREE = 0.10
"""Share of the disk, and with it `LEAST_OCTETS`, below which there is a warning."""
LEAST_OCTETS = 2 << 30
MAKE_ROOM = "delete other files (du -xah / | sort -h | tail -n 30)"
"""Advice about a full disk, on which nothing can be compacted."""
NEARLY_FULL = 200 << 20
"""Octets below which the server may stop soon."""


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
        yield problem("Disk", sentence, f"{MAKE_ROOM}, then pbmserv db compact")
    elif share < LEAST_FREE and usage.free < LEAST_OCTETS:
        yield warning("Disk", sentence, f"pbmserv db compact, or {MAKE_ROOM}")
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
    sentence = f"The newest copy is {duration_text(max(age.total_seconds(), 0.0))} old."
    yield (
        warning("Backup", sentence, advice) if age > OLDEST_BACKUP else Finding("Backup", sentence)
    )


def clock(installation: Installation) -> Iterator[Finding]:
    """Check that the machine's clock is right."""
    now = installation.clock.now()
    advice = "timedatectl set-ntp true"
    if now < EARLIEST_TIME:
        yield problem("Clock", f"The clock says {now:%Y-%m-%d}, which cannot be.", advice)
        return
    answer = first_line("timedatectl", "show", "--property=NTPSynchronized", "--value")
    if answer == "no":
        yield warning("Clock", "No time server sets the clock of this machine.", advice)
    elif answer == "yes":
        yield Finding("Clock", f"A time server sets the clock: {now:%Y-%m-%d %H:%M} UTC.")
    else:
        yield Finding("Clock", f"It is {now:%Y-%m-%d %H:%M} UTC by this machine.")


def versions(_: Installation) -> Iterator[Finding]:
    """Name the versions of the programs."""
    python = ".".join(map(str, sys.version_info[:3]))
    programs = f"pbmserv {__version__}, Python {python}, SQLite {sqlite3.sqlite_version}"
    yield Finding("Versions", f"{programs}.")

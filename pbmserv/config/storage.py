"""Settings of what the server keeps, where, and for how long."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from pbmserv.config import values
from pbmserv.config.setting import Setting


@dataclass(frozen=True, slots=True)
class Storage:
    """What is kept."""

    data_dir: Annotated[
        Path,
        Setting(
            "PBMSERV_DATA_DIR",
            "directory",
            "var",
            "Where the server keeps its files; only var is made when it is missing.",
            values.directory,
        ),
    ]
    database: Annotated[
        str,
        Setting(
            "PBMSERV_DATABASE",
            "URL",
            "sqlite:///<data>/pbmserv.sqlite3",
            "Players and boards: sqlite:///PATH or postgresql+psycopg://USER:PASSWORD@HOST/NAME.",
            values.database,
        ),
    ] = field(repr=False)  # may carry a password
    mail_days: Annotated[
        int,
        Setting(
            "PBMSERV_MAIL_DAYS",
            "days",
            "14",
            "How long the text of a mail is kept after it was carried out; passwords are in it.",
            values.days,
        ),
    ]
    letter_days: Annotated[
        int,
        Setting(
            "PBMSERV_LETTER_DAYS",
            "days",
            "7",
            "How long a letter is kept as it was mailed, after it was sent.",
            values.days,
        ),
    ]
    unused_days: Annotated[
        int,
        Setting(
            "PBMSERV_UNUSED_DAYS",
            "days",
            "0",
            "How long the text of a mail is kept that no player has proved to write, or that led "
            "to nothing; 0 = not at all.",
            values.days,
        ),
    ]
    inbox_octets: Annotated[
        int,
        Setting(
            "PBMSERV_INBOX_OCTETS",
            "octets",
            "2G",
            "What the texts of all mails may take, such as 500M or 2G; what goes first is in "
            "deploy/README.md.",
            values.octets,
        ),
    ]

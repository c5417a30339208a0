"""Makes costly parts of a server cheap for tests: argon2, the disk, pauses, templates, statements.

Templates are compiled once for all runs, statements once in each process.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer
from argon2 import PasswordHasher
from jinja2 import FileSystemBytecodeCache
from sqlalchemy import Connection, Engine, event

from pbmserv.outbound import sender
from pbmserv.service.auth import passwords
from pbmserv.service.operators import pages as operators_pages
from pbmserv.service.pages import board_presses
from pbmserv.stages import play, play_of_pages, supervisor
from pbmserv.store.core import database, schema
from pbmserv.views.environment import environment, templates_root
from pbmserv.web.mailbox import pages as mailbox_pages

COMPILED = "PBMSERV_TEST_TEMPLATES"
"""Environment variable with the folder of compiled templates, which outlives a run."""

MEMORY = Path("/dev/shm")
PATIENCE_S = 60.0
"""Seconds that a page of a test waits for what it shows."""
MOST_OCTETS = 4 << 30
"""Free room that a run wants in memory: four times what it writes."""

cheap_hasher = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)


def make_argon2_cheap() -> None:
    """Use `cheap_hasher` in every server of this process that names no other."""
    passwords.PasswordHasher = cheap_hasher


def build_command_line_once() -> None:
    """Keep typer's command line, which takes longer to build than most commands take."""
    typer.main.get_command = cache(typer.main.get_command)


def read_migrations_once() -> None:
    """Read the revisions in a folder of migrations once in each process."""

    @cache
    def revisions_in(_folder: Path) -> dict[str, tuple[str, ...]]:
        return read()

    read = schema.revisions
    schema.revisions = lambda: dict(revisions_in(schema.migrations_folder()))


def share_templates() -> None:
    """Read and write compiled templates in the folder that all processes of the run share."""
    if parent := os.environ.get(COMPILED):
        # Compiled templates contain styles, so each version of the styles has a folder.
        sheets = [*templates_root().rglob("*.css"), templates_root() / "palette.j2"]
        styles = b"".join(sheet.read_bytes() for sheet in sorted(sheets))
        folder = Path(parent, hashlib.sha256(styles).hexdigest()[:12])
        folder.mkdir(parents=True, exist_ok=True)
        environment().bytecode_cache = FileSystemBytecodeCache(str(folder))


def wait_for_no_disk() -> None:
    """Let SQLite commit without waiting for the disk: tests kill processes, not machines."""
    database.SYNCHRONOUS = "OFF"


def shorten_pauses() -> None:
    """Let servers notice sooner what tests do to them."""
    supervisor.LOOK_S = 0.05
    supervisor.SHARED = 2
    play.AGAIN_S = 0.3
    sender.TROUBLE_S = 0.5


def wait_for_slow_machines() -> None:
    """Let pages wait longer for play, for letters and for bots than a busy machine may take."""
    board_presses.BOT_S = PATIENCE_S
    operators_pages.ANSWER_S = PATIENCE_S
    mailbox_pages.ANSWER_S = PATIENCE_S
    play_of_pages.LONGEST_S = PATIENCE_S


def keep_files_in_memory() -> None:
    """Put temporary files into memory if there is room, unless `TMPDIR` names a place."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    file_system = os.statvfs(MEMORY)
    has_room = file_system.f_bavail * file_system.f_frsize >= MOST_OCTETS
    may_run_programs = not file_system.f_flag & os.ST_NOEXEC
    if has_room and may_run_programs:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # forget the folder that it has chosen before


def load_templates(first: int = 0, step: int = 1) -> None:
    """Load every *step*-th template, from the *first* one on; default: all of them."""
    root = templates_root()
    for path in sorted(root.rglob("*.j2"))[first::step]:
        name = path.relative_to(root)
        forms = (".txt.j2", ".html.j2") if name.parent == Path("letters") else (".j2",)
        for form in forms:
            environment().get_template(f"{str(name).removesuffix('.j2')}{form}")


def share_statements() -> None:
    """Let all engines of this process share the statements that SQLAlchemy has compiled."""
    event.listen(Engine, "engine_connect", _share)


def _share(connection: Connection) -> None:
    shared = _COMPILED.setdefault(connection.dialect.name, _Statements())
    if connection.get_execution_options().get("compiled_cache") is not shared:
        connection.execution_options(compiled_cache=shared)
        connection.engine.update_execution_options(compiled_cache=shared)


class _Statements(dict[Any, Any]):
    """Compiled statements by SQLAlchemy's keys without their first part, the engine's dialect."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key[1:], value)


_COMPILED: dict[str, _Statements] = {}

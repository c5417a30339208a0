"""What takes long in each process of a run, and need not.

Templates are compiled once for all runs, statements once in each process.
"""

from __future__ import annotations

import os
import tempfile
from functools import cache, partial
from pathlib import Path
from typing import Any

import typer
from argon2 import PasswordHasher
from sqlalchemy import Connection, Engine, event

from pbmserv.service.auth import passwords
from pbmserv.store.core import database
from pbmserv.views.environment import environment, keep_compiled, templates_root

COMPILED = "PBMSERV_TEST_TEMPLATES"
"""Names the folder with the templates that this run or one before it has compiled."""

MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Octets that are free there at least, or files stay on the disk: a whole run writes a quarter of
that, and removes most of it on its way."""

cheap_hasher = partial(PasswordHasher, time_cost=1, memory_cost=8, parallelism=1)
"""argon2 that takes no time."""


def make_argon2_cheap() -> None:
    """For every server of this process that asks for no hasher of its own."""
    passwords.PasswordHasher = cheap_hasher


def build_command_line_once() -> None:
    """It takes longer than what most commands do."""
    typer.main.get_command = cache(typer.main.get_command)


def share_templates() -> None:
    """Take compiled templates from the others of this run, and give them ours."""
    if folder := os.environ.get(COMPILED):
        keep_compiled(Path(folder))


def wait_for_no_disk() -> None:
    """SQLite's commits outlive a process that is killed, but no power cut; PostgreSQL's are as
    quick in tests."""
    database.SYNCHRONOUS = "OFF"


def keep_files_in_memory() -> None:
    """What tests write is not to outlive the machine; programs that it holds have to start.
    `TMPDIR` names another place."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK):
        return
    there = os.statvfs(MEMORY)
    is_roomy = there.f_bavail * there.f_frsize >= ROOM
    if is_roomy and not there.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # what was asked for before is forgotten


def load_templates(first: int = 0, step: int = 1) -> None:
    """Have all templates in memory, for processes that are forked from this one; or a share."""
    root = templates_root()
    for path in sorted(root.rglob("*.j2"))[first::step]:
        name = path.relative_to(root)
        forms = (".txt.j2", ".html.j2") if name.parent == Path("letters") else (".j2",)
        for form in forms:
            environment().get_template(f"{str(name).removesuffix('.j2')}{form}")


def know_statements() -> None:
    """An engine begins with the statements that those before it have compiled."""
    event.listen(Engine, "engine_connect", _know)


def _know(connection: Connection) -> None:
    known = _COMPILED.setdefault(connection.dialect.name, _Compiled())
    if connection.get_execution_options().get("compiled_cache") is not known:
        connection.execution_options(compiled_cache=known)
        connection.engine.update_execution_options(compiled_cache=known)


class _Compiled(dict[Any, Any]):
    """What SQLAlchemy made of statements; its own keys begin with the dialect of one engine."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get(key[1:], default)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key[1:], value)


_COMPILED: dict[str, _Compiled] = {}
